// A broken bound ends a run in this way. It is found by the count hook, which LuaJIT calls after a
// number of instructions; by the allocator; or by a function of ours that charges its steps. SetEnd
// records the reason and sets the hook to every instruction. From then on the hook raises a value
// that no script can look at, through every pcall, until the run is over; meanwhile the allocator
// gives a little more than the bound, so that the error can be reported.
//
// Garbage is not collected during most runs. From some megabytes on LuaJIT's collector works, and
// large blocks make it do all its work at once, at the next instruction (collect_all_).

#include "lua/internal/meter.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>

#include "absl/base/optimization.h"
#include "lua/internal/library_tables.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

constexpr int kHookCount = 1000;
// From this size on the allocator checks the bounds: an instruction that handles such a block may
// take long.
constexpr size_t kLargeBlock = size_t{64} << 10;
// A run may leave this much garbage before the collector works during the run. Most runs leave
// less, and their garbage is collected once for many runs (State::Settle).
constexpr size_t kGarbageOfRun = size_t{4} << 20;
// The collector works in steps, one per allocation of any size, so it falls behind when large
// blocks become garbage. Therefore it does all its work when half of the remaining room, and at
// least this many bytes, have been used.
constexpr size_t kLeastBetweenCollections = size_t{1} << 20;
// Memory beyond the bound to report that the bound is broken.
constexpr size_t kSlack = size_t{256} << 10;
// How much of the C stack calls from C++ back into Lua may use; enough for some hundred of them. A
// thread has 8 MB.
constexpr ptrdiff_t kMaxStack = 256 << 10;

int64_t CpuNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{1000000000} * now.tv_sec + now.tv_nsec;
}

int64_t AfterNanoseconds(absl::Duration duration) {
  return std::min<int64_t>(absl::ToInt64Nanoseconds(duration), INT64_MAX / 4);
}

int64_t Nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Pushes the value that the hook raises: it costs no memory, and no script can look at it.
void PushStopped(lua_State* state) {
  static char stopped;
  lua_pushlightuserdata(state, &stopped);
}

}  // namespace

void Meter::Attach(lua_State* state) {
  state_ = state;
  SetHook(kHookCount);
}

void Meter::Begin(const Budget& budget) {
  budget_ = budget;
  start_ = Nanoseconds();
  last_call_ = start_ + AfterNanoseconds(std::max(budget.wall, budget.time));
  look_at_ = 0;
  cpu_start_ = -1;
  by_wall_ = false;
  stack_ = static_cast<const char*>(__builtin_frame_address(0));
  ended_ = End::kNone;
  position_ = Position();
  steps_ = result_bytes_ = largest_block_ = 0;
  heap_.ResetPeak();
  held_before_ = heap_.held();
  allocated_before_ = heap_.allocated();
  memory_limit_ = held_before_ + budget.memory;
  collect_above_ = held_before_ + kGarbageOfRun;
  look_above_ = std::min(memory_limit_, collect_above_);
  collect_all_above_ = held_before_ + budget.memory / 2;
  collect_all_ = false;
  if (hook_count_ != kHookCount) SetHook(kHookCount);
}

Usage Meter::Finish() {
  memory_limit_ = collect_above_ = look_above_ = SIZE_MAX;
  Usage usage;
  usage.time = absl::Nanoseconds(Nanoseconds() - start_);
  usage.peak_memory = heap_.peak() - held_before_;
  usage.garbage = heap_.allocated() - allocated_before_;
  return usage;
}

void Meter::SetHook(int count) {
  hook_count_ = count;
  if (state_ != nullptr) lua_sethook(state_, &Meter::OnCount, LUA_MASKCOUNT, count);
}

void Meter::OnCount(lua_State* state, lua_Debug*) {
  Meter& meter = State::Of(state).meter();
  if (meter.collect_all_) meter.CollectAll(state);
  if (meter.ended_ == End::kNone && !meter.TimeIsUp()) return;
  meter.NotePosition(state);
  PushStopped(state);
  lua_error(state);
}

void Meter::CollectAll(lua_State* state) {
  collect_all_ = false;
  SetHook(kHookCount);
  ExpectBlocks(largest_block_);
  if (ended_ != End::kNone) return;
  lua_gc(state, LUA_GCCOLLECT, 0);
  const size_t room = memory_limit_ - std::min(heap_.held(), memory_limit_);
  collect_all_above_ = heap_.held() + std::max(room / 2, kLeastBetweenCollections);
}

bool Meter::TimeIsUp() {
  if (ended_ != End::kNone) return true;
  if (look_above_ == SIZE_MAX) return false;  // Not in a run.
  const int64_t now = Nanoseconds();
  if (now < std::min(look_at_, last_call_)) return false;
  by_wall_ = now >= last_call_;
  if (!by_wall_ && CpuTimeIsLeft(now)) return false;
  SetEnd(End::kTime);
  return true;
}

// The CPU clock is first read here. Most runs end before; those that do not have run for some
// microseconds, which are not counted.
bool Meter::CpuTimeIsLeft(int64_t now) {
  const int64_t cpu = CpuNanoseconds();
  if (cpu_start_ < 0) cpu_start_ = cpu;
  const int64_t left = AfterNanoseconds(budget_.time) - (cpu - cpu_start_);
  look_at_ = now + left;
  return left > 0;
}

void Meter::SetEnd(End why) {
  if (ended_ == End::kNone) ended_ = why;
  SetHook(1);
}

void Meter::LookAtClock(lua_State* state) {
  steps_ = 0;
  if (TimeIsUp()) Rethrow(state);
}

void Meter::Stop(lua_State* state, End why) {
  SetEnd(why);
  Rethrow(state);
  __builtin_unreachable();
}

void Meter::Rethrow(lua_State* state) {
  if (ended_ == End::kNone) return;
  NotePosition(state);
  PushStopped(state);
  lua_error(state);
}

void Meter::CheckStack(lua_State* state) const {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  const ptrdiff_t depth = stack_ > here ? stack_ - here : here - stack_;
  if (depth > kMaxStack) luaL_error(state, "stack overflow (calls through C functions)");
}

void Meter::NotePosition(lua_State* state) {
  if (position_.line != 0) return;
  lua_Debug activation;
  for (int level = 0; level < 100 && lua_getstack(state, level, &activation) != 0; ++level) {
    lua_getinfo(state, "Sl", &activation);
    // What a script gives to a library is the script's fault.
    if (activation.currentline <= 0 || IsLibraryChunk(activation.source)) continue;
    position_.line = activation.currentline;
    const bool main = std::strcmp(activation.what, "main") == 0;
    lua_getinfo(state, "n", &activation);
    const char* name = main ? "the main chunk" : activation.name;
    if (name != nullptr) std::strncpy(position_.function, name, sizeof position_.function - 1);
    return;
  }
}

void* Meter::Allocate(void* block, size_t old_size, size_t new_size) {
  if (block == nullptr) old_size = 0;
  if (new_size > old_size) {
    const bool look = heap_.held() + (new_size - old_size) > look_above_ || new_size > kLargeBlock;
    if (ABSL_PREDICT_FALSE(look) && !Admit(old_size, new_size)) return nullptr;
  }
  return heap_.Resize(block, old_size, new_size);
}

bool Meter::Admit(size_t old_size, size_t new_size) {
  if (look_above_ == SIZE_MAX) return true;  // Not in a run.
  const size_t held = heap_.held() + (new_size - old_size);
  const size_t slack = ended_ == End::kNone ? 0 : kSlack;
  if (new_size > budget_.largest_block || held > memory_limit_ + slack) {
    if (ended_ == End::kNone) {
      NotePosition(state_);
      SetEnd(new_size > budget_.largest_block ? End::kBlock : End::kMemory);
    }
    return false;
  }
  if (held > collect_above_) {
    // Only sets a threshold; does not collect now.
    lua_gc(state_, LUA_GCRESTART, 0);
    collect_above_ = SIZE_MAX;
    look_above_ = memory_limit_;
  }
  if (new_size > kLargeBlock) ExpectBlocks(new_size);
  if (new_size > kLargeBlock && held > collect_all_above_ && !collect_all_) {
    collect_all_ = true;
    SetHook(1);
  }
  return true;
}

void Meter::ExpectBlocks(size_t size) {
  largest_block_ = std::max(largest_block_, size);
  if (size <= kLargeBlock) return;
  TimeIsUp();
  const auto count = static_cast<int>(kHookCount * kLargeBlock / size);
  if (std::max(count, 4) < hook_count_) SetHook(std::max(count, 4));
}

}  // namespace lua::internal
