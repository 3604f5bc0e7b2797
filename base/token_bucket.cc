#include "base/token_bucket.h"

#include <algorithm>

namespace base {

double TokenBucket::TokensAt(SteadyTime now) const {
  if (now <= filled_at_) return tokens_;
  return std::min(burst_, tokens_ + absl::ToDoubleSeconds(now - filled_at_) * qps_);
}

absl::Duration TokenBucket::WaitFor(SteadyTime now) const {
  const double missing = 1 - TokensAt(now);
  return missing <= 0 ? absl::ZeroDuration() : absl::Seconds(missing / qps_);
}

absl::Duration TokenBucket::Reserve(SteadyTime now) {
  const absl::Duration wait = WaitFor(now);
  tokens_ = TokensAt(now) - 1;
  filled_at_ = std::max(filled_at_, now);
  return wait;
}

bool TokenBucket::TryTake(SteadyTime now) {
  if (TokensAt(now) < 1) return false;
  Reserve(now);
  return true;
}

}  // namespace base
