#include "controllers/bindingstatus/write_pace.h"

#include <algorithm>
#include <cstdint>

#include "works/work_status_writer.h"

namespace controllers {

absl::Duration WritePace::PauseFor(const kube::ObjectKey& binding) const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  const auto found = pause_ends_.find(binding);
  if (found == pause_ends_.end() || found->second <= now) return absl::ZeroDuration();
  return found->second - now;
}

void WritePace::Written(const kube::ObjectKey& binding, size_t clusters) {
  const base::SteadyTime now = clock_.SteadyNow();
  const absl::Duration pause =
      std::min(kLongestPause, static_cast<int64_t>(clusters) * kPausePerCluster);
  if (pause <= works::kSettledHold) return;  // News is held for at least this time anyway.
  absl::MutexLock lock(&mu_);
  absl::erase_if(pause_ends_, [now](const auto& entry) { return entry.second <= now; });
  pause_ends_[binding] = now + pause;
}

}  // namespace controllers
