// How long an eviction worker rests after an eviction, so that a cluster that fails does not move
// all its workloads at once.
#ifndef CONTROLLERS_TAINT_MANAGER_EVICTION_PACE_H_
#define CONTROLLERS_TAINT_MANAGER_EVICTION_PACE_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/token_bucket.h"
#include "config/options.h"

namespace controllers {

// Thread-safe. Shared by the workers of one queue.
class EvictionPace {
 public:
  // The rest when the rate is 0.
  static constexpr absl::Duration kLongestPause = absl::Seconds(1800);

  // `rate` is the number of evictions per second and worker (--resource-eviction-rate); `limits`
  // gives the rate and burst of all workers together. REQUIRES: `clock` outlives this object.
  EvictionPace(double rate, const config::RateLimits& limits, const base::Clock& clock)
      : clock_(clock), rate_(rate), limits_(limits), of_all_(limits.qps, limits.bucket_size) {}

  // Counts one eviction; returns how long the worker that made it has to rest. Upstream:
  // NewGracefulEvictionRateLimiter.
  absl::Duration AfterEviction();

 private:
  const base::Clock& clock_;
  const double rate_;
  const config::RateLimits limits_;
  absl::Mutex mu_;
  base::TokenBucket of_all_ ABSL_GUARDED_BY(mu_);  // Evictions of all workers.
};

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_EVICTION_PACE_H_
