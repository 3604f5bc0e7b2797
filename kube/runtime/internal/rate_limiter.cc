#include "kube/runtime/internal/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace kube::internal {

RateLimiter::RateLimiter(const RateLimiterOptions& options) : options_(options) {
  if (options.qps > 0) bucket_.emplace(options.qps, options.burst);
}

absl::Duration RateLimiter::Next(const Request& item, base::SteadyTime now) {
  const int failures_before = failures_[item]++;
  // 2^60 base delays exceed any maximum; a larger exponent would only risk an infinity times zero.
  const double factor = std::ldexp(1.0, std::min(failures_before, 60));
  const absl::Duration own = std::min(options_.max_delay, options_.base_delay * factor);
  return bucket_.has_value() ? std::max(own, bucket_->Reserve(now)) : own;
}

int RateLimiter::Failures(const Request& item) const {
  const auto it = failures_.find(item);
  return it == failures_.end() ? 0 : it->second;
}

}  // namespace kube::internal
