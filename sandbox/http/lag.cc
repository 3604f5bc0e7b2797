#include "sandbox/http/lag.h"

#include <algorithm>
#include <utility>

#include "sandbox/http/held_watch.h"

namespace sandbox {

int64_t Lag::version() const {
  absl::MutexLock lock(&mu_);
  return version_;
}

void Lag::MoveTo(int64_t version) {
  std::vector<std::weak_ptr<HeldWatch>> watches;
  std::vector<Waiter> reached;
  {
    absl::MutexLock lock(&mu_);
    if (version <= version_) return;
    version_ = version;
    watches = watches_;
    const auto first = std::stable_partition(waiters_.begin(), waiters_.end(),
                                             [&](const Waiter& w) { return w.version > version; });
    std::move(first, waiters_.end(), std::back_inserter(reached));
    waiters_.erase(first, waiters_.end());
  }
  for (const Waiter& waiter : reached) waiter.hold->Release();
  for (const auto& weak : watches) {
    if (const auto watch = weak.lock()) watch->Pump();
  }
}

void Lag::Attach(std::weak_ptr<HeldWatch> watch) {
  absl::MutexLock lock(&mu_);
  watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                [](const auto& weak) { return weak.expired(); }),
                 watches_.end());
  watches_.push_back(std::move(watch));
}

void Lag::ReleaseAt(int64_t version, std::shared_ptr<Hold> hold) {
  {
    absl::MutexLock lock(&mu_);
    if (version > version_) {
      waiters_.push_back({version, std::move(hold)});
      return;
    }
  }
  hold->Release();
}

}  // namespace sandbox
