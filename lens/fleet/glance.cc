// Each look goes the way of a template, as the checks of lens/why do, and ends with the first thing
// that is not plainly right. What it cannot judge cheaply it doubts: a template that an override
// policy selects, a policy that may take it over. The tests hold it against the checks.

#include "lens/fleet/glance.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_owner.h"
#include "api/cluster.h"
#include "api/dependencies.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/meta/controller_ref.h"
#include "lens/why/matching.h"

namespace lens::fleet {
namespace {

// Returns "PropagationPolicy shop/web" for the policy whose claim the object has; "" for none.
std::string ClaimOn(const kube::Object& object) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  const kube::ObjectKey key = Namespaced::ClaimOn(object);
  if (!key.name.empty()) return absl::StrCat(Namespaced::kKind, " ", key.ToString());
  const kube::ObjectKey cluster_key = Cluster::ClaimOn(object);
  if (cluster_key.name.empty()) return "";
  return absl::StrCat(Cluster::kKind, " ", cluster_key.ToString());
}

bool HasCredentials(const api::ClusterView& cluster) {
  return !cluster.IsPush() || (!cluster.ApiEndpoint().empty() && !cluster.SecretRef().name.empty());
}

bool IsRefusedSomewhere(const api::BindingView& binding) {
  const auto items = binding.AggregatedItems();
  return std::any_of(items.begin(), items.end(),
                     [](const api::AggregatedStatusItem& item) { return !item.applied; });
}

// Returns whether all override policies exist that the policy waits for.
bool HasItsOverrides(const why::Chain& shared, const kube::Object& policy) {
  const auto names = api::PolicyView(policy).DependentOverrides();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return shared.override_names.count({std::string(policy.ns()), name}) > 0;
  });
}

}  // namespace

Glance::Glance(const why::Chain& shared, const std::vector<kube::ObjectPtr>& overrides,
               const std::vector<kube::ObjectPtr>& bindings)
    : shared_(shared) {
  for (const kube::ObjectPtr& policy : shared.policies) {
    policies_[policy->Describe()] = policy;
    if (api::PolicyView(*policy).PreemptsAlways()) preempting_.push_back(policy);
  }
  for (const auto& policy : shared.overrides.cluster_wide) overrides_[""].push_back(policy);
  for (const kube::ObjectPtr& policy : overrides) {
    overrides_[std::string(policy->ns())].push_back(
        std::make_shared<const overrides::Policy>(policy));
  }
  for (const auto& [name, cluster] : shared.clusters) {
    const api::ClusterView view(*cluster);
    if (view.IsReady() && !cluster->IsDeleting() && HasCredentials(view)) ready_.insert(name);
  }
  for (const kube::ObjectPtr& binding : bindings) {
    bindings_[binding->Describe()] = binding;
    if (IsRefusedSomewhere(api::BindingView(*binding))) {
      with_refusals_.insert(std::string(binding->ns()));
    }
  }
}

kube::ObjectPtr Glance::FindBinding(const kube::Gvk& gvk, const kube::ObjectKey& key) const {
  const auto found = bindings_.find(absl::StrCat(gvk.kind, " ", key.ToString()));
  return found == bindings_.end() ? nullptr : found->second;
}

bool Glance::IsOverridden(const kube::Object& object) const {
  for (const std::string& ns : {std::string(), std::string(object.ns())}) {
    const auto found = overrides_.find(ns);
    if (found == overrides_.end()) continue;
    for (const overrides::PolicyPtr& policy : found->second) {
      if (policy->Rank(object) != api::SelectorMatch::kNone) return true;
    }
    if (object.ns().empty()) break;
  }
  return false;
}

bool Glance::IsTemplateFine(const Candidate& candidate) const {
  if (candidate.object == nullptr || candidate.binding == nullptr) return false;
  const kube::Object& object = *candidate.object;
  const kube::Object& binding = *candidate.binding;
  if (object.IsDeleting() || binding.IsDeleting()) return false;
  if (!shared_.filter.AllowsResource(candidate.gvk)) return false;
  if (!shared_.filter.AllowsObject(object)) return false;
  if (api::BindingView(binding).PermanentId().empty()) return false;
  if (!api::CheckBindingOwner(binding, kube::ControllerRef(object)).ok()) return false;
  return api::CompareWithRecord(binding, object) != api::PassedRecord::kOther;
}

// A binding without a policy belongs to a MultiClusterService, or to templates that need it.
bool Glance::IsPolicyFine(const Candidate& candidate) const {
  const kube::Object& object = *candidate.object;
  const api::BindingView binding(*candidate.binding);
  for (const kube::ObjectPtr& policy : preempting_) {
    const bool may_govern = policy->ns().empty() || policy->ns() == object.ns();
    if (may_govern && why::MatchOf(policy, object).rank != api::SelectorMatch::kNone) return false;
  }
  const std::string claim = ClaimOn(object);
  if (claim.empty()) {
    return !binding.RequiredBy().empty() ||
           !candidate.binding->Label(api::kBindingManagedByLabel).empty();
  }
  const auto found = policies_.find(claim);
  if (found == policies_.end() || found->second->IsDeleting()) return false;
  return why::HasFieldsOf(*candidate.binding, *found->second) &&
         HasItsOverrides(shared_, *found->second);
}

bool Glance::IsPlaced(const Candidate& candidate) const {
  const api::BindingView binding(*candidate.binding);
  if (binding.IsSchedulingSuspended() || binding.DispatchTargets().empty()) return false;
  if (!binding.EvictionTasks().empty()) return false;
  if (binding.Placement().is_null()) return true;
  const bool is_scheduled = kube::IsConditionTrue(binding.Conditions(), api::kBindingScheduled);
  return is_scheduled && binding.SchedulerObservedGeneration() == candidate.binding->generation();
}

bool Glance::AreClustersFine(const Candidate& candidate) const {
  const api::BindingView binding(*candidate.binding);
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    const bool is_asked = shared_.Concerns(target.name);
    if (is_asked && ready_.count(target.name) == 0) return false;
    if (is_asked && binding.IsDispatchingSuspended(target.name)) return false;
    const std::string ns = api::ExecutionNamespace(target.name);
    if (is_asked && shared_.namespaces.count(ns) == 0) return false;
  }
  for (const api::AggregatedStatusItem& item : binding.AggregatedItems()) {
    if (!shared_.Concerns(item.cluster_name)) continue;
    if (!item.applied || item.health == api::kUnhealthy) return false;
  }
  return true;
}

// Whether what it needs goes along, and does not keep it where it leaves.
bool Glance::AreNeedsFine(const Candidate& candidate) const {
  const api::BindingView binding(*candidate.binding);
  if (with_refusals_.count(candidate.key.ns) > 0 || with_refusals_.count("") > 0) return false;
  for (const api::BindingSnapshot& by : binding.RequiredBy()) {
    const kube::Gvk& gvk =
        by.ns.empty() ? api::ClusterResourceBindings().gvk : api::ResourceBindings().gvk;
    const kube::ObjectPtr referrer = FindBinding(gvk, {by.ns, by.name});
    if (referrer == nullptr) continue;
    if (api::BindingView(*referrer).Clusters() != by.clusters) return false;
  }
  if (!binding.PropagateDeps()) return true;
  const std::vector<api::DependentReference> needed = api::RecordedDependencies(*candidate.binding);
  const bool is_looked_at = candidate.binding->HasFinalizer(api::kDependenciesFinalizer);
  if (needed.empty() && !is_looked_at) return false;
  return std::all_of(needed.begin(), needed.end(), [&](const api::DependentReference& need) {
    return need.ns == candidate.key.ns || need.ns.empty();
  });
}

bool Glance::IsFine(const Candidate& candidate) const {
  return IsTemplateFine(candidate) && IsPolicyFine(candidate) && IsPlaced(candidate) &&
         AreClustersFine(candidate) && AreNeedsFine(candidate) && !IsOverridden(*candidate.object);
}

bool Glance::IsFine(const Candidate& candidate, const std::string& cluster,
                    const kube::Object& work) const {
  const api::WorkView view(work);
  if (work.IsDeleting() || view.IsDispatchingSuspended() || !view.IsApplied()) return false;
  // What has made it different may have gone.
  const bool was_overridden = !work.Annotation(api::kAppliedOverridesAnnotation).empty() ||
                              !work.Annotation(api::kAppliedClusterOverridesAnnotation).empty();
  if (was_overridden) return false;
  const auto index = view.IndexOf(kube::Object::Make(candidate.gvk, candidate.key));
  if (!index.has_value()) return false;
  const kube::Object manifest(view.Manifests()[*index]);
  int64_t made_from = 0;
  const bool says =
      absl::SimpleAtoi(manifest.Annotation(api::kTemplateGenerationAnnotation), &made_from);
  if (says && made_from != candidate.object->generation()) return false;
  const api::BindingView binding(*candidate.binding);
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    const json::Value& replicas = manifest.spec()["replicas"];
    const bool is_other = target.name == cluster && target.replicas > 0 && replicas.is_int() &&
                          replicas.AsInt() != target.replicas;
    if (is_other) return false;
  }
  for (const api::ManifestStatus& status : view.ManifestStatuses()) {
    if (status.health == api::kUnhealthy) return false;
    // What was reported of an earlier state says nothing of this one.
    const int64_t reported = status.status["resourceTemplateGeneration"].AsInt(0);
    if (says && reported > 0 && reported < made_from) return false;
    const json::Value& there = status.status["replicas"];
    const json::Value& wanted = manifest.spec()["replicas"];
    if (there.is_int() && wanted.is_int() && wanted.AsInt() != there.AsInt()) return false;
    if (kube::IsConditionTrue(status.status["conditions"], "Failed")) return false;
  }
  return true;
}

bool Glance::HasItsWorks(const Candidate& candidate) const {
  std::set<std::string> expected;
  for (const auto& target : api::BindingView(*candidate.binding).DispatchTargets()) {
    if (shared_.Concerns(target.name)) expected.insert(target.name);
  }
  std::set<std::string> places;
  for (const std::string& place : candidate.places) {
    if (shared_.Concerns(place)) places.insert(place);
  }
  return places == expected;
}

}  // namespace lens::fleet
