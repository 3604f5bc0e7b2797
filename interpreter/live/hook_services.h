// A copy of the Services of the control plane, by which interpreter webhooks are reached. It is
// kept from the first hook on that names a Service.
#ifndef INTERPRETER_LIVE_HOOK_SERVICES_H_
#define INTERPRETER_LIVE_HOOK_SERVICES_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "interpreter/webhook/hook_set.h"
#include "kube/cache/informer.h"

namespace interpreter::live {

// Thread-safe.
class HookServices {
 public:
  // `on_change` is called with the key of each Service that appears, disappears or whose spec
  // changes, on the informer's thread; it must not block. REQUIRES: the informers outlive this
  // object.
  HookServices(kube::InformerSet& informers, std::function<void(const kube::ObjectKey&)> on_change);
  ~HookServices();
  HookServices(const HookServices&) = delete;

  // Starts the copy if one of these hooks names a Service, and waits until the copy is complete, at
  // most until `deadline`. After that Find may still fail, but it never gives a wrong answer.
  void Follow(const webhook::HookSet& hooks, base::SteadyTime deadline,
              const base::StopToken& stop);

  // Returns nullptr when the control plane has no such Service; kUnavailable while that is not
  // known. Never asks the server.
  absl::StatusOr<kube::ObjectPtr> Find(const kube::ObjectKey& key) const;

 private:
  std::shared_ptr<kube::Informer> Start();

  kube::InformerSet& informers_;
  const std::function<void(const kube::ObjectKey&)> on_change_;
  mutable absl::Mutex mu_;
  // nullptr until a hook names a Service.
  std::shared_ptr<kube::Informer> informer_ ABSL_GUARDED_BY(mu_);
  int64_t handler_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_HOOK_SERVICES_H_
