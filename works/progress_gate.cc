#include "works/progress_gate.h"

#include <algorithm>

namespace works {

absl::Duration ProgressGate::HoldFor(base::SteadyTime since) {
  const absl::Duration interval = absl::Seconds(1) / kProgressWritesPerSecond;
  const base::SteadyTime now = clock_.SteadyNow();
  const absl::Duration age = now - since;
  if (age < kProgressHold) return kProgressHold - age;
  absl::MutexLock lock(&mu_);
  const base::SteadyTime paid_until = std::max(paid_until_, now);
  const bool within_rate = paid_until - now <= (kProgressBurst - 1) * interval;
  if (!within_rate && age < kLongestProgressHold) {
    return std::min(kProgressHold, kLongestProgressHold - age);
  }
  paid_until_ = paid_until + interval;
  return absl::ZeroDuration();
}

}  // namespace works
