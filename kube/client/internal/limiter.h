// Keeps a client from overloading its API server.
#ifndef KUBE_CLIENT_INTERNAL_LIMITER_H_
#define KUBE_CLIENT_INTERNAL_LIMITER_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "base/token_bucket.h"

namespace kube {

// Limits how many calls may be under way at once. The limit grows by one for each window of good
// answers while it holds calls back or is lower than it was at first, and shrinks when the server
// shows overload (additive increase, multiplicative decrease). Thread-safe.
class ConcurrencyLimiter {
 public:
  struct Options {
    double initial = 20;
    double min = 1;
    double max = 400;  // The default of kube-apiserver (--max-requests-inflight).
    // The limit is decreased at most once in this time, and not because of calls that started
    // before the last decrease.
    absl::Duration decrease_interval = absl::Milliseconds(500);
    // An answer that took longer than this and than `slow_factor` times the best one counts as
    // overload.
    absl::Duration slow = absl::Seconds(2);
    double slow_factor = 10;
  };
  enum class Outcome { kGood, kOverloaded, kNeutral };

  // REQUIRES: `clock` outlives the limiter.
  explicit ConcurrencyLimiter(const base::Clock& clock) : ConcurrencyLimiter(clock, Options()) {}
  ConcurrencyLimiter(const base::Clock& clock, const Options& options);

  // Waits for a free place. kDeadlineExceeded, kCancelled.
  absl::Status Acquire(base::SteadyTime deadline, const base::StopToken& stop);
  // Gives the place back. `started` is when the call was sent; kNeutral is for calls that show
  // nothing about load (they broke or were cancelled).
  void Release(Outcome outcome, base::SteadyTime started);

  int limit() const;

 private:
  bool HasPlace() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSlow(absl::Duration took) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  const Options options_;
  mutable absl::Mutex mu_;
  double limit_ ABSL_GUARDED_BY(mu_);
  int in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  base::SteadyTime last_decrease_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  absl::Duration best_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();
};

// Allows `qps` calls a second and `burst` at once (as client-go's flow control). Thread-safe.
class RequestPace {
 public:
  // REQUIRES: qps > 0; `clock` outlives the pace. A burst below 1 counts as 1.
  RequestPace(const base::Clock& clock, double qps, int burst)
      : clock_(clock), bucket_(qps, burst) {}
  // Waits for a token. kDeadlineExceeded, at once, when no token would exist in time; kCancelled.
  absl::Status Take(base::SteadyTime deadline, const base::StopToken& stop);

 private:
  // Takes a token; returns how long to wait until it exists.
  absl::StatusOr<absl::Duration> Reserve(base::SteadyTime deadline);

  const base::Clock& clock_;
  absl::Mutex mu_;
  base::TokenBucket bucket_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_LIMITER_H_
