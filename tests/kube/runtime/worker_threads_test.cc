#include "kube/runtime/internal/worker_threads.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/thread_stacks.h"

namespace kube::internal {
namespace {

using tests::Eventually;

// Counts the threads that have worked and ended, which may be after the end of their test.
struct Witness {
  ~Witness() { ++*threads_ended; }
  const std::shared_ptr<std::atomic<int>> threads_ended;
};

Request Item(int n) { return {.key = {"ns", std::to_string(n)}}; }

struct Fixture {
  static constexpr int kMost = 5;

  tests::FakeClock clock;
  WorkQueue queue{{.name = "q"}, clock};
  std::atomic<int> working = 0, done = 0;
  std::atomic<bool> may_finish = false;
  const std::shared_ptr<std::atomic<int>> threads_ended = std::make_shared<std::atomic<int>>(0);
  WorkerThreads threads{{kMost, kMost}, queue, [this](const WorkQueue::Taken&) {
                          thread_local const Witness witness{threads_ended};
                          ++working;
                          Eventually([this] { return may_finish.load(); });
                          --working;
                          ++done;
                        }};
  std::thread runner;

  Fixture() {
    runner = std::thread([this] { threads.Run(); });
  }
  ~Fixture() {
    may_finish = true;
    queue.ShutDown();
    runner.join();
  }
};

TEST_CASE_METHOD(Fixture, "as many threads work as there are items, up to the limit") {
  for (int n = 0; n < 2 * kMost; ++n) queue.Add(Item(n));
  CHECK(Eventually([&] { return working == kMost; }));
  CHECK(done == 0);
  may_finish = true;
  CHECK(Eventually([&] { return done == 2 * kMost && queue.Idle(); }));
}

TEST_CASE_METHOD(Fixture, "threads that were not needed for some time end, and come again") {
  for (int round = 1; round <= 2; ++round) {
    may_finish = false;
    for (int n = 0; n < kMost; ++n) queue.Add(Item(n));
    REQUIRE(Eventually([&] { return working == kMost; }));
    may_finish = true;
    REQUIRE(Eventually([&] { return done == round * kMost && queue.Idle(); }));
    // The one that runs the others stays.
    CHECK(Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return *threads_ended == round * (kMost - 1);
    }));
  }
}

struct ManyThreads {
  static constexpr int kMost = 20;
  tests::FakeClock clock;
  WorkQueue queue{{.name = "q"}, clock};
  std::atomic<int> working = 0;
  std::atomic<bool> may_finish = false;
  WorkerThreads threads{{1, kMost}, queue, [this](const WorkQueue::Taken&) {
                          ++working;
                          Eventually([this] { return may_finish.load(); });
                        }};
};

TEST_CASE_METHOD(ManyThreads, "nothing is left of threads that have ended") {
  const int before = tests::ThreadStacks();
  std::thread runner([this] { threads.Run(); });
  for (int n = 0; n < kMost; ++n) queue.Add(Item(n));
  CHECK(Eventually([&] { return working == kMost; }));
  CHECK(tests::ThreadStacks() >= before + kMost - tests::kCachedStacks);
  may_finish = true;
  CHECK(Eventually([&] { return queue.Idle(); }));
  // The thread of Run and one other stay.
  CHECK(Eventually([&] { return tests::ThreadStacks() <= before + 2 + tests::kCachedStacks; }));
  queue.ShutDown();
  runner.join();
}

}  // namespace
}  // namespace kube::internal
