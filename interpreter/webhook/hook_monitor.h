// Watches every call of every hook: breakers, probes, metrics, slow calls.
#ifndef INTERPRETER_WEBHOOK_HOOK_MONITOR_H_
#define INTERPRETER_WEBHOOK_HOOK_MONITOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "interpreter/webhook/circuit_breaker.h"
#include "interpreter/webhook/failure.h"
#include "interpreter/webhook/hook_set.h"
#include "interpreter/webhook/hook_state.h"

namespace interpreter::webhook {

// Called when a hook's calls were suspended or resumed. When they were resumed, `unanswered` names
// what failed or was refused since the first failure and is therefore worth asking again.
using BreakerObserver = std::function<void(const Hook& hook, const BreakerChange& change,
                                           const std::set<KindQuestion>& unanswered)>;
// Asks the hook a question for the monitor's own purposes; its errors carry a FailureReason.
// `stop`, when given, ends it.
using Asker = std::function<absl::Status(const Hook& hook, const Question& question,
                                         const base::StopToken* stop)>;

// One call of a hook, retries included, or an attempt to call an unusable one.
struct CallRecord {
  const Hook& hook;
  Operation op;
  absl::Duration took;
};
// Called when a call has ended; its errors carry a FailureReason. It runs on the thread that made
// the call, with no lock held, and should not block. It is not called for probes and for questions
// that settle a doubt.
using CallObserver = std::function<void(const CallRecord& record, const absl::Status& status)>;

// Called with kinds and operations that are worth asking a hook again: those whose failures were
// ignored, when the hook answers one of them; and all that were not answered, when the way to the
// hook has changed.
using WaitingObserver =
    std::function<void(const Hook& hook, const std::set<KindQuestion>& waiting)>;

struct HookMonitorOptions {
  metrics::Registry* metrics = nullptr;  // nullptr: no metrics.
  BreakerOptions breaker;
  BreakerObserver on_breaker_change;  // May be empty.
  WaitingObserver on_worth_asking;    // May be empty.
  // Called when NextProbe() has become earlier although no breaker has opened. May be empty.
  std::function<void()> on_probe_wanted;
  CallObserver on_call;  // May be empty.
};

// Thread-safe.
class HookMonitor {
 public:
  // REQUIRES: clock, registry, and what `ask` refers to outlive the monitor.
  HookMonitor(HookMonitorOptions options, const base::Clock& clock, Asker ask);

  // Replaces the hooks. A hook that is equal to an earlier one keeps its breaker. One that differs
  // gets a new breaker, and on_breaker_change reports it when the calls of the earlier one were
  // suspended; if it answers alike, what the earlier one did not answer is reported as worth asking
  // again. Metrics and state of hooks that are gone are dropped.
  void Track(const HookSet& hooks);
  // Reports as worth asking again what hooks behind this Service, which was added, deleted or
  // changed, did not answer.
  void ServiceChanged(const kube::ObjectKey& service);

  // Makes the call that asks `question`, unless the hook's calls are suspended. `call` returns a
  // StatusOr whose errors carry a FailureReason. After a failure that puts the hook in doubt, the
  // hook is also asked a question that it has answered before, so Watch may take two timeouts.
  template <class Call>
  auto Watch(const Hook& hook, const Question& question, Call call) -> decltype(call()) {
    const std::shared_ptr<HookState> state = StateOf(hook);
    const absl::StatusOr<CircuitBreaker::Ticket> ticket = Admit(*state, question);
    if (!ticket.ok()) return Suspended(hook, ticket.status());
    const base::SteadyTime began = clock_.SteadyNow();
    auto result = call();
    const CallRecord record{hook, question.operation, clock_.SteadyNow() - began};
    Ended(record, result.status());
    Note(*state, question, result.status());
    Judge(hook, *state, {question, *ticket, result.status()});
    return result;
  }

  // Must be called when the call that asked `question` has failed and another layer answers
  // instead: the hook is asked again later, and on_worth_asking reports when it answers.
  void NoteIgnored(const Hook& hook, const Question& question);

  // Returns when Probe() has something to do; base::SteadyTime::InfiniteFuture() while no hook is
  // suspended and no failure was ignored. It becomes earlier when a hook is suspended, which
  // on_breaker_change reports, and in cases that on_probe_wanted reports.
  base::SteadyTime NextProbe() const;
  // Asks every hook that is due, one after the other, each for at most its timeout. Once `stop` is
  // requested it returns soon.
  void Probe(const base::StopToken& stop);

 private:
  // The hook's uid and dialect.
  using Key = std::pair<std::string, Dialect>;
  struct Tracked {
    Hook hook;
    std::shared_ptr<HookState> state;
  };
  // A question that was asked, and its result.
  struct Asked {
    const Question& question;
    CircuitBreaker::Ticket ticket;
    absl::Status status;
  };

  static Key KeyOf(const Hook& hook) { return {hook.uid, hook.dialect}; }
  std::shared_ptr<HookState> StateOf(const Hook& hook);
  absl::StatusOr<CircuitBreaker::Ticket> Admit(HookState& state, const Question& question) const;
  absl::Status Suspended(const Hook& hook, const absl::Status& why);
  void Ended(const CallRecord& record, const absl::Status& status);
  static void Note(HookState& state, const Question& question, const absl::Status& status);
  void ReportWaiting(const Hook& hook, const std::set<KindQuestion>& waiting) const;
  // Reports that a changed hook is called again if its calls were suspended before the change.
  void ReportAbandoned(const Tracked& changed) const;
  // Reports the result to the breaker and updates the hook's state.
  void Judge(const Hook& hook, HookState& state, const Asked& asked);
  std::optional<CircuitBreaker::Result> Check(const Hook& hook, const HookState& state);
  void ProbeOne(const Hook& hook, HookState& state, const base::StopToken& stop);
  void AskAgain(const Hook& hook, HookState& state, const base::StopToken& stop);
  void Healed(const Hook& hook, HookState& state);
  void WantProbe() const;
  absl::Status Ask(const Hook& hook, const Question& question, const base::StopToken* stop);
  void ReportChange(const Hook& hook, HookState& state, const BreakerChange& change);
  std::vector<Tracked> DueForProbe() const;
  void Count(const CallRecord& record, const absl::Status& status);
  void CountFailure(const Hook& hook, FailureReason reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sets the gauges of all tracked hooks, and removes the series of those in `gone`.
  void SetSeries(const std::map<Key, Tracked>& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetOpenGauge(const Hook& hook, bool open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsTracked(const Hook& hook) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const HookMonitorOptions options_;
  const base::Clock& clock_;
  const Asker ask_;
  mutable absl::Mutex mu_;
  std::map<Key, Tracked> tracked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_MONITOR_H_
