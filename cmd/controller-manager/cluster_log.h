// Logs one line, at any verbosity, when a cluster joins, leaves, becomes ready or is not ready any
// more, because operators look for that first.
#ifndef CMD_CONTROLLER_MANAGER_CLUSTER_LOG_H_
#define CMD_CONTROLLER_MANAGER_CLUSTER_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "kube/runtime/manager.h"

namespace cmd {

class ClusterLog : public kube::Runnable {
 public:
  // REQUIRES: `manager` outlives this object.
  explicit ClusterLog(kube::Manager& manager) : manager_(manager) {}
  std::string name() const override { return "cluster log"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  kube::Manager& manager_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_CLUSTER_LOG_H_
