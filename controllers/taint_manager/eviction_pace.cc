#include "controllers/taint_manager/eviction_pace.h"

#include <algorithm>

namespace controllers {

absl::Duration EvictionPace::AfterEviction() {
  const absl::Duration own = rate_ > 0 ? absl::Seconds(1) / rate_ : kLongestPause;
  absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  const double added = absl::ToDoubleSeconds(now - filled_) * limits_.qps;
  tokens_ = std::min<double>(limits_.bucket_size, tokens_ + added) - 1;
  filled_ = now;
  const absl::Duration shared =
      tokens_ >= 0 ? absl::ZeroDuration() : absl::Seconds(-tokens_ / limits_.qps);
  return std::max({own, shared, limits_.base_delay});
}

}  // namespace controllers
