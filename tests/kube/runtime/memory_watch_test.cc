#include "kube/runtime/memory_watch.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

struct Watched : tests::ManagerFixture {
  std::atomic<int64_t> used = 10 * kMebibyte;
  std::atomic<int64_t> limit = 100 * kMebibyte;
  std::atomic<int> told = 0;
  base::StopSource stop_watch;

  // Uses so much of the 100 MiB at each of the moments, five seconds apart; returns the log.
  std::string LogOf(const std::vector<int>& mebibytes) {
    Make();
    MemoryWatch watch(clock, registry,
                      {.read = [this]() -> std::optional<base::MemoryUse> {
                         if (limit == 0) return std::nullopt;
                         return base::MemoryUse{.working_set = used, .limit = limit};
                       },
                       .on_use = [this](const base::MemoryUse&) { ++told; }});
    tests::CapturedStderr log;
    used = mebibytes.front() * kMebibyte;
    std::thread runner(
        [&] { base::IgnoreError(watch.Run(stop_watch.get_token()), "it cannot fail"); });
    clock.AwaitWaiters(1);
    for (size_t i = 1; i < mebibytes.size(); ++i) {
      used = mebibytes[i] * kMebibyte;
      clock.AdvanceAndAwait(absl::Seconds(5));
      clock.AwaitWaiters(1);
    }
    stop_watch.request_stop();
    runner.join();
    return log.Text();
  }
};

size_t Count(const std::string& log, const std::string& words) {
  const std::vector<std::string> parts = absl::StrSplit(log, words);
  return parts.size() - 1;
}

constexpr char kNearlyUsedUp[] = "nearly used up";

}  // namespace

TEST_CASE_METHOD(Watched, "tight memory is not reported yet") {
  CHECK(Count(LogOf({10, 85, 89}), kNearlyUsedUp) == 0);
}

TEST_CASE_METHOD(Watched, "nine tenths of the limit are reported with both numbers") {
  const std::string log = LogOf({10, 91, 95, 92, 85, 93, 94});
  CHECK(Count(log, kNearlyUsedUp) == 1);
  CHECK(absl::StrContains(log, "usedMiB=91"));
  CHECK(absl::StrContains(log, "limitMiB=100"));
  CHECK(registry.GetGauge("karmada_memory_limit_bytes", "", {}).Value() == 100.0 * kMebibyte);
  CHECK(registry.GetGauge("karmada_memory_working_set_bytes", "", {}).Value() == 94.0 * kMebibyte);
}

TEST_CASE_METHOD(Watched, "memory that was free for a while and becomes scarce is reported again") {
  CHECK(Count(LogOf({91, 50, 91}), kNearlyUsedUp) == 2);
}

TEST_CASE_METHOD(Watched, "a limit below what the program needs is reported at the start") {
  limit = 20 * kMebibyte;
  CHECK(absl::StrContains(LogOf({1}), "limitMiB=20"));
}

TEST_CASE_METHOD(Watched, "who wants to know the use is told at each look") {
  CHECK(LogOf({10, 20, 30}).empty());
  CHECK(told == 3);
}

TEST_CASE_METHOD(Watched, "without a limit there is nothing to report, and no metric") {
  limit = 0;
  CHECK(LogOf({500, 500}).empty());
  CHECK(told == 0);
  CHECK_FALSE(absl::StrContains(registry.Expose(), "karmada_memory"));
}

// What sanitizers have in place of the allocator keeps its own counsel.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE_METHOD(Watched, "what a burst leaves behind is given back, also when it is not much") {
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    int64_t whole = 0, pages = 0;
    file >> whole >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  Make();
  MemoryWatch watch(clock, registry, {.read = [] { return std::nullopt; }});
  std::thread runner(
      [&] { base::IgnoreError(watch.Run(stop_watch.get_token()), "it cannot fail"); });
  clock.AwaitWaiters(1);
  std::vector<std::string> burst;
  for (int i = 0; i < 16 << 10; ++i) burst.emplace_back(1000, 'x');
  const std::string after(1000, 'x');  // Keeps the end of the heap.
  const int64_t before = resident();
  burst.clear();
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceAndAwait(absl::Seconds(5));
    clock.AwaitWaiters(1);
  }
  CHECK(resident() < before - 8 * kMebibyte);
  stop_watch.request_stop();
  runner.join();
}
#endif

TEST_CASE("the memory of a member is what the flag says, or a share of the limit") {
  const base::MemoryUse limited{.working_set = 10, .limit = 128 * kMebibyte};
  CHECK(MemberBytes(300, limited, kMebibyte) == 300 * kMebibyte);
  CHECK(MemberBytes(0, limited, kMebibyte) == 96 * kMebibyte);
  CHECK(MemberBytes(0, std::nullopt, 1024 * kMebibyte) == 1024 * kMebibyte);
}

}  // namespace kube
