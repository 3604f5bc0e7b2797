// Measures how long one sync of a loop takes, as histogram `name` with the label result ("success",
// "error") and upstream's buckets from 1 ms to 2 s.
//
//   const SyncTimer timer(manager, "binding_sync_work_duration_seconds", "Duration of ...");
//   const absl::Status result = EnsureWorks(...);
//   timer.Observe(result);
#ifndef KUBE_RUNTIME_SYNC_TIMER_H_
#define KUBE_RUNTIME_SYNC_TIMER_H_

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/client/errors.h"
#include "kube/runtime/manager.h"

namespace kube {

// Measures from its construction on.
class SyncTimer {
 public:
  // REQUIRES: `manager`, `name` and `help` outlive the timer.
  SyncTimer(Manager& manager, const char* name, const char* help)
      : manager_(manager), name_(name), help_(help), start_(manager.clock().SteadyNow()) {}

  // A conflict or a cancellation is not observed: the sync is repeated and counted then.
  void Observe(const absl::Status& result) const {
    if (IsNoOutcome(result)) return;
    manager_.registry()
        .GetHistogram(name_, help_, metrics::ExponentialBuckets(0.001, 2, 12),
                      {{"result", result.ok() ? "success" : "error"}})
        .Observe(absl::ToDoubleSeconds(manager_.clock().SteadyNow() - start_));
  }

 private:
  Manager& manager_;
  const char* const name_;
  const char* const help_;
  const base::SteadyTime start_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_SYNC_TIMER_H_
