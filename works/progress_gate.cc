#include "works/progress_gate.h"

#include <algorithm>

namespace works {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(1000 / kProgressWritesPerSecond);

}  // namespace

absl::Duration ProgressGate::HoldAt(base::SteadyTime now, base::SteadyTime since) const {
  const absl::Duration age = now - since;
  if (age < kProgressHold) return kProgressHold - age;
  const bool within_rate = paid_until_ - now <= (kProgressBurst - 1) * kInterval;
  if (within_rate || age >= kLongestProgressHold) return absl::ZeroDuration();
  return std::min(kProgressHold, kLongestProgressHold - age);
}

absl::Duration ProgressGate::Look(base::SteadyTime since) const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  return HoldAt(now, since);
}

absl::Duration ProgressGate::HoldFor(base::SteadyTime since) {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  const absl::Duration hold = HoldAt(now, since);
  if (hold == absl::ZeroDuration()) paid_until_ = std::max(paid_until_, now) + kInterval;
  return hold;
}

}  // namespace works
