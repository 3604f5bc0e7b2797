// The decisions: a random number for each call, from which follow a yield, a short or a long sleep,
// or most often nothing. How often each of them happens is chosen by the seed, so that one seed
// holds threads up often and briefly, and another one rarely and for long. At the end the process
// adds a line with how often it was held up, and for how long, to the file that NOISE_COUNTS names.
#include "tests/noise/pauses.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace noise {
namespace {

constexpr int64_t kMicrosecond = 1'000;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;

// A step of SplitMix64.
uint64_t Mix(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// How this process is disturbed. All zero, which is how it begins, means not at all.
struct Plan {
  bool on = false;
  uint64_t seed = 0;
  // One call of so many yields, sleeps briefly, sleeps long. Powers of two.
  uint32_t yields = 0;
  uint32_t naps = 0;
  uint32_t sleeps = 0;
  int64_t longest_nap = 0;  // In nanoseconds, as the next one.
  int64_t longest_sleep = 0;
};

Plan PlanFromEnvironment() {
  Plan plan;
  const char* text = std::getenv("NOISE_SEED");
  if (text == nullptr || *text == '\0') return plan;
  plan.on = true;
  plan.seed = std::strtoull(text, nullptr, 10);
  uint64_t state = plan.seed;
  plan.yields = 4u << (Mix(state) % 4);
  plan.naps = 8u << (Mix(state) % 5);
  plan.sleeps = 64u << (Mix(state) % 5);
  plan.longest_nap = 50 * kMicrosecond << (Mix(state) % 5);
  plan.longest_sleep = 5 * kMillisecond << (Mix(state) % 4);
  return plan;
}

constinit Plan plan;
constinit std::atomic<uint32_t> threads{1};  // The first thread has number 0.
// How often threads have yielded and slept, and for how many nanoseconds they have slept.
constinit std::atomic<uint64_t> yields{0}, sleeps{0}, slept{0};

struct Thread {
  bool begun = false;
  bool slow = false;
  uint64_t state = 0;
  int64_t may_sleep_at = 0;  // On the monotonic clock, in nanoseconds.
};
constinit thread_local Thread self;

__attribute__((constructor)) void ReadEnvironment() { plan = PlanFromEnvironment(); }

__attribute__((destructor)) void WriteCounts() {
  const char* const path = std::getenv("NOISE_COUNTS");
  if (!plan.on || path == nullptr) return;
  char line[100];
  const int size = std::snprintf(line, sizeof(line), "yields=%ju sleeps=%ju slept_ms=%ju\n",
                                 static_cast<uintmax_t>(yields), static_cast<uintmax_t>(sleeps),
                                 static_cast<uintmax_t>(slept / kMillisecond));
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  // Whoever reads the file misses a line that could not be written.
  [[maybe_unused]] const ssize_t written = write(file, line, static_cast<size_t>(size));
  close(file);
}

int64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Sleeps up to `longest`, unless the thread has slept for half of the recent time.
void Sleep(int64_t longest) {
  const int64_t began = MonotonicNow();
  if (began < self.may_sleep_at) return;
  const int64_t span = static_cast<int64_t>(Mix(self.state) % static_cast<uint64_t>(longest));
  const timespec wait{span / kSecond, span % kSecond};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
  const int64_t ended = MonotonicNow();
  sleeps.fetch_add(1, std::memory_order_relaxed);
  slept.fetch_add(static_cast<uint64_t>(ended - began), std::memory_order_relaxed);
  self.may_sleep_at = ended + (ended - began);
}

}  // namespace

void Pause() {
  if (!plan.on) return;
  const int kept = errno;
  if (!self.begun) BeginThread(0);
  const uint64_t drawn = Mix(self.state);
  const uint32_t often = self.slow ? 4 : 1;
  if (drawn % (plan.sleeps / often) == 0) {
    Sleep(plan.longest_sleep);
  } else if (drawn % (plan.naps / often) == 0) {
    Sleep(plan.longest_nap);
  } else if (drawn % (plan.yields / often) == 0) {
    yields.fetch_add(1, std::memory_order_relaxed);
    sched_yield();
  }
  errno = kept;
}

void Oversleep() {
  if (!plan.on) return;
  const int kept = errno;
  if (!self.begun) BeginThread(0);
  const uint64_t drawn = Mix(self.state) % 8;
  if (drawn == 0) {
    Sleep(plan.longest_sleep);
  } else if (drawn < 4) {
    Sleep(plan.longest_nap);
  }
  errno = kept;
}

uint32_t NextThread() { return threads.fetch_add(1, std::memory_order_relaxed); }

void BeginThread(uint32_t number) {
  if (!plan.on) return;
  self.begun = true;
  self.state = plan.seed ^ (uint64_t{number} << 32);
  self.slow = Mix(self.state) % 4 == 0;
  // On Linux this is the priority of the calling thread alone. Threads that it creates inherit it.
  if (self.slow) setpriority(PRIO_PROCESS, 0, static_cast<int>(Mix(self.state) % 6));
}

}  // namespace noise
