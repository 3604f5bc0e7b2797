#include "lua/internal/state_pool.h"

#include <functional>
#include <thread>

namespace lua::internal {

StatePool::StatePool(const Setting& setting, size_t max_idle)
    : setting_(setting), slots_(max_idle) {}

StatePool::~StatePool() {
  for (Slot& slot : slots_) delete slot.state.load();
}

size_t StatePool::FirstSlot() const {
  const size_t hash = std::hash<std::thread::id>()(std::this_thread::get_id());
  // Ids are addresses: their low bits are alike.
  return (hash ^ (hash >> 12) ^ (hash >> 24)) % slots_.size();
}

absl::StatusOr<std::unique_ptr<State>> StatePool::Take() {
  const size_t first = slots_.empty() ? 0 : FirstSlot();
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::atomic<State*>& slot = slots_[(first + i) % slots_.size()].state;
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    State* state = slot.exchange(nullptr, std::memory_order_acquire);
    if (state != nullptr) return std::unique_ptr<State>(state);
  }
  return State::New(setting_);
}

void StatePool::Give(std::unique_ptr<State> state) {
  if (!state->reusable()) return;
  const size_t first = slots_.empty() ? 0 : FirstSlot();
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::atomic<State*>& slot = slots_[(first + i) % slots_.size()].state;
    State* none = nullptr;
    if (slot.compare_exchange_strong(none, state.get(), std::memory_order_release,
                                     std::memory_order_relaxed)) {
      state.release();
      return;
    }
  }
}

}  // namespace lua::internal
