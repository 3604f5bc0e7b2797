// A pool of idle Lua states without locks.
#ifndef LUA_INTERNAL_STATE_POOL_H_
#define LUA_INTERNAL_STATE_POOL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/metrics.h"
#include "lua/internal/state.h"

namespace lua::internal {

// Thread-safe.
class StatePool {
 public:
  // `registry` may be nullptr: nothing is counted. REQUIRES: `setting` and `registry` outlive the
  // pool.
  StatePool(const Setting& setting, size_t max_idle, metrics::Registry* registry);
  ~StatePool();

  // Returns an idle state, preferably the one that this thread gave back last; a new one when there
  // is none.
  absl::StatusOr<std::unique_ptr<State>> Take();
  // Keeps the state if it is reusable and there is room.
  void Give(std::unique_ptr<State> state);

 private:
  struct alignas(64) Slot {  // One cache line each.
    std::atomic<State*> state{nullptr};
  };
  // Null without a registry.
  struct Counters {
    metrics::Counter* from_pool = nullptr;
    metrics::Counter* from_new = nullptr;
    metrics::Counter* to_pool = nullptr;
    metrics::Counter* to_destroyed = nullptr;
  };
  static Counters CountersOf(metrics::Registry* registry);
  static void Count(metrics::Counter* counter) {
    if (counter != nullptr) counter->Increment();
  }
  size_t FirstSlot() const;

  const Setting& setting_;
  const Counters counters_;
  std::vector<Slot> slots_;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_STATE_POOL_H_
