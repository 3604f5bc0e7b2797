// The interpreter of a daemon: users' customizations and webhooks, shipped customizations and
// built-in handlers over the objects of one control plane.
//
//   LiveInterpreter live(manager, {});
//   RegisterLoops(manager, live.interpreter());   // They subscribe to its rule_changes().
//   RETURN_IF_ERROR(live.Load(stop));             // Before the loops start.
//   manager.Run(stop);                            // Follows changes from now on.
#ifndef INTERPRETER_LIVE_LIVE_INTERPRETER_H_
#define INTERPRETER_LIVE_LIVE_INTERPRETER_H_

#include <memory>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/hook_client.h"
#include "kube/runtime/manager.h"
#include "lua/script_runner.h"

namespace interpreter::live {

struct LiveOptions {
  lua::Budget script_budget;                 // Bounds each run of a script.
  RequirementRules requirements;             // For requirements of pods.
  customized::MergeOptions merge;            // How users' customizations are put together.
  webhook::TransportFactory hook_transport;  // Empty: real connections.
  // The result of LoadShipped, for a process with several interpreters; nullptr: its own.
  std::shared_ptr<const customized::CustomizationSet> shipped;
};

class LiveInterpreter {
 public:
  // Starts the informers of the configurations and adds the loops that follow them to the manager.
  // REQUIRES: the manager outlives this object; this object outlives the manager's Run.
  LiveInterpreter(kube::Manager& manager, const LiveOptions& options);
  ~LiveInterpreter();
  LiveInterpreter(const LiveInterpreter&) = delete;

  const Interpreter& interpreter() const;

  // Waits for the configurations and loads them. kDeadlineExceeded after the manager's
  // cache_sync_timeout, naming the resource that could not be listed and why. A problem of a single
  // configuration is not an error: it is reported on the object.
  absl::Status Load(const base::StopToken& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_LIVE_INTERPRETER_H_
