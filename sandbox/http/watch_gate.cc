#include "sandbox/http/watch_gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sandbox/http/held_watch.h"

namespace sandbox {

void WatchGate::Hold() { open_ = false; }

void WatchGate::Open() {
  open_ = true;
  for (const auto& watch : Watches()) watch->Pump();
}

int WatchGate::Release(int count) {
  int released = 0;
  for (; released < count; ++released) {
    std::shared_ptr<HeldWatch> oldest;
    int64_t oldest_version = 0;
    for (const auto& watch : Watches()) {
      const std::optional<int64_t> version = watch->NextVersion();
      if (!version.has_value() || (oldest != nullptr && *version >= oldest_version)) continue;
      oldest = watch;
      oldest_version = *version;
    }
    if (oldest == nullptr || !oldest->PassOne()) break;
  }
  return released;
}

std::vector<Delivery> WatchGate::Held() const {
  std::vector<Delivery> out;
  for (const auto& watch : Watches()) {
    for (Delivery& delivery : watch->Held()) out.push_back(std::move(delivery));
  }
  return out;
}

void WatchGate::Expire() {
  for (const auto& watch : Watches()) watch->Expire();
}

void WatchGate::Cut() {
  for (const auto& watch : Watches()) watch->Cut();
}

int WatchGate::watches() const { return static_cast<int>(Watches().size()); }

void WatchGate::Attach(std::weak_ptr<HeldWatch> watch) {
  absl::MutexLock lock(&mu_);
  watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                [](const auto& weak) { return weak.expired(); }),
                 watches_.end());
  watches_.push_back(std::move(watch));
}

std::vector<std::shared_ptr<HeldWatch>> WatchGate::Watches() const {
  std::vector<std::shared_ptr<HeldWatch>> out;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& weak : watches_) {
      if (auto watch = weak.lock()) out.push_back(std::move(watch));
    }
  }
  // Without the lock: a watch asks its gate while it holds its own.
  out.erase(
      std::remove_if(out.begin(), out.end(), [](const auto& watch) { return watch->ended(); }),
      out.end());
  return out;
}

}  // namespace sandbox
