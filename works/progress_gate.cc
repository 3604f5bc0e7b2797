#include "works/progress_gate.h"

#include <algorithm>

namespace works {

absl::Duration ProgressGate::HoldAt(base::SteadyTime now, base::SteadyTime since) const {
  const absl::Duration age = now - since;
  if (age < kProgressHold) return kProgressHold - age;
  const bool within_rate = rate_.WaitFor(now) == absl::ZeroDuration();
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
  if (hold == absl::ZeroDuration()) rate_.Reserve(now);
  return hold;
}

}  // namespace works
