// Whether the Cluster of an agent is still that of its cluster.
#ifndef CONTROLLERS_AGENT_IDENTITY_WATCH_H_
#define CONTROLLERS_AGENT_IDENTITY_WATCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/periodic.h"

namespace controllers {

// Ends with kAborted when the Cluster has another identity (spec.id) than the agent's cluster: its
// name has been given to another cluster, whose Works must not be applied here. A Cluster that is
// missing, or that is made again with the same identity, is the agent's further on.
class IdentityWatch : public kube::Periodic {
 public:
  // `id` is that with which the cluster was registered. REQUIRES: the manager outlives the
  // runnable.
  IdentityWatch(std::string cluster, std::string id, kube::Manager& manager);
  ~IdentityWatch() override;

  std::string name() const override { return "identity of the cluster"; }

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  bool IsAnother(const kube::Object& cluster) const;

  const std::string cluster_, id_;
  const std::shared_ptr<kube::Informer> clusters_;
  int64_t handler_;
};

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_IDENTITY_WATCH_H_
