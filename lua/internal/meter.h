// Bounds one run of a script, and measures what it used: time, memory, work done in C++.
//
// Time is checked by LuaJIT's count hook, by the allocator for large blocks, and by our own
// functions through Charge. The bound is on the CPU time of the thread. Asking for that costs a
// system call, so the steady clock is read first, and the CPU clock only once enough time has
// passed that the bound could be broken. Once a bound is broken the hook fires at every instruction
// and raises, so that no pcall of the script gets any further.
#ifndef LUA_INTERNAL_METER_H_
#define LUA_INTERNAL_METER_H_

#include <lua.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "lua/internal/heap.h"
#include "lua/script_runner.h"

namespace lua::internal {

// The bound that ended a run.
enum class End { kNone, kTime, kMemory, kBlock, kResult };

// A place in the script; unknown if `line` is 0.
struct Position {
  int line = 0;
  char function[64] = "";  // Empty: the called function, or none.
};

// REQUIRES: one thread at a time. Functions that take a lua_State may raise a Lua error unless
// their comment says that they do not.
class Meter {
 public:
  // Must be called once for a new state; its allocator must be Allocate, and its user data must
  // lead to this object.
  void Attach(lua_State* state);

  // Begins a run, whose bounds hold until Finish. Neither function raises.
  void Begin(const Budget& budget);
  Usage Finish();

  // Adds up work that the hook does not see, and ends the run when its time is over.
  void Charge(lua_State* state, size_t steps) {
    steps_ += steps;
    if (steps_ >= kStepsBetweenLooks) LookAtClock(state);
  }
  // Adds up bytes of JSON in results.
  void ChargeResult(lua_State* state, size_t bytes) {
    result_bytes_ += bytes;
    if (result_bytes_ > budget_.result) Stop(state, End::kResult);
  }
  // ForgetResultSince takes back what was charged since result_bytes() was `before`.
  size_t result_bytes() const { return result_bytes_; }
  void ForgetResultSince(size_t before) { result_bytes_ = before; }
  // Counts bytes that the run makes the host keep outside of Lua's heap as memory of the run.
  void ChargeKept(lua_State* state, size_t bytes) {
    if (bytes > memory_limit_ || heap_.held() > memory_limit_ - bytes) Stop(state, End::kMemory);
    memory_limit_ -= bytes;
    look_above_ = std::min(look_above_, memory_limit_);
  }
  // Must be called by functions that call back into Lua; raises when the C stack is too deep.
  void CheckStack(lua_State* state) const;
  // Returns whether the time is over; then the run is ended. Does not raise.
  bool TimeIsUp();
  [[noreturn]] void Stop(lua_State* state, End why);
  // Raises again when a bound was broken. Code that catches errors must call it.
  void Rethrow(lua_State* state);
  // Marks the run as ended. Does not raise.
  void SetEnd(End why);

  End ended() const { return ended_; }
  // The limit that was broken if ended() is End::kTime.
  absl::Duration time_limit() const {
    return by_wall_ ? std::max(budget_.wall, budget_.time) : budget_.time;
  }
  const Budget& budget() const { return budget_; }
  // Records the innermost Lua function; only the first call in a run counts. Does not raise.
  void NotePosition(lua_State* state);
  const Position& position() const { return position_; }

  void* Allocate(void* block, size_t old_size, size_t new_size);
  const Heap& heap() const { return heap_; }
  size_t largest_block() const { return largest_block_; }  // The largest block of this run.
  // Makes the hook come more often, because the run handles blocks of this size.
  void ExpectBlocks(size_t size);

 private:
  static constexpr size_t kStepsBetweenLooks = 20000;

  static void OnCount(lua_State* state, lua_Debug* activation);
  void LookAtClock(lua_State* state);
  bool CpuTimeIsLeft(int64_t now);
  bool Admit(size_t old_size, size_t new_size);
  void CollectAll(lua_State* state);
  void SetHook(int count);

  Heap heap_;
  lua_State* state_ = nullptr;
  Budget budget_;
  // Nanoseconds of the steady clock.
  int64_t start_ = 0;
  int64_t last_call_ = 0;  // End of the wall time.
  int64_t look_at_ = 0;    // The CPU time is not over before this time.
  // Nanoseconds of the thread's CPU clock at the first look; negative before that.
  int64_t cpu_start_ = -1;
  bool by_wall_ = false;  // The wall time caused End::kTime.
  const char* stack_ = nullptr;
  End ended_ = End::kNone;
  Position position_;
  size_t steps_ = 0;
  size_t result_bytes_ = 0;
  size_t held_before_ = 0;
  size_t allocated_before_ = 0;
  size_t memory_limit_ = SIZE_MAX;   // The limit for heap_.held().
  size_t collect_above_ = SIZE_MAX;  // The collector works from here on.
  size_t look_above_ = SIZE_MAX;     // The smaller of both.
  // From here on, large blocks make the collector do all its work.
  size_t collect_all_above_ = SIZE_MAX;
  bool collect_all_ = false;  // The collector does all its work at the next instruction.
  size_t largest_block_ = 0;
  int hook_count_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_METER_H_
