// Keeps calls away from a hook that is down, so that loops do not wait for it object after object.
//
//   ASSIGN_OR_RETURN(const CircuitBreaker::Ticket ticket, breaker.Admit());
//   ... call ...
//   const auto verdict = breaker.Report(ticket, {health, object, status});
//   if (verdict.in_doubt) ... ask something that was answered before, and Settle(...)
//
// A closed breaker counts outages in a row. At the fifth the hook is in doubt: is it down, or do
// some objects break it (a handler that panics looks like a broken connection)? The caller asks it
// a question that it has answered before and settles the doubt with the result. If there is no such
// question, the outages decide: outages with two objects, or with one object over half a minute,
// count as an outage of the hook. While the breaker is open, calls fail at once. After 5 s one call
// is let through as a probe; each failed probe doubles the pause, up to 60 s; any answer closes the
// breaker. A breaker that opens again within 60 s starts with twice its last pause, so that a hook
// that is overloaded by the waiting calls can recover.
#ifndef INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_
#define INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "interpreter/webhook/failure.h"

namespace interpreter::webhook {

struct BreakerOptions {
  int failures_to_open = 5;
  // How long outages with one object alone must have lasted, if there is no other question to ask.
  absl::Duration lone_failures_to_open = absl::Seconds(30);
  absl::Duration first_pause = absl::Seconds(5);
  absl::Duration longest_pause = absl::Seconds(60);
};

// Describes that the breaker has opened or closed.
struct BreakerChange {
  bool open = false;
  bool abandoned = false;  // Closed because the hook was changed, not because it has answered.
  absl::Time since;        // Wall-clock time of the first outage in the row.
  absl::Time at;           // Wall-clock time of the change.
  std::string reason;      // The error of the last outage.
};

// Thread-safe.
class CircuitBreaker {
 public:
  // The permission to make one call.
  struct Ticket {
    bool probe = false;
  };
  // The result of a call.
  struct Result {
    HookHealth health = HookHealth::kUnknown;
    uint64_t object = 0;  // A hash that identifies the object of the call.
    absl::Status status;
  };
  struct Verdict {
    std::optional<BreakerChange> change;
    bool in_doubt = false;  // The caller must call Settle.
  };

  // REQUIRES: the clock outlives the breaker.
  explicit CircuitBreaker(const base::Clock& clock, BreakerOptions options = {});

  // kUnavailable while calls are suspended: "calls are suspended since <time of the first failure>:
  // <the last failure>". The text changes only when a probe fails.
  absl::StatusOr<Ticket> Admit();
  // REQUIRES: is called once for each ticket.
  Verdict Report(Ticket ticket, const Result& result);
  // `check` is the result of asking another question; nullopt when there was none to ask. REQUIRES:
  // is called once after each verdict with in_doubt.
  std::optional<BreakerChange> Settle(const std::optional<Result>& check);

  // Must be called when the hook was changed and gets another breaker. Returns the change if calls
  // were suspended.
  std::optional<BreakerChange> Abandon();

  bool IsOpen() const;
  // Returns when the next call will be let through while the breaker is open; while a probe is
  // under way, when to call this again. base::SteadyTime::InfiniteFuture() while the breaker is
  // closed.
  base::SteadyTime NextProbe() const;

 private:
  std::optional<BreakerChange> Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  BreakerChange Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CountOutage(const Result& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FailProbe(const Result& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsOutageByItself() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  BreakerChange Change() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  const BreakerOptions options_;
  mutable absl::Mutex mu_;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;              // Outages in a row.
  uint64_t first_object_ ABSL_GUARDED_BY(mu_) = 0;     // The object of the first of them.
  bool several_objects_ ABSL_GUARDED_BY(mu_) = false;  // The row has outages with other objects.
  bool in_doubt_ ABSL_GUARDED_BY(mu_) = false;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  bool probing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time first_failure_wall_ ABSL_GUARDED_BY(mu_);  // For messages.
  base::SteadyTime first_failure_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_probe_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime closed_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  absl::Duration pause_ ABSL_GUARDED_BY(mu_);
  std::string last_failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_
