// Determines how long a failed item waits before it is tried again.
#ifndef KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_
#define KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/token_bucket.h"
#include "kube/runtime/work_queue.h"

namespace kube::internal {

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
  std::optional<base::TokenBucket> bucket_;  // Of all items; without one there is no common limit.
  absl::flat_hash_map<Request, int> failures_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_RATE_LIMITER_H_
