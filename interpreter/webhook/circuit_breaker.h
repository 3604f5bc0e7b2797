// Keeps calls away from a hook that is down, so that loops do not wait for it object after object.
//
//   ASSIGN_OR_RETURN(const CircuitBreaker::Ticket ticket, breaker.Admit());
//   ... call ...
//   const auto verdict = breaker.Report(ticket, {health, object, status});
//   if (verdict.in_doubt) ... ask something that was answered before, and Settle(...)
//
// Closed, it counts outages in a row. At the fifth the hook is in doubt: is it down, or do some
// objects break it (a handler that panics looks like a broken connection)? Who can asks it a
// question that it has answered before, and settles the doubt by what comes of that. Who cannot
// goes by the row: outages of two objects, or of one over half a minute, count as an outage of the
// hook. Open, calls fail at once. After 5 s one call is let through as a probe; each failed probe
// doubles the pause, up to 60 s; any answer closes it. When it opens again within 60 s it goes on
// with twice the pause it had, so that a hook which breaks under what waits for it gets air.
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
  // How long one object alone must have failed, where nothing else can be asked.
  absl::Duration lone_failures_to_open = absl::Seconds(30);
  absl::Duration first_pause = absl::Seconds(5);
  absl::Duration longest_pause = absl::Seconds(60);
};

// The breaker has opened or closed.
struct BreakerChange {
  bool open = false;
  absl::Time since;    // When the first failure of the row happened, by the wall clock.
  absl::Time at;       // When it opened or closed, by the wall clock.
  std::string reason;  // The last failure.
};

// Thread-safe.
class CircuitBreaker {
 public:
  // The right to make one call.
  struct Ticket {
    bool probe = false;
  };
  // What came of a call.
  struct Result {
    Health health = Health::kUnknown;
    uint64_t object = 0;  // A hash of what it was about.
    absl::Status status;
  };
  struct Verdict {
    std::optional<BreakerChange> change;
    bool in_doubt = false;  // Settle must follow.
  };

  // REQUIRES: the clock outlives the breaker.
  explicit CircuitBreaker(const base::Clock& clock, BreakerOptions options = {});

  // kUnavailable while calls are suspended: "calls are suspended since <time of the first failure>:
  // <the last failure>". The text changes only with a failed probe.
  absl::StatusOr<Ticket> Admit();
  // REQUIRES: once for each ticket.
  Verdict Report(Ticket ticket, const Result& result);
  // What came of asking something else; nullopt: there was nothing to ask. REQUIRES: once after
  // each verdict "in doubt".
  std::optional<BreakerChange> Settle(const std::optional<Result>& check);

  bool IsOpen() const;
  // Returns when the next call will be let through while it is open; while a probe is under way,
  // when to look again. base::SteadyTime::InfiniteFuture() while it is closed.
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
  int failures_ ABSL_GUARDED_BY(mu_) = 0;              // In a row.
  uint64_t first_object_ ABSL_GUARDED_BY(mu_) = 0;     // The object of the first of them,
  bool several_objects_ ABSL_GUARDED_BY(mu_) = false;  // and whether there were others.
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
