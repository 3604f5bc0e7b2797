#include "controllers/application_failover/failover_eviction.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/eviction.h"
#include "base/status.h"

namespace controllers {
namespace {

using config::Gate;

constexpr int64_t kDefaultTolerationSeconds = 300;  // The default of upstream's definitions.

const json::Value& FailoverOf(const kube::Object& binding) {
  return binding.Get({"spec", "failover", "application"});
}

}  // namespace

absl::Duration TolerationOf(const kube::Object& binding) {
  return absl::Seconds(FailoverOf(binding)
                           .Get({"decisionConditions", "tolerationSeconds"})
                           .AsInt(kDefaultTolerationSeconds));
}

std::vector<std::string> UnhealthyClusters(const kube::Object& binding) {
  const api::BindingView view(binding);
  std::set<std::string> evicted;
  // The workload stays unhealthy there until the task ends; it must not be evicted again meanwhile.
  for (api::EvictionTask& task : view.EvictionTasks()) evicted.insert(std::move(task.from_cluster));
  std::vector<std::string> clusters;
  for (api::AggregatedStatusItem& item : view.AggregatedItems()) {
    if (item.health != api::kUnhealthy || evicted.count(item.cluster_name) > 0) continue;
    clusters.push_back(std::move(item.cluster_name));
  }
  return clusters;
}

absl::StatusOr<Eviction> FailoverEviction(const kube::Object& binding, const std::string& cluster,
                                          absl::string_view producer,
                                          const config::FeatureGates& gates) {
  const json::Value& failover = FailoverOf(binding);
  Eviction eviction{.cluster = cluster,
                    .purge_mode = failover["purgeMode"].ToString(),
                    .reason = api::reason::kApplicationFailure,
                    .producer = std::string(producer)};
  if (gates.Enabled(Gate::kStatefulFailoverInjection)) {
    const api::BindingView view(binding);
    ASSIGN_OR_RETURN(eviction.preserved_label_state,
                     PreservedLabelState(failover["statePreservation"], view, cluster));
    // The state goes to clusters that the workload was not in before, so these have to be known.
    if (!eviction.preserved_label_state.empty()) {
      for (api::TargetCluster& target : view.Clusters()) {
        eviction.clusters_before_failover.push_back(std::move(target.name));
      }
    }
  }
  if (eviction.purge_mode == api::kPurgeNever) eviction.suppress_deletion = true;
  if (api::CurrentPurgeMode(eviction.purge_mode) == api::kPurgeGracefully) {
    if (!gates.Enabled(Gate::kGracefulEviction)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "GracefulEviction featureGate must be enabled when purgeMode is ", eviction.purge_mode));
    }
    const json::Value& grace = failover["gracePeriodSeconds"];
    if (grace.is_number()) eviction.grace_period_seconds = grace.AsInt();
  }
  return eviction;
}

}  // namespace controllers
