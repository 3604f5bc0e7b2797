// Idle Lua states, taken and given back without locks.
#ifndef LUA_INTERNAL_STATE_POOL_H_
#define LUA_INTERNAL_STATE_POOL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "lua/internal/state.h"

namespace lua::internal {

// Safe from any thread.
class StatePool {
 public:
  StatePool(const Setting& setting, size_t max_idle);
  ~StatePool();

  // An idle state, best the one this thread gave back last; a new one when there is none.
  absl::StatusOr<std::unique_ptr<State>> Take();
  // Keeps the state if it is reusable and there is room.
  void Give(std::unique_ptr<State> state);

 private:
  struct alignas(64) Slot {  // A cache line each.
    std::atomic<State*> state{nullptr};
  };
  size_t FirstSlot() const;

  const Setting& setting_;
  std::vector<Slot> slots_;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_STATE_POOL_H_
