#include "lua/internal/state_pool.h"

#include <functional>
#include <thread>

namespace lua::internal {

StatePool::StatePool(const Setting& setting, size_t max_idle, metrics::Registry* registry)
    : setting_(setting), counters_(CountersOf(registry)), slots_(max_idle) {}

StatePool::~StatePool() {
  for (Slot& slot : slots_) delete slot.state.load();
}

StatePool::Counters StatePool::CountersOf(metrics::Registry* registry) {
  if (registry == nullptr) return {};
  const auto counter = [&](const char* name, const char* help, const char* label,
                           const char* value) {
    return &registry->GetCounter(name, help, {{"name", "luavm"}, {label, value}});
  };
  constexpr char kGet[] = "pool_get_operation_total";
  constexpr char kGetHelp[] =
      "Number of Lua states taken from the pool, or made because it was empty.";
  constexpr char kPut[] = "pool_put_operation_total";
  constexpr char kPutHelp[] = "Number of Lua states given back to the pool, or destroyed.";
  return {.from_pool = counter(kGet, kGetHelp, "from", "pool"),
          .from_new = counter(kGet, kGetHelp, "from", "new"),
          .to_pool = counter(kPut, kPutHelp, "to", "pool"),
          .to_destroyed = counter(kPut, kPutHelp, "to", "destroyed")};
}

size_t StatePool::FirstSlot() const {
  const size_t hash = std::hash<std::thread::id>()(std::this_thread::get_id());
  // Ids are addresses, whose low bits are alike.
  return (hash ^ (hash >> 12) ^ (hash >> 24)) % slots_.size();
}

absl::StatusOr<std::unique_ptr<State>> StatePool::Take() {
  const size_t first = slots_.empty() ? 0 : FirstSlot();
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::atomic<State*>& slot = slots_[(first + i) % slots_.size()].state;
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    State* state = slot.exchange(nullptr, std::memory_order_acquire);
    if (state == nullptr) continue;
    Count(counters_.from_pool);
    return std::unique_ptr<State>(state);
  }
  Count(counters_.from_new);
  return State::New(setting_);
}

void StatePool::Give(std::unique_ptr<State> state) {
  if (!state->reusable()) return Count(counters_.to_destroyed);
  const size_t first = slots_.empty() ? 0 : FirstSlot();
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::atomic<State*>& slot = slots_[(first + i) % slots_.size()].state;
    State* none = nullptr;
    if (slot.compare_exchange_strong(none, state.get(), std::memory_order_release,
                                     std::memory_order_relaxed)) {
      state.release();
      return Count(counters_.to_pool);
    }
  }
  Count(counters_.to_destroyed);
}

}  // namespace lua::internal
