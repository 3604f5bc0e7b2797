// The cluster-status loop: probes each served member and reports health, version, served kinds and
// resources in Cluster.status (upstream's cluster-status-controller).
#ifndef CONTROLLERS_CLUSTER_STATUS_CLUSTER_STATUS_RECONCILER_H_
#define CONTROLLERS_CLUSTER_STATUS_CLUSTER_STATUS_RECONCILER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "controllers/cluster_status/api_enablements.h"
#include "controllers/cluster_status/brief_outages.h"
#include "controllers/cluster_status/inventory_totals.h"
#include "controllers/cluster_status/ready_threshold.h"
#include "controllers/context/member_inventory.h"
#include "controllers/context/served_clusters.h"
#include "kube/cache/informer.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

struct ClusterStatusOptions {
  absl::Duration update_frequency = absl::Seconds(10);
  absl::Duration success_threshold = absl::Seconds(30);
  absl::Duration failure_threshold = absl::Seconds(30);
  bool collect_resources = true;  // True: nodeSummary and resourceSummary are set.
  bool resource_models = true;    // True: allocatableModelings are set, too.
};

struct ClusterStatusDeps {
  kube::Manager& manager;
  kube::ClusterSet& members;
  MemberInventory& inventory;
  ServedClusters served = {};
};

class ClusterStatusReconciler : public kube::Reconciler {
 public:
  // REQUIRES: everything in `deps` outlives the reconciler.
  ClusterStatusReconciler(ClusterStatusDeps deps, const ClusterStatusOptions& options);

  // The request's key names a Cluster.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  void Forget(const std::string& cluster);
  // Returns the condition Ready, and the cause when the member is not reachable.
  ReadyThreshold::Observation Probe(const api::ClusterView& cluster, const base::StopToken& stop);
  void LogUnreachable(const std::string& cluster, const absl::Status& why);
  // Records an event on the Cluster about a failed probe or a recovery.
  void Report(const kube::Object& before, const kube::Object& now, const kube::Condition& observed);
  absl::StatusOr<json::Value> Collect(const kube::Object& cluster, json::Value status,
                                      const base::StopToken& stop);
  // Returns the totals of the cluster once everything that they count has been listed.
  absl::StatusOr<InventoryTotals::Followed> FollowInventory(const std::string& cluster,
                                                            const base::StopToken& stop);
  absl::Status AddResources(const kube::Object& cluster, json::Value& status,
                            const base::StopToken& stop);
  void ExportMetrics(const kube::Object& cluster);

  const ClusterStatusDeps deps_;
  const ClusterStatusOptions options_;
  kube::EventRecorder recorder_;
  InventoryTotals totals_;
  ReadyThreshold threshold_;
  BriefOutages brief_outages_;
  ApiEnablementsCache& enablements_ = ApiEnablementsCache::OfProcess();
  base::RepeatedErrors unreachable_;
};

// Returns whether an update of a Cluster is acted on at once: its spec has changed, or the cluster
// loop has accepted it. Everything else waits for the next round.
bool IsNewsForStatus(const kube::Object& before, const kube::Object& after);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_CLUSTER_STATUS_RECONCILER_H_
