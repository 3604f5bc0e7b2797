// Keeps calls away from a hook that is down, so that loops do not wait for it object after object.
//
//   ASSIGN_OR_RETURN(const CircuitBreaker::Ticket ticket, breaker.Admit());
//   ... call ...
//   if (auto change = breaker.Report(ticket, outcome, status)) Tell(*change);
//
// Closed, it counts outages in a row; at the fifth it opens and calls fail at once. After 5 s one
// call is let through as a probe; each failed probe doubles the pause, up to 60 s; any success
// closes it.
#ifndef INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_
#define INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace interpreter::webhook {

struct BreakerOptions {
  int failures_to_open = 5;
  absl::Duration first_pause = absl::Seconds(5);
  absl::Duration longest_pause = absl::Seconds(60);
};

// The breaker has opened or closed.
struct BreakerChange {
  bool open = false;
  absl::Time since;    // Of the first failure in the row.
  std::string reason;  // The failure that opened it.
};

// Thread-safe.
class CircuitBreaker {
 public:
  // What a call says about the hook.
  enum class Outcome {
    kWorks,   // It answered, if only with a refusal.
    kOutage,  // It did not.
    kUnknown  // The call was given up for reasons of ours.
  };
  // The right to make one call.
  struct Ticket {
    bool probe = false;
  };

  // REQUIRES: the clock outlives the breaker.
  explicit CircuitBreaker(const base::Clock& clock, BreakerOptions options = {});

  // kUnavailable while calls are suspended: "calls are suspended since <time of the first failure>:
  // <the last failure>". The text changes only with a failed probe.
  absl::StatusOr<Ticket> Admit();
  // REQUIRES: once for each ticket. `status` is the failure of an outage. The change it caused, if
  // any.
  std::optional<BreakerChange> Report(Ticket ticket, Outcome outcome, const absl::Status& status);
  bool IsOpen() const;

 private:
  std::optional<BreakerChange> Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<BreakerChange> CountOutage(Ticket ticket, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  const BreakerOptions options_;
  mutable absl::Mutex mu_;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  bool probing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time first_failure_ ABSL_GUARDED_BY(mu_);
  absl::Time next_probe_ ABSL_GUARDED_BY(mu_);
  absl::Duration pause_ ABSL_GUARDED_BY(mu_);
  std::string last_failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CIRCUIT_BREAKER_H_
