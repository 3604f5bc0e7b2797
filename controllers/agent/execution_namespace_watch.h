// Whether the execution namespace of an agent's cluster is there.
#ifndef CONTROLLERS_AGENT_EXECUTION_NAMESPACE_WATCH_H_
#define CONTROLLERS_AGENT_EXECUTION_NAMESPACE_WATCH_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/periodic.h"

namespace controllers {

// An agent may read namespaces of the control plane and not watch them. Its informer of Namespaces
// is a local one (kube::InformerOptions::local), and this runnable tells it of the one namespace
// that the loops ask for, by looking for it again and again.
class ExecutionNamespaceWatch : public kube::Periodic {
 public:
  // REQUIRES: the manager outlives the runnable, and its informer of Namespaces is local.
  ExecutionNamespaceWatch(const std::string& cluster, kube::Manager& manager);

  std::string name() const override { return "execution namespace"; }

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  // Returns whether the namespace is there.
  bool Look(const base::StopToken& stop);

  const std::string ns_;
  kube::Manager& manager_;
  const std::shared_ptr<kube::Informer> namespaces_;
};

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_EXECUTION_NAMESPACE_WATCH_H_
