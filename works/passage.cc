#include "works/passage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/policy_claim.h"
#include "api/resources.h"
#include "api/work.h"

namespace works {
namespace {

// Returns what users determine of a manifest, without the metadata that no label or annotation is.
json::Value ContentOf(kube::Object manifest) {
  interpreter::Prune(manifest);
  const kube::Object own(api::UserSpecification(manifest));
  json::Value content = own.root();
  content.Erase("metadata");
  content.Set({"metadata", "labels"}, own.labels());
  content.Set({"metadata", "annotations"}, own.annotations());
  return content;
}

bool HasContentOf(const kube::Object& manifest, const kube::Object& object,
                  const interpreter::Interpreter& interpreter) {
  if (!interpreter.HookEnabled(object.gvk(), interpreter::Operation::kPrune)) {
    return ContentOf(manifest) == ContentOf(object);
  }
  absl::StatusOr<kube::Object> pruned = interpreter.Prune(object);
  return pruned.ok() && ContentOf(manifest) == ContentOf(*std::move(pruned));
}

// Returns whether the Work was made of the template's present state.
bool Shows(const kube::Object& work, const kube::Object& object,
           const interpreter::Interpreter& interpreter) {
  const api::WorkView view(work);
  const std::optional<int64_t> index = view.IndexOf(object);
  if (!index.has_value()) return false;
  const kube::Object manifest(view.Manifests()[*index]);
  const bool same_generation =
      object.generation() > 0 &&
      manifest.Annotation(api::kTemplateGenerationAnnotation) == absl::StrCat(object.generation());
  return same_generation || HasContentOf(manifest, object, interpreter);
}

bool Names(const kube::Object& work, const kube::Object& binding) {
  const kube::ObjectKey named = binding.ns().empty() ? api::scope::Cluster::BindingOf(work)
                                                     : api::scope::Namespaced::BindingOf(work);
  return named == binding.key();
}

}  // namespace

Passage PassageOf(const api::BindingView& binding, const kube::Object& object, FindWorks find,
                  const interpreter::Interpreter& interpreter) {
  if (!binding.object().Label(api::kBindingManagedByLabel).empty()) return Passage::kPassed;
  if (api::HasPolicyId(binding.object())) {
    return HasPassed(binding, object, find, interpreter) ? Passage::kPassed : Passage::kHeldBack;
  }
  const bool is_attached = !binding.object().spec()["requiredBy"].empty();
  const bool follows = is_attached || binding.Resource().resource_version.empty();
  return follows ? Passage::kPassed : Passage::kReleased;
}

bool HasPassed(const api::BindingView& binding, const kube::Object& object, FindWorks find,
               const interpreter::Interpreter& interpreter) {
  const api::ObjectReference recorded = binding.Resource();
  if (!recorded.uid.empty() && recorded.uid != object.uid()) return false;
  const api::PassedRecord record = api::CompareWithRecord(binding.object(), object);
  if (record != api::PassedRecord::kNone) return record == api::PassedRecord::kSame;
  if (recorded.resource_version == object.resource_version()) return true;
  const std::vector<kube::ObjectPtr> works = find();
  return !works.empty() &&
         std::all_of(works.begin(), works.end(), [&](const kube::ObjectPtr& work) {
           return Shows(*work, object, interpreter);
         });
}

std::vector<kube::ObjectPtr> TargetWorks(const api::BindingView& binding,
                                         kube::ClusterClient& control_plane) {
  const api::ObjectReference object = binding.Resource();
  const std::string name = api::WorkName(object.kind, object.name, object.ns);
  std::vector<kube::ObjectPtr> works;
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    kube::ObjectPtr work =
        control_plane.Find(api::Works(), {api::ExecutionNamespace(target.name), name});
    if (work != nullptr && Names(*work, binding.object())) works.push_back(std::move(work));
  }
  return works;
}

}  // namespace works
