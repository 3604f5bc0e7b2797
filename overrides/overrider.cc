#include "overrides/overrider.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "overrides/apply.h"
#include "overrides/internal/applied_record.h"

namespace overrides {
namespace {

// Returns "override policy(ns/name)" or "cluster override policy(name)", as in upstream's events.
std::string EventName(const Policy& policy) {
  return policy.ns().empty()
             ? absl::StrCat("cluster override policy(", policy.name(), ")")
             : absl::StrCat("override policy(", policy.ns(), "/", policy.name(), ")");
}

bool Selects(const std::vector<PolicyPtr>& policies, const kube::Object& object) {
  return std::any_of(policies.begin(), policies.end(), [&](const PolicyPtr& policy) {
    return policy->Rank(object) != api::SelectorMatch::kNone;
  });
}

}  // namespace

// One application of policies: to which manifest, for which cluster.
struct Overrider::Pass {
  const kube::Object& manifest;
  const std::string& cluster;
  const kube::ObjectKey& of;
};

Overrider::Overrider(kube::Manager& manager, kube::Outcomes& outcomes)
    : manager_(manager),
      policies_(manager.cluster()),
      recorder_(manager.events(), api::kOverrideManagerSource, outcomes) {}

absl::StatusOr<Overridden> Overrider::Override(const Policies& policies,
                                               const kube::Object& manifest,
                                               const std::string& cluster,
                                               const kube::ObjectKey& of) {
  if (policies.empty()) return Overridden{manifest};
  const kube::ObjectPtr object = manager_.cluster().Find(api::Clusters(), {"", cluster});
  if (object == nullptr) {
    if (!Selects(policies.cluster_wide, manifest) && !Selects(policies.of_namespace, manifest)) {
      return Overridden{manifest};
    }
    return absl::FailedPreconditionError(
        "the Cluster for which override policies are to be applied does not exist");
  }
  const Pass pass = {manifest, cluster, of};
  Application application = Apply(policies, manifest, api::ClusterView(*object));
  if (application.failed != nullptr) {
    Record(pass, *application.failed, application.status);
    return base::Annotate(application.status, application.failed->object().Describe(),
                          " cannot be applied to ", manifest.Describe());
  }
  Overridden result{std::move(application.object)};
  for (const auto& [annotation, rules] :
       {std::pair(api::kAppliedClusterOverridesAnnotation, &application.of_cluster_policies),
        {api::kAppliedOverridesAnnotation, &application.of_policies}}) {
    for (const AppliedRule& applied : *rules) {
      // The list is grouped by policy, so equal neighbours are one policy: report it once.
      if (!result.policies.empty() && result.policies.back() == applied.policy) continue;
      Record(pass, *applied.policy, absl::OkStatus());
      result.policies.push_back(applied.policy);
    }
    if (!rules->empty()) result.annotations.Set(annotation, AppliedRecord(*rules));
  }
  return result;
}

void Overrider::Record(const Pass& pass, const Policy& policy, const absl::Status& result) {
  const std::string name = EventName(policy);
  recorder_.Outcome(
      {.of = {pass.of},
       .part = absl::StrCat("override ", pass.cluster, " ", name),
       .about = {kube::InvolvedObject::Of(pass.manifest)},
       .success = {api::reason::kApplyOverridePolicySucceed,
                   api::message::OverridePolicyApplied(name, pass.cluster)},
       .failure = {api::reason::kApplyOverridePolicyFailed,
                   api::message::OverridePolicyNotApplied(name, pass.cluster, result)}},
      result);
}

void Overrider::ReportApplied(const Overridden& overridden, const kube::Object& manifest,
                              const std::string& cluster) {
  if (!recorder_.WantsRoutine()) return;
  for (const PolicyPtr& policy : overridden.policies) {
    recorder_.Routine(kube::InvolvedObject::Of(manifest), api::reason::kApplyOverridePolicySucceed,
                      api::message::OverridePolicyApplied(EventName(*policy), cluster));
  }
}

void AddAnnotations(const json::Value& annotations, json::Value& work_annotations) {
  for (const json::Member& m : annotations.members()) work_annotations.Set(m.name(), m.value);
}

}  // namespace overrides
