// Determines how long a failed item waits before it is tried again.
#ifndef KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_
#define KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/work_queue.h"

namespace kube::internal {

// A bucket that holds up to `burst` tokens and gains `qps` a second. A reservation may run it into
// debt; then it returns how long to wait until the token exists.
class TokenBucket {
 public:
  TokenBucket(double qps, int burst) : qps_(qps), burst_(burst), tokens_(burst) {}
  // Takes a token. Returns how long to wait for it; zero when there was one.
  absl::Duration Reserve(base::SteadyTime now);
  // Takes a token if there is one, and returns whether it did.
  bool TryTake(base::SteadyTime now);

 private:
  void Refill(base::SteadyTime now);

  double qps_;
  double burst_;
  double tokens_;
  base::SteadyTime refilled_at_ = base::SteadyTime::InfinitePast();
};

// Not thread-safe.
class RateLimiter {
 public:
  explicit RateLimiter(const RateLimiterOptions& options);
  // Returns the delay after one more failure of `item`.
  absl::Duration Next(const Request& item, base::SteadyTime now);
  void Forget(const Request& item) {
    if (!failures_.empty()) failures_.erase(item);
  }
  int Failures(const Request& item) const;

 private:
  const RateLimiterOptions options_;
  TokenBucket bucket_;
  absl::flat_hash_map<Request, int> failures_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_
