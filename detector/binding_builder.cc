// A binding is built in two steps, so that the second can be compared with what is stored and
// written only if it differs. BuildBinding makes the binding that policy and template ask for, as
// upstream's BuildResourceBinding does, without empty fields, as Go would write it. MergeBinding
// puts that over an existing binding: fields that the detector owns are replaced (also by nothing),
// metadata is added to, and everything of others stays: spec.clusters of the scheduler, eviction
// tasks, requiredBy. Both are pure, and lens calls them for the same answers.

#include "detector/binding_builder.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding_address.h"
#include "api/binding_owner.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/known_fields.h"
#include "api/object_reference.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "base/status.h"
#include "detector/omit_empty.h"
#include "kube/meta/controller_ref.h"

namespace detector {
namespace {

// Spec fields that follow policy and template on every pass, besides failover and suspension.
constexpr absl::string_view kOwnedFields[] = {
    "resource",      "replicaRequirements", "replicas",           "components",
    "schedulerName", "placement",           "conflictResolution", "preserveResourcesOnDeletion",
};
// These follow in ResourceBindings only. A ClusterResourceBinding gets propagateDeps when it is
// made, and the others never, as upstream does.
constexpr absl::string_view kOwnedIfNamespaced[] = {"propagateDeps", "schedulePriority",
                                                    "workloadAffinityGroups"};

void CopyIfPresent(const json::Value& from, absl::string_view field, json::Value& to) {
  const json::Value* value = from.Find(field);
  if (value != nullptr && !value->is_null()) to.Set(field, *value);
}

api::KnownField RequirementsField() {
  return {"replicaRequirements",
          {{"nodeClaim", {{"hardNodeAffinity"}, {"nodeSelector"}, {"tolerations"}}},
           {"resourceRequest"},
           {"namespace"},
           {"priorityClassName"}}};
}

// Spec fields that are made here. What an existing binding has in them besides the known members
// stays, other than in copies of the policy's fields, which follow the policy.
const std::vector<api::KnownField>& MadeFields() {
  // Never destroyed, because it may be used until the process ends.
  static const auto& fields = *new std::vector<api::KnownField>{
      api::ReferenceField("resource"),
      RequirementsField(),
      {"components", {{"name"}, {"replicas"}, RequirementsField()}, {"name"}},
      {"schedulePriority", {{"priority"}}},
      {"workloadAffinityGroups", {{"affinityGroup"}, {"antiAffinityGroup"}}},
  };
  return fields;
}

void Replace(const json::Value& from, absl::string_view field, json::Value& to) {
  const json::Value held = to[field];
  to.Erase(field);
  CopyIfPresent(from, field, to);
  for (const api::KnownField& made : MadeFields()) {
    if (made.name == field && to.Has(field)) to.Set(field, api::WithUnknown(to[field], held, made));
  }
}

// Returns the failover of a policy or a binding with a purge mode that every server accepts.
json::Value WithCurrentPurgeMode(json::Value failover) {
  if (failover["application"].is_object()) api::RenewPurgeMode(failover.Mutable("application"));
  return failover;
}

// A binding keeps an older name of a purge mode that upstream has copied from the policy.
void MergeFailover(const json::Value& built, json::Value& spec) {
  if (WithCurrentPurgeMode(spec["failover"]) != built["failover"]) Replace(built, "failover", spec);
}

json::Value BuildSpec(const kube::Object& object, const kube::Object& policy,
                      const PodDemand& demand) {
  json::Value spec = json::Value::Object();
  spec.Set("resource", api::ObjectReference::Of(object).ToJson());
  for (const absl::string_view field :
       {"schedulerName", "conflictResolution", "preserveResourcesOnDeletion"}) {
    // Upstream leaves empty texts out, too.
    if (policy.spec()[field].is_string() && policy.spec()[field].AsString().empty()) continue;
    CopyIfPresent(policy.spec(), field, spec);
  }
  for (const absl::string_view field : {"failover", "suspension"}) {
    const json::Value* part = policy.spec().Find(field);
    if (part != nullptr && !part->is_null()) spec.Set(field, OmitEmpty(*part));
  }
  if (spec.Has("failover")) spec.Set("failover", WithCurrentPurgeMode(spec["failover"]));
  const json::Value& placement = policy.spec()["placement"];
  // A policy without one places its templates everywhere; the scheduler wants to see that.
  spec.Set("placement", placement.is_null() ? json::Value::Object() : OmitEmpty(placement));
  if (api::PolicyView(policy).PropagateDeps()) spec.Set("propagateDeps", true);
  const interpreter::Replicas& replicas = demand.replicas;
  if (replicas.replicas != 0) spec.Set("replicas", replicas.replicas);
  if (!replicas.requirements.is_null()) spec.Set("replicaRequirements", replicas.requirements);
  if (!demand.components.empty()) spec.Set("components", demand.components);
  return spec;
}

// Replaces the policy's part; suspension of scheduling belongs to others and stays (upstream:
// MergePolicySuspension), and so does what this program does not know. An empty suspension that
// somebody else has left is not worth a write.
void MergeSuspension(const json::Value& built, json::Value& spec) {
  const json::Value existing = spec["suspension"];
  json::Value suspension = built["suspension"];
  if (suspension.is_null() && existing.is_object() && existing.empty()) return;
  const json::Value others =
      api::UnknownMembers(existing, {"dispatching", "dispatchingOnClusters"});
  for (const json::Member& other : others.members()) {
    if (!suspension.Has(other.name())) suspension.Set(other.name(), other.value);
  }
  spec.Erase("suspension");
  if (!suspension.is_null()) spec.Set("suspension", std::move(suspension));
}

}  // namespace

template <class PolicyScope>
kube::Object BuildBinding(const kube::Object& object, const kube::Object& policy,
                          const PodDemand& demand, const SchedulingHints& hints) {
  const bool namespaced = !object.ns().empty();
  const api::BindingAddress at = api::BindingOf(object.kind(), object.key());
  kube::Object binding = kube::Object::Make(at.resource.gvk, at.key);
  PolicyScope::Claim(policy, binding);
  binding.AddFinalizer(namespaced ? api::scope::Namespaced::kFinalizer
                                  : api::scope::Cluster::kFinalizer);
  binding.Set({"metadata", "ownerReferences"},
              json::Value::Array({kube::ControllerRef(object).ToJson()}));
  json::Value spec = BuildSpec(object, policy, demand);
  if (namespaced && !hints.priority.is_null()) spec.Set("schedulePriority", hints.priority);
  if (namespaced && !hints.affinity_groups.is_null()) {
    spec.Set("workloadAffinityGroups", hints.affinity_groups);
  }
  binding.Set({"spec"}, std::move(spec));
  return binding;
}

absl::Status CheckBindingName(const kube::Object& built) {
  constexpr size_t kLongest = 253;  // The names of objects are DNS subdomains.
  const size_t length = built.name().size();
  if (length <= kLongest) return absl::OkStatus();
  const size_t suffix = length - built.spec()["resource"]["name"].AsString().size();
  return absl::InvalidArgumentError(
      absl::StrCat("its ", built.kind(), " would be named ", built.name(), ", which has ", length,
                   " characters, and a name has at most ", kLongest, "; an object of this kind ",
                   "can be propagated if its name has at most ", kLongest - suffix));
}

template <class PolicyScope>
absl::StatusOr<kube::Object> MergeBinding(const kube::Object& existing, const kube::Object& built) {
  RETURN_IF_ERROR(api::CheckBindingOwner(existing, built.ControllerOwner()));
  kube::Object merged = existing;
  for (const json::Member& m : built.labels().members()) {
    merged.SetLabel(m.name(), m.value.AsString());
  }
  for (const json::Member& m : built.annotations().members()) {
    merged.SetAnnotation(m.name(), m.value.AsString());
  }
  // A namespaced policy takes the binding over from a cluster-scoped one.
  if (PolicyScope::kNamespaced) api::policy_scope::Cluster::Unclaim(merged);
  for (const json::Value& f : built.metadata()["finalizers"].items())
    merged.AddFinalizer(f.AsString());
  merged.Set({"metadata", "ownerReferences"}, built.metadata()["ownerReferences"]);

  json::Value spec = existing.spec();
  for (const absl::string_view field : kOwnedFields) Replace(built.spec(), field, spec);
  if (!built.ns().empty()) {
    for (const absl::string_view field : kOwnedIfNamespaced) Replace(built.spec(), field, spec);
  }
  MergeFailover(built.spec(), spec);
  MergeSuspension(built.spec(), spec);
  merged.Set({"spec"}, std::move(spec));
  return merged;
}

bool DifferOnlyInTemplateVersion(const kube::Object& a, const kube::Object& b) {
  constexpr absl::string_view kVersion[] = {"spec", "resource", "resourceVersion"};
  kube::Object same = a;
  same.Set(kVersion, b.Get(kVersion));
  return same == b;
}

template kube::Object BuildBinding<api::policy_scope::Namespaced>(const kube::Object&,
                                                                  const kube::Object&,
                                                                  const PodDemand&,
                                                                  const SchedulingHints&);
template kube::Object BuildBinding<api::policy_scope::Cluster>(const kube::Object&,
                                                               const kube::Object&,
                                                               const PodDemand&,
                                                               const SchedulingHints&);
template absl::StatusOr<kube::Object> MergeBinding<api::policy_scope::Namespaced>(
    const kube::Object&, const kube::Object&);
template absl::StatusOr<kube::Object> MergeBinding<api::policy_scope::Cluster>(const kube::Object&,
                                                                               const kube::Object&);

}  // namespace detector
