// For one cluster, in upstream's order: the interpreter sets the cluster's share of the replicas,
// prunes what must not be sent, then the share of a Job's completions is set. The result must still
// be the template's object (Checked), because the names of Works and of members' objects follow
// from it. WorkFor then adds the binding's marks to the Work and to its manifest;
// works/work_writer.h does the rest. Override policies are applied between the two, by the caller.
// No state.

#include "binding/work_templates.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/preserved_state.h"
#include "api/webster.h"
#include "base/status.h"

namespace binding {
namespace {

// The template's own annotation counts when it is valid, else the binding's field (upstream's
// util.ConflictResolutionForApplying order).
std::string ConflictResolution(const kube::Object& object, const api::BindingView& binding) {
  const absl::string_view own = object.Annotation(api::kConflictResolutionAnnotation);
  if (own == api::kConflictOverwrite || own == api::kConflictAbort) return std::string(own);
  return binding.ConflictResolution() == api::kResolveOverwrite ? api::kConflictOverwrite
                                                                : api::kConflictAbort;
}

// Compares kind and key, which decide the name of the Work and the object in members.
bool IsSameObject(const kube::Object& a, const kube::Object& b) {
  return a.gvk() == b.gvk() && a.key() == b.key();
}

// Returns `manifest`, which a rule made of `object`; kInvalidArgument when it is a different
// object. The metadata that the loops read is taken from the template, since a rule may return a
// new table.
absl::StatusOr<kube::Object> Checked(kube::Object manifest, const kube::Object& object,
                                     interpreter::Operation operation) {
  if (!IsSameObject(manifest, object)) {
    return absl::InvalidArgumentError(
        absl::StrCat(interpreter::OperationName(operation), " made ", manifest.Describe(), " (",
                     manifest.api_version(), ") of ", object.Describe(), " (", object.api_version(),
                     "): kind, namespace and name of a template must stay"));
  }
  for (const absl::string_view field : {"uid", "generation"}) {
    const json::Value& value = object.metadata()[field];
    if (manifest.metadata()[field] == value) continue;
    if (value.is_null()) {
      manifest.Erase({"metadata", field});
    } else {
      manifest.Set({"metadata", field}, value);
    }
  }
  return manifest;
}

}  // namespace

std::vector<int64_t> DividedCompletions(const kube::Object& object, const api::BindingView& binding,
                                        const std::vector<api::TargetCluster>& targets) {
  const json::Value& completions = object.Get({"spec", "completions"});
  if (object.kind() != "Job" || !binding.IsDivided() || binding.Replicas() <= 0 ||
      !completions.is_int()) {
    return {};
  }
  std::map<std::string, int64_t> shares;
  int64_t seats = 0;
  for (const api::TargetCluster& share :
       api::DivideByWeight(completions.AsInt(), targets, object.uid())) {
    shares[share.name] = share.replicas;
    seats += share.replicas;
  }
  if (seats == 0) return {};  // No cluster has replicas, so completions cannot be divided by them.
  std::vector<int64_t> result;
  for (const api::TargetCluster& target : targets) result.push_back(shares[target.name]);
  return result;
}

absl::StatusOr<kube::Object> ManifestFor(const kube::Object& object,
                                         const api::BindingView& binding,
                                         const api::TargetCluster& target, int64_t completions,
                                         const interpreter::Interpreter& interpreter) {
  kube::Object manifest = object;
  if (binding.IsWorkload() &&
      interpreter.HasRule(object.gvk(), interpreter::Operation::kReviseReplica)) {
    ASSIGN_OR_RETURN(manifest, interpreter.ReviseReplica(object, target.replicas));
    ASSIGN_OR_RETURN(manifest,
                     Checked(std::move(manifest), object, interpreter::Operation::kReviseReplica));
  }
  if (interpreter.HasRule(object.gvk(), interpreter::Operation::kPrune)) {
    ASSIGN_OR_RETURN(manifest, interpreter.Prune(manifest));
    ASSIGN_OR_RETURN(manifest,
                     Checked(std::move(manifest), object, interpreter::Operation::kPrune));
  }
  if (completions >= 0) manifest.Set({"spec", "completions"}, completions);
  return manifest;
}

void InjectPreservedState(const api::BindingView& binding, const std::string& cluster,
                          kube::Object& manifest) {
  const json::Value labels = api::PreservedStateFor(binding, cluster);
  for (const json::Member& label : labels.members()) {
    manifest.SetLabel(label.name(), label.value.AsString());
  }
}

template <class Scope>
works::WantedWork WorkFor(const kube::Object& manifest, const api::BindingView& binding,
                          const std::string& cluster) {
  works::WantedWork work;
  work.manifest = manifest;
  work.key = {api::ExecutionNamespace(cluster),
              api::WorkName(manifest.kind(), manifest.name(), manifest.ns())};
  work.labels = json::Value::Object({{Scope::kIdLabel, binding.PermanentId()}});
  work.manifest.SetLabel(Scope::kIdLabel, binding.PermanentId());
  for (const auto& [key, value] : Scope::NamingAnnotations(binding.object().key())) {
    work.annotations.Set(key, value);
    work.manifest.SetAnnotation(key, value);
  }
  const std::string resolution = ConflictResolution(manifest, binding);
  work.annotations.Set(api::kConflictResolutionAnnotation, resolution);
  if (manifest.generation() > 0) {
    work.manifest.SetAnnotation(api::kTemplateGenerationAnnotation,
                                absl::StrCat(manifest.generation()));
  }
  work.suspend_dispatching = binding.IsDispatchingSuspended(cluster);
  work.preserve_resources_on_deletion = binding.PreserveResourcesOnDeletion().value_or(false);
  return work;
}

template works::WantedWork WorkFor<api::scope::Namespaced>(const kube::Object&,
                                                           const api::BindingView&,
                                                           const std::string&);
template works::WantedWork WorkFor<api::scope::Cluster>(const kube::Object&,
                                                        const api::BindingView&,
                                                        const std::string&);

}  // namespace binding
