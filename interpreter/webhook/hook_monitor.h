// Watches every call of every hook: breakers, metrics, slow calls.
#ifndef INTERPRETER_WEBHOOK_HOOK_MONITOR_H_
#define INTERPRETER_WEBHOOK_HOOK_MONITOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "interpreter/webhook/circuit_breaker.h"
#include "interpreter/webhook/failure.h"
#include "interpreter/webhook/hook_set.h"

namespace interpreter::webhook {

// A hook's calls were suspended, or are made again.
using BreakerObserver = std::function<void(const Hook& hook, const BreakerChange& change)>;

// One call of a hook, retries included, or the attempt to call one that is unusable.
struct CallRecord {
  const Hook& hook;
  Operation op;
  absl::Duration took;
};
// A call has ended; its errors carry a FailureReason. Called by the thread that made it, with no
// lock held; it should not block.
using CallObserver = std::function<void(const CallRecord& record, const absl::Status& status)>;

struct HookMonitorOptions {
  metrics::Registry* metrics = nullptr;  // None: no metrics.
  BreakerOptions breaker;
  BreakerObserver on_breaker_change;  // May be empty.
  CallObserver on_call;               // May be empty.
};

// Thread-safe.
class HookMonitor {
 public:
  // REQUIRES: clock and registry outlive the monitor.
  HookMonitor(HookMonitorOptions options, const base::Clock& clock);

  // From now on these are the hooks. A hook that is equal to one of before keeps its breaker;
  // what was counted of hooks that are no more is forgotten.
  void Track(const HookSet& hooks);

  // Makes the call, unless the hook's calls are suspended. `call` returns a StatusOr whose errors
  // carry a FailureReason.
  template <class Call>
  auto Watch(const Hook& hook, Operation op, Call call) -> decltype(call()) {
    const std::shared_ptr<CircuitBreaker> breaker = BreakerOf(hook);
    const absl::StatusOr<CircuitBreaker::Ticket> ticket = breaker->Admit();
    if (!ticket.ok()) return Suspended(hook, ticket.status());
    const absl::Time began = clock_.Now();
    auto result = call();
    Ended({hook, op, clock_.Now() - began}, *breaker, *ticket, result.status());
    return result;
  }

 private:
  // By uid and dialect.
  using Key = std::pair<std::string, Dialect>;
  struct Tracked {
    Hook hook;
    std::shared_ptr<CircuitBreaker> breaker;
  };

  static Key KeyOf(const Hook& hook) { return {hook.uid, hook.dialect}; }
  std::shared_ptr<CircuitBreaker> BreakerOf(const Hook& hook);
  absl::Status Suspended(const Hook& hook, const absl::Status& why);
  void Ended(const CallRecord& record, CircuitBreaker& breaker, CircuitBreaker::Ticket ticket,
             const absl::Status& status);
  void Count(const CallRecord& record, const absl::Status& status);
  void CountFailure(const Hook& hook, FailureReason reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetOpenGauge(const Hook& hook, bool open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsTracked(const Hook& hook) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const HookMonitorOptions options_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  std::map<Key, Tracked> tracked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_MONITOR_H_
