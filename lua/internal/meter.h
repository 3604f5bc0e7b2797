// The bounds of one run of a script, and what it used: time, memory, work done in C++.
//
// Time is looked at by LuaJIT's count hook, by the allocator for large blocks, and by our own
// functions through Charge. What counts is the CPU time of the thread, which costs a system call to
// ask for; so the steady clock is looked at first, and the other one only once so much time has
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

// Why a run was ended from outside.
enum class End { kNone, kTime, kMemory, kBlock, kResult };

// Where in the script something happened. Line 0: nowhere in particular.
struct Position {
  int line = 0;
  char function[64] = "";  // Empty: the function that was called, or none.
};

// One thread at a time. Functions that take a lua_State may raise a Lua error unless they say not.
class Meter {
 public:
  // Takes charge of a state that has just been made; its allocator must be Allocate, and its user
  // data know `this`.
  void Attach(lua_State* state);

  // The run begins; until Finish its bounds hold. Do not raise.
  void Begin(const Budget& budget);
  Usage Finish();

  // Adds up work that no hook sees, and ends the run when its time is over.
  void Charge(lua_State* state, size_t steps) {
    steps_ += steps;
    if (steps_ >= kStepsBetweenLooks) LookAtClock(state);
  }
  // Adds up bytes of JSON that results will become.
  void ChargeResult(lua_State* state, size_t bytes) {
    result_bytes_ += bytes;
    if (result_bytes_ > budget_.result) Stop(state, End::kResult);
  }
  // Forgets bytes charged since `before` of them: what they were charged for is gone.
  size_t result_bytes() const { return result_bytes_; }
  void ForgetResultSince(size_t before) { result_bytes_ = before; }
  // Counts bytes that the run makes the host keep outside of Lua's heap as memory of the run.
  void ChargeKept(lua_State* state, size_t bytes) {
    if (bytes > memory_limit_ || heap_.held() > memory_limit_ - bytes) Stop(state, End::kMemory);
    memory_limit_ -= bytes;
    look_above_ = std::min(look_above_, memory_limit_);
  }
  // Is called by a function that calls back into Lua; refuses when the C stack is too deep.
  void CheckStack(lua_State* state) const;
  // Returns whether the time is over, in which case the run is ended. Does not raise.
  bool TimeIsUp();
  [[noreturn]] void Stop(lua_State* state, End why);
  // Raises again when a bound was broken: for code that catches errors.
  void Rethrow(lua_State* state);
  // Marks the run as ended. Does not raise.
  void SetEnd(End why);

  End ended() const { return ended_; }
  // The limit that End::kTime is about.
  absl::Duration time_limit() const {
    return by_wall_ ? std::max(budget_.wall, budget_.time) : budget_.time;
  }
  const Budget& budget() const { return budget_; }
  // The innermost Lua function now; the first call in a run counts. Does not raise.
  void NotePosition(lua_State* state);
  const Position& position() const { return position_; }

  void* Allocate(void* block, size_t old_size, size_t new_size);
  const Heap& heap() const { return heap_; }
  size_t largest_block() const { return largest_block_; }  // The largest of this run.
  // What a run that handles blocks of this size has to expect: the hook comes more often.
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
  int64_t last_call_ = 0;  // When the wall time is over.
  int64_t look_at_ = 0;    // The CPU time cannot be over before.
  // Nanoseconds of the thread's CPU clock at the first look; negative before that.
  int64_t cpu_start_ = -1;
  bool by_wall_ = false;  // End::kTime: it was the wall time.
  const char* stack_ = nullptr;
  End ended_ = End::kNone;
  Position position_;
  size_t steps_ = 0;
  size_t result_bytes_ = 0;
  size_t held_before_ = 0;
  size_t allocated_before_ = 0;
  size_t memory_limit_ = SIZE_MAX;       // What heap_.held() may come to.
  size_t collect_above_ = SIZE_MAX;      // Where the garbage collector starts to work.
  size_t look_above_ = SIZE_MAX;         // The smaller of the two.
  size_t collect_all_above_ = SIZE_MAX;  // Where large blocks have it do all its work at once.
  bool collect_all_ = false;             // At the next instruction.
  size_t largest_block_ = 0;
  int hook_count_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_METER_H_
