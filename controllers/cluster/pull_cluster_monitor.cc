// All pull clusters are looked at once in each monitor period. A cluster gives a sign of life
// when its Ready condition differs from that of the last look, or its Lease was renewed. Without
// one for the grace period (another one as long as it has never reported) its Ready condition
// becomes Unknown; the agent ends that by its next report. A write that fails is repeated by the
// next look.
//
// The times of the signs are not stored: after a restart the grace period
// begins again, except for a cluster that has never reported, whose creation counts.

#include "controllers/cluster/pull_cluster_monitor.h"

#include <utility>

#include "api/cluster.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace controllers {

absl::Duration PullClusterMonitor::Begin() {
  clusters_ = manager_.cluster().informers().Get(api::Clusters());
  leases_ = manager_.cluster().informers().Get(api::Leases());
  return options_.monitor_period;
}

absl::Duration PullClusterMonitor::Tick(const base::StopToken& stop) {
  for (const kube::ObjectPtr& cluster : clusters_->store().List()) {
    // A cluster that is being deleted is checked as well: its Works are given up only when its
    // agent is known to be silent, because a live agent finishes them.
    if (api::ClusterView(*cluster).IsPull()) Check(cluster, stop);
  }
  std::erase_if(health_, [&](const auto& entry) {
    return clusters_->store().Find({"", entry.first}) == nullptr;
  });
  return options_.monitor_period;
}

void PullClusterMonitor::Check(const kube::ObjectPtr& cluster, const base::StopToken& stop) {
  const absl::Time wall_now = manager_.clock().Now();
  const base::SteadyTime now = manager_.clock().SteadyNow();
  const api::ClusterView view(*cluster);
  const json::Value* condition = kube::FindCondition(view.Conditions(), api::kClusterReady);
  const json::Value ready = condition != nullptr ? *condition : json::Value();
  const kube::ObjectPtr lease =
      leases_->store().Find({api::kClusterNamespace, std::string(cluster->name())});
  const std::string renewed = lease == nullptr ? "" : lease->Get({"spec", "renewTime"}).ToString();

  const auto [entry, is_new] = health_.try_emplace(std::string(cluster->name()));
  Health& health = entry->second;
  if (is_new) {
    const absl::StatusOr<absl::Time> created =
        kube::ParseTime(cluster->metadata()["creationTimestamp"].AsString());
    health.probed = ready.is_null() && created.ok() ? now - (wall_now - *created) : now;
  } else if (health.ready != ready || renewed > health.renew_time) {
    health.probed = now;
  }
  health.ready = ready;
  health.renew_time = renewed;
  const absl::Duration grace =
      ready.is_null() ? options_.startup_grace_period : options_.monitor_grace_period;
  if (now <= health.probed + grace || view.ReadyStatus() == "Unknown") return;

  kube::Condition unknown;
  unknown.type = api::kClusterReady;
  unknown.status = "Unknown";
  unknown.reason = ready.is_null() ? api::reason::kClusterStatusNeverUpdated
                                   : api::reason::kClusterStatusUnknown;
  unknown.message = ready.is_null() ? api::message::kClusterStatusNeverUpdated
                                    : api::message::kClusterStatusUnknown;
  kube::Object after = *cluster;
  json::Value conditions = view.Conditions();
  kube::SetCondition(conditions, unknown, wall_now);
  after.Set({"status", "conditions"}, std::move(conditions));
  kube::UpdateOptions options;
  options.subresource = "status";
  const absl::Status written =
      manager_.cluster().Update(api::Clusters(), cluster, after, options, stop).status();
  if (!written.ok() && !kube::IsNoOutcome(written)) {
    base::LogError("cannot mark a silent cluster as unknown",
                   {{"cluster", cluster->name()}, {"error", written}});
  }
}

}  // namespace controllers
