// DaemonSets: one pod on every node that their nodeSelector matches.
#ifndef SANDBOX_SIM_DAEMON_SETS_H_
#define SANDBOX_SIM_DAEMON_SETS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/sim/controller.h"

namespace sandbox {

class DaemonSets {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  DaemonSets(Backend& backend, EventLoop& loop);

 private:
  using Pods = std::vector<kube::ObjectPtr>;

  absl::Status Reconcile(const kube::ObjectKey& key);
  // Makes every DaemonSet check its nodes again.
  void NodesChanged();
  absl::StatusOr<std::set<std::string>> NodesFor(const kube::Object& set);
  absl::Status Sync(const kube::Object& set, const std::set<std::string>& nodes, const Pods& pods);
  absl::Status UpdateStatus(const kube::Object& set, const std::set<std::string>& nodes,
                            const Pods& pods);

  Backend& backend_;
  Controller nodes_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_DAEMON_SETS_H_
