// The memory that all processes of a run with simulated time share: what time it is, and when each
// of them wants to be woken. `interposed_calls.cc` writes the alarms, in every process; the one
// process that drives the run reads them and moves the time (`time_driver.h`).
//
// Everything is an atomic that one side writes, so that a process that is killed leaves no lock
// behind. The file that holds it is named by the environment variable kSharedTimeVariable.
#ifndef TESTS_PROVE_TIME_SHARED_TIME_H_
#define TESTS_PROVE_TIME_SHARED_TIME_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace prove {

inline constexpr char kSharedTimeVariable[] = "PROVE_SHARED_TIME";
// The loopback address from which a process connects, so that servers can tell processes apart.
inline constexpr char kAddressVariable[] = "PROVE_ADDRESS";

inline constexpr size_t kMostProcesses = 16;
inline constexpr size_t kMostAlarms = 512;  // Of one process.

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The steady clocks begin here, in nanoseconds, because a time of zero has a meaning to timers.
inline constexpr int64_t kBeginning = 1'000'000'000'000;
// The wall clock at that moment: 2026-01-01T00:00:00Z.
inline constexpr int64_t kWallAtBeginning = 1'767'225'600'000'000'000;
// How much time each reading of a clock takes, so that no two readings are the same: names of
// events and the order of writes depend on that.
inline constexpr int64_t kReadingTakes = 50;

struct ProcessAlarms {
  std::atomic<int32_t> pid{0};  // 0: free.
  // When the process wants to be woken; kNever where an entry is not used.
  std::array<std::atomic<int64_t>, kMostAlarms> at;
  std::atomic<int64_t> wall_offset{0};  // Nanoseconds by which its wall clock is ahead.
  std::atomic<bool> stopped{false};     // By a signal: time passes without it.
};

struct SharedTime {
  std::atomic<int64_t> now{kBeginning};  // Nanoseconds of the steady clocks.
  // A futex: grows when time was moved, and every process looks which of its alarms are due.
  std::atomic<uint32_t> moves{0};
  std::array<ProcessAlarms, kMostProcesses> processes;
  std::atomic<int32_t> driver{0};  // The process that moves the time; the others die with it.
};
static_assert(std::atomic<int64_t>::is_always_lock_free);
// The layout that go/simulated_time.go states, too.
static_assert(offsetof(SharedTime, moves) == 8 && offsetof(SharedTime, processes) == 16);
static_assert(offsetof(ProcessAlarms, at) == 8 &&
              sizeof(ProcessAlarms) == 8 + 8 * kMostAlarms + 16);

}  // namespace prove

#endif  // TESTS_PROVE_TIME_SHARED_TIME_H_
