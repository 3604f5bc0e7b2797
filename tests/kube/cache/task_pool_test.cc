#include "kube/cache/internal/task_pool.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube::internal {
namespace {

using tests::Eventually;

TEST_CASE("tasks run when their time has come") {
  tests::FakeClock clock;
  TaskPool pool(clock, 2);
  TaskPool::Lane lane(pool);
  std::atomic<int> ran = 0;
  lane.RunAt(clock.SteadyNow(), [&] { ++ran; });
  lane.RunAt(clock.SteadyNow() + absl::Seconds(5), [&] { ran += 10; });
  REQUIRE(Eventually([&] { return ran == 1; }));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(4));
  CHECK(ran == 1);
  clock.Advance(absl::Seconds(1));
  CHECK(Eventually([&] { return ran == 11; }));
}

// A task that waits until the test lets it end.
struct Blocker {
  absl::Notification started, release;
  std::function<void()> Task() {
    return [this] {
      started.Notify();
      release.WaitForNotification();
    };
  }
};

TEST_CASE("a task that takes long does not hold up other lanes, nor many of them all threads") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  std::vector<std::unique_ptr<TaskPool::Lane>> slow;
  std::vector<std::unique_ptr<Blocker>> blockers;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(std::make_unique<TaskPool::Lane>(pool));
    blockers.push_back(std::make_unique<Blocker>());
    slow.back()->RunAt(clock.SteadyNow(), blockers.back()->Task());
  }
  for (int i = 0; i < 3; ++i) blockers[i]->started.WaitForNotification();
  CHECK_FALSE(blockers[3]->started.HasBeenNotified());

  // A lane whose last task was quick gets the last thread.
  blockers[0]->release.Notify();
  std::atomic<int> ran = 0;
  REQUIRE(Eventually([&] { return blockers[3]->started.HasBeenNotified(); }));
  slow[0]->RunAt(clock.SteadyNow(), [&] { ++ran; });
  CHECK(Eventually([&] { return ran == 1; }));
  for (size_t i = 1; i < blockers.size(); ++i) blockers[i]->release.Notify();
  for (auto& lane : slow) lane->Stop();
  CHECK(pool.threads() <= 4);
}

TEST_CASE("a lane whose tasks are quick runs two at once, a slow one one") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  TaskPool::Lane lane(pool);
  Blocker first, second, third;
  std::atomic<bool> quick = false;
  lane.RunAt(clock.SteadyNow(), [&] { quick = true; });
  REQUIRE(Eventually([&] { return quick.load(); }));
  lane.RunAt(clock.SteadyNow(), first.Task());
  lane.RunAt(clock.SteadyNow(), second.Task());
  first.started.WaitForNotification();
  second.started.WaitForNotification();
  lane.RunAt(clock.SteadyNow(), third.Task());
  CHECK_FALSE(third.started.HasBeenNotified());
  clock.Advance(absl::Seconds(3));
  // The first task took three seconds, so the lane also waits for the end of the second.
  first.release.Notify();
  CHECK_FALSE(third.started.WaitForNotificationWithTimeout(absl::Milliseconds(20)));
  second.release.Notify();
  third.started.WaitForNotification();
  third.release.Notify();
}

// Advances the clock until `ran`.
bool RunsInTime(tests::FakeClock& clock, const std::atomic<bool>& ran) {
  return Eventually([&] {
    clock.Advance(absl::Milliseconds(100));
    return ran.load();
  });
}

TEST_CASE("a task that comes while another takes long runs at its time") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  TaskPool::Lane slow(pool), other(pool);
  Blocker blocker;
  std::atomic<bool> ran = false;
  slow.RunAt(clock.SteadyNow() + absl::Seconds(1), blocker.Task());
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(1));
  blocker.started.WaitForNotification();
  other.RunAt(clock.SteadyNow() + absl::Seconds(1), [&] { ran = true; });
  CHECK(RunsInTime(clock, ran));
  blocker.release.Notify();
}

TEST_CASE("a task that waits for its time runs then though the one before takes long") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  TaskPool::Lane slow(pool), other(pool);
  Blocker blocker;
  std::atomic<bool> ran = false;
  slow.RunAt(clock.SteadyNow() + absl::Seconds(1), blocker.Task());
  clock.AwaitWaiters(1);
  other.RunAt(clock.SteadyNow() + absl::Seconds(2), [&] { ran = true; });
  clock.Advance(absl::Seconds(1));
  blocker.started.WaitForNotification();
  CHECK(RunsInTime(clock, ran));
  blocker.release.Notify();
}

TEST_CASE("idle threads take the task whose time comes before they would end") {
  tests::FakeClock clock;
  TaskPool pool(clock, 5);
  std::vector<std::unique_ptr<TaskPool::Lane>> lanes;
  std::vector<std::unique_ptr<Blocker>> blockers;
  for (int i = 0; i < 3; ++i) {
    lanes.push_back(std::make_unique<TaskPool::Lane>(pool));
    blockers.push_back(std::make_unique<Blocker>());
    lanes.back()->RunAt(clock.SteadyNow(), blockers.back()->Task());
  }
  for (auto& blocker : blockers) blocker->started.WaitForNotification();
  for (auto& blocker : blockers) blocker->release.Notify();
  clock.AwaitWaiters(3);

  const base::SteadyTime began = clock.SteadyNow();
  TaskPool::Lane slow(pool), other(pool);
  Blocker blocker;
  slow.RunAt(began + absl::Seconds(1), blocker.Task());
  clock.AwaitWaiters(3);
  clock.Advance(absl::Seconds(1));
  blocker.started.WaitForNotification();
  std::atomic<bool> ran = false;
  other.RunAt(began + absl::Seconds(2), [&] { ran = true; });
  CHECK(Eventually([&] {
    if (clock.SteadyNow() < began + absl::Seconds(50)) clock.Advance(absl::Milliseconds(100));
    return ran.load();
  }));
  blocker.release.Notify();
}

TEST_CASE("a stop drops what a lane has not begun, and waits for what it runs") {
  tests::FakeClock clock;
  std::atomic<bool> ran = false, ended = false;
  TaskPool pool(clock, 2);
  TaskPool::Lane lane(pool), other(pool);
  Blocker running;
  lane.RunAt(clock.SteadyNow(), [&] {
    running.Task()();
    ended = true;
  });
  lane.RunAt(clock.SteadyNow() + absl::Hours(1), [&] { ran = true; });
  running.started.WaitForNotification();
  std::thread stopper([&] {
    lane.Stop();
    CHECK(ended);
  });
  running.release.Notify();
  stopper.join();
  lane.RunAt(clock.SteadyNow(), [&] { ran = true; });
  CHECK_FALSE(ran);

  std::atomic<bool> other_ran = false;
  other.RunAt(clock.SteadyNow(), [&] { other_ran = true; });
  CHECK(Eventually([&] { return other_ran.load(); }));
}

TEST_CASE("threads without work end, but for one while a task waits for its time") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  TaskPool::Lane a(pool), b(pool), c(pool);
  Blocker first, second;
  a.RunAt(clock.SteadyNow(), first.Task());
  b.RunAt(clock.SteadyNow(), second.Task());
  first.started.WaitForNotification();
  second.started.WaitForNotification();
  std::atomic<bool> ran = false;
  c.RunAt(clock.SteadyNow() + absl::Minutes(10), [&] { ran = true; });
  first.release.Notify();
  second.release.Notify();
  CHECK(Eventually([&] {
    if (clock.SteadyNow() < base::SteadyTime::At(absl::Minutes(8)))
      clock.Advance(absl::Seconds(10));
    return pool.threads() == 1;
  }));
  CHECK_FALSE(ran);
  clock.Advance(absl::Minutes(10));
  CHECK(Eventually([&] { return ran.load(); }));
  CHECK(Eventually([&] {
    clock.Advance(absl::Minutes(1));
    return pool.threads() == 0;
  }));
}

}  // namespace
}  // namespace kube::internal
