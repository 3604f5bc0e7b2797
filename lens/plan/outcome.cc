// Bindings give policy, clusters, replicas and dependencies; Works, found by the binding that they
// name, give the manifests, suspensions and overrides that were applied; templates give the object
// itself. A binding that is being deleted counts as absent, and so do its Works. Manifests and
// templates are cleaned of what servers and Karmada add, so that a simulated and a live state can
// be compared. No state.

#include "lens/plan/outcome.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "interpreter/interpreter.h"
#include "sandbox/sim/writes.h"

namespace lens::plan {
namespace {

void EraseKarmadaKeys(kube::Object& object, absl::string_view field) {
  std::vector<std::string> names;
  for (const json::Member& member : object.metadata()[field].members()) {
    if (IsKarmadaKey(member.name())) names.push_back(std::string(member.name()));
  }
  for (const std::string& name : names) object.Erase({"metadata", field, name});
  if (object.metadata()[field].empty()) object.Erase({"metadata", field});
}

template <class Scope>
bool ReadClaim(const kube::Object& binding, TemplateOutcome& out) {
  kube::ObjectKey policy = Scope::ClaimOn(binding);
  if (policy.name.empty()) return false;
  out.policy_kind = std::string(Scope::kKind);
  out.policy = std::move(policy);
  return true;
}

// Adds the policies of an annotation that records what was applied.
void AddOverrides(const kube::Object& work, absl::string_view annotation, const std::string& prefix,
                  std::vector<std::string>& out) {
  const auto applied = json::Parse(work.Annotation(annotation));
  if (!applied.ok()) return;
  for (const json::Value& item : applied->items()) {
    std::string name = absl::StrCat(prefix, item["policyName"].AsString());
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  }
}

void ReadWork(const kube::Object& work, const std::string& ns, ClusterShare& share) {
  const api::WorkView view(work);
  // Karmada's Works of templates have exactly one manifest.
  if (view.Manifests().empty()) return;
  share.manifest = Cleaned(kube::Object(view.Manifests()[0]));
  share.suspended = view.IsDispatchingSuspended();
  share.preserved = view.PreservesResourcesOnDeletion();
  AddOverrides(work, api::kAppliedClusterOverridesAnnotation, "ClusterOverridePolicy ",
               share.overrides);
  AddOverrides(work, api::kAppliedOverridesAnnotation, absl::StrCat("OverridePolicy ", ns, "/"),
               share.overrides);
}

TemplateOutcome ReadBinding(const kube::Object& binding) {
  const api::BindingView view(binding);
  TemplateOutcome out;
  out.api_version = view.Resource().api_version;
  if (!ReadClaim<api::policy_scope::Namespaced>(binding, out)) {
    ReadClaim<api::policy_scope::Cluster>(binding, out);
  }
  for (const api::TargetCluster& target : view.DispatchTargets()) {
    ClusterShare& share = out.clusters[target.name];
    out.targets.insert(target.name);
    if (view.Replicas() > 0) share.replicas = target.replicas;
  }
  const json::Value* scheduled =
      kube::FindCondition(binding.status()["conditions"], api::kBindingScheduled);
  if (scheduled != nullptr && (*scheduled)["status"].AsString() == "False") {
    out.not_scheduled = (*scheduled)["message"].ToString();
    out.not_scheduled_reason = (*scheduled)["reason"].ToString();
  }
  out.scheduler = std::string(view.SchedulerName());
  out.is_scheduling_suspended = view.IsSchedulingSuspended();
  out.requests = view.ReplicaRequirements()["resourceRequest"];
  out.propagates_dependencies = view.PropagateDeps();
  out.dependencies = api::RecordedDependencies(binding);
  for (const api::BindingSnapshot& snapshot : view.RequiredBy()) {
    out.required_by.push_back(kube::ObjectKey{snapshot.ns, snapshot.name}.ToString());
  }
  return out;
}

kube::ObjectKey BindingOf(const kube::Object& work) {
  kube::ObjectKey key = api::scope::Namespaced::BindingOf(work);
  return key.name.empty() ? api::scope::Cluster::BindingOf(work) : key;
}

absl::StatusOr<std::vector<kube::ObjectPtr>> All(sandbox::Backend& backend,
                                                 const kube::Resource& resource) {
  return backend.List(resource.gvr(), "", kube::LabelSelector());
}

}  // namespace

bool IsKarmadaKey(absl::string_view key) {
  const absl::string_view domain = key.substr(0, key.find('/'));
  return absl::EndsWith(absl::StrCat(".", domain), api::kGroupSuffix);
}

bool Exists(sandbox::Backend& backend, const api::DependentReference& reference) {
  const kube::Resource resource = backend.Find(reference.gvk());
  if (resource.gvk.empty()) return false;
  if (!reference.name.empty()) {
    const auto found = sandbox::FindObject(backend, resource.gvr(), {reference.ns, reference.name});
    return found.ok() && *found != nullptr;
  }
  const auto all = backend.List(resource.gvr(), reference.ns, kube::LabelSelector());
  return all.ok() && std::any_of(all->begin(), all->end(), [&](const kube::ObjectPtr& object) {
           return reference.Matches(*object);
         });
}

kube::Object Cleaned(kube::Object object) {
  interpreter::Prune(object);
  object.Erase({"status"});
  object.Erase({"metadata", "annotations", kLastAppliedAnnotation});
  EraseKarmadaKeys(object, "labels");
  EraseKarmadaKeys(object, "annotations");
  object.Erase({"metadata", "finalizers"});
  return object;
}

absl::StatusOr<State> StateOf(sandbox::Backend& backend) {
  State state;
  ASSIGN_OR_RETURN(state.bindings, All(backend, api::ResourceBindings()));
  ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> more, All(backend, api::ClusterResourceBindings()));
  state.bindings.insert(state.bindings.end(), more.begin(), more.end());
  ASSIGN_OR_RETURN(state.works, All(backend, api::Works()));
  for (const kube::ObjectPtr& binding : state.bindings) {
    const api::ObjectReference reference = api::BindingView(*binding).Resource();
    ASSIGN_OR_RETURN(
        kube::ObjectPtr found,
        sandbox::FindObject(backend, backend.Find(reference.gvk()).gvr(), reference.key()));
    if (found != nullptr) state.templates.push_back(std::move(found));
  }
  return state;
}

Outcome OutcomeOf(const State& state) {
  Outcome outcome;
  // Bindings of both scopes; a ClusterResourceBinding has no namespace.
  std::map<kube::ObjectKey, std::pair<ObjectId, TemplateOutcome*>> by_binding;
  for (const kube::ObjectPtr& binding : state.bindings) {
    if (binding->IsDeleting()) continue;
    const api::ObjectReference reference = api::BindingView(*binding).Resource();
    const ObjectId id{reference.gvk().group, reference.kind, reference.ns, reference.name};
    TemplateOutcome& out = outcome[id] = ReadBinding(*binding);
    by_binding[binding->key()] = {id, &out};
  }
  for (const kube::ObjectPtr& work : state.works) {
    const auto found = by_binding.find(BindingOf(*work));
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    if (found == by_binding.end() || !cluster.ok() || work->IsDeleting()) continue;
    const auto& [id, out] = found->second;
    ReadWork(*work, id.ns, out->clusters[*cluster]);
  }
  for (const kube::ObjectPtr& object : state.templates) {
    const auto found = outcome.find(ObjectId::Of(*object));
    if (found != outcome.end()) found->second.object = Cleaned(*object);
  }
  return outcome;
}

}  // namespace lens::plan
