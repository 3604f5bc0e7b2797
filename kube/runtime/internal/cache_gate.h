// Waits for the caches that a controller needs, without a thread.
#ifndef KUBE_RUNTIME_INTERNAL_CACHE_GATE_H_
#define KUBE_RUNTIME_INTERNAL_CACHE_GATE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"

namespace kube::internal {

// Waits for informers one after the other, with one deadline. Not thread-safe.
class CacheGate {
 public:
  CacheGate(std::string controller, std::vector<std::shared_ptr<Informer>> informers,
            const Manager& manager)
      : controller_(std::move(controller)),
        informers_(std::move(informers)),
        timeout_(manager.options().cache_sync_timeout),
        clock_(manager.clock()),
        begun_(clock_.SteadyNow()),
        deadline_(begun_ + timeout_) {}

  // Returns OK when all have synced, and kUnavailable when it is to be asked again at next() or
  // when `wake` is called; any other error is the end.
  absl::Status Ask(const std::function<void()>& wake, const base::StopToken& stop);
  base::SteadyTime next() const { return deadline_; }

 private:
  // A list whose pages come in is not given up, however many there are, before its budget gives it
  // up. One that fails at the same page each time ends the wait then, so that another replica may
  // try.
  absl::Status AskOne(const Informer& informer, const base::StopToken& stop);

  const std::string controller_;
  const std::vector<std::shared_ptr<Informer>> informers_;
  const absl::Duration timeout_;
  const base::Clock& clock_;
  const base::SteadyTime begun_;
  base::SteadyTime deadline_;
  size_t synced_ = 0;   // How many.
  size_t notices_ = 0;  // How many have been asked to tell.
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_CACHE_GATE_H_
