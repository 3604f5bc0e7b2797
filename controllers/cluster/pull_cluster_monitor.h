// Declares a pull cluster Unknown when its agent has been silent for too long (upstream's
// monitorClusterHealth). Push clusters are probed by the cluster-status loop and are ignored here.
#ifndef CONTROLLERS_CLUSTER_PULL_CLUSTER_MONITOR_H_
#define CONTROLLERS_CLUSTER_PULL_CLUSTER_MONITOR_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/periodic.h"

namespace controllers {

class PullClusterMonitor : public kube::Periodic {
 public:
  PullClusterMonitor(kube::Manager& manager, const config::ClusterMonitoring& options)
      : Periodic(manager.clock()), manager_(manager), options_(options) {}

  std::string name() const override { return "pull cluster monitor"; }

 protected:
  absl::Duration Begin() override;
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  // What was last seen of a cluster, and when that changed.
  struct Health {
    base::SteadyTime probed;
    json::Value ready;       // The Ready condition, or null.
    std::string renew_time;  // spec.renewTime of the Lease, or "".
  };

  void Check(const kube::ObjectPtr& cluster, const base::StopToken& stop);

  kube::Manager& manager_;
  const config::ClusterMonitoring options_;
  std::shared_ptr<kube::Informer> clusters_, leases_;  // Set by Begin.
  std::map<std::string, Health> health_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_PULL_CLUSTER_MONITOR_H_
