#include "controllers/taint_manager/eviction_pace.h"

#include <algorithm>

namespace controllers {

absl::Duration EvictionPace::AfterEviction() {
  const absl::Duration own = rate_ > 0 ? absl::Seconds(1) / rate_ : kLongestPause;
  absl::MutexLock lock(&mu_);
  return std::max({own, of_all_.Reserve(clock_.SteadyNow()), limits_.base_delay});
}

}  // namespace controllers
