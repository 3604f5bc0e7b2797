#include "kube/runtime/internal/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace kube::internal {

void TokenBucket::Refill(base::SteadyTime now) {
  if (now > refilled_at_) {
    const double gained = absl::ToDoubleSeconds(now - refilled_at_) * qps_;
    tokens_ = std::min(burst_, tokens_ + gained);
    refilled_at_ = now;
  }
}

absl::Duration TokenBucket::Reserve(base::SteadyTime now) {
  Refill(now);
  tokens_ -= 1;
  return tokens_ >= 0 ? absl::ZeroDuration() : absl::Seconds(-tokens_ / qps_);
}

bool TokenBucket::TryTake(base::SteadyTime now) {
  Refill(now);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

RateLimiter::RateLimiter(const RateLimiterOptions& options)
    : options_(options), bucket_(options.qps, options.burst) {}

absl::Duration RateLimiter::Next(const Request& item, base::SteadyTime now) {
  const int failures_before = failures_[item]++;
  // 2^60 base delays exceed any maximum; a larger exponent would only risk an infinity times zero.
  const double factor = std::ldexp(1.0, std::min(failures_before, 60));
  const absl::Duration own = std::min(options_.max_delay, options_.base_delay * factor);
  if (options_.qps <= 0) return own;
  return std::max(own, bucket_.Reserve(now));
}

int RateLimiter::Failures(const Request& item) const {
  const auto it = failures_.find(item);
  return it == failures_.end() ? 0 : it->second;
}

}  // namespace kube::internal
