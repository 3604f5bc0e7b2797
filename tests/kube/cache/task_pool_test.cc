#include "kube/cache/internal/task_pool.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/thread_stacks.h"

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

// A task that waits until the test lets it end. It may still be on its way out when the test
// destroys its Blocker, so both own what they wait with.
class Blocker {
 public:
  std::function<void()> Task() const {
    return [state = state_] {
      state->started.Notify();
      state->release.WaitForNotification();
    };
  }
  void AwaitStart() const { state_->started.WaitForNotification(); }
  bool HasStarted() const { return state_->started.HasBeenNotified(); }
  void Release() { state_->release.Notify(); }

 private:
  struct State {
    absl::Notification started, release;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
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
  for (int i = 0; i < 3; ++i) blockers[i]->AwaitStart();
  CHECK_FALSE(blockers[3]->HasStarted());

  // A lane whose last task was quick gets the last thread.
  blockers[0]->Release();
  std::atomic<int> ran = 0;
  REQUIRE(Eventually([&] { return blockers[3]->HasStarted(); }));
  slow[0]->RunAt(clock.SteadyNow(), [&] { ++ran; });
  CHECK(Eventually([&] { return ran == 1; }));
  for (size_t i = 1; i < blockers.size(); ++i) blockers[i]->Release();
  for (auto& lane : slow) lane->Stop();
  CHECK(pool.threads() <= 4 + 1);  // One keeps the time.
}

// Lanes of servers that do not answer, and a task on each.
struct Hanging {
  Hanging(TaskPool& pool, const tests::FakeClock& clock, int count) {
    for (int i = 0; i < count; ++i) {
      lanes.push_back(std::make_unique<TaskPool::Lane>(pool));
      blockers.push_back(std::make_unique<Blocker>());
      lanes.back()->RunAt(clock.SteadyNow(), blockers.back()->Task());
    }
  }
  ~Hanging() {
    for (auto& blocker : blockers) blocker->Release();
    for (auto& lane : lanes) lane->Stop();
  }
  std::vector<std::unique_ptr<TaskPool::Lane>> lanes;
  std::vector<std::unique_ptr<Blocker>> blockers;
};

TEST_CASE("more lanes that hang than threads do not hold up one that has just come") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  Hanging hanging(pool, clock, 7);
  TaskPool::Lane fresh(pool);
  std::atomic<bool> ran = false;
  fresh.RunAt(clock.SteadyNow(), [&] { ran = true; });
  for (int i = 0; i < 3; ++i) hanging.blockers[i]->AwaitStart();
  CHECK_FALSE(ran);
  // The first three hang, three others take their places, and then these hang as well.
  clock.Advance(absl::Seconds(2));
  for (int i = 3; i < 6; ++i) hanging.blockers[i]->AwaitStart();
  CHECK_FALSE(ran);
  clock.Advance(absl::Seconds(2));
  CHECK(Eventually([&] { return ran.load(); }));
}

TEST_CASE("a lane that was quick and hangs gives its place to others") {
  tests::FakeClock clock;
  TaskPool pool(clock, 2);
  TaskPool::Lane quick(pool), other(pool);
  std::atomic<bool> was_quick = false, ran = false, third = false;
  quick.RunAt(clock.SteadyNow(), [&] { was_quick = true; });
  REQUIRE(Eventually([&] { return was_quick.load(); }));
  Blocker first, second;
  quick.RunAt(clock.SteadyNow(), first.Task());
  quick.RunAt(clock.SteadyNow(), second.Task());
  first.AwaitStart();
  second.AwaitStart();
  quick.RunAt(clock.SteadyNow(), [&] { third = true; });
  other.RunAt(clock.SteadyNow(), [&] { ran = true; });
  const base::SteadyTime began = clock.SteadyNow();
  CHECK(Eventually([&] {
    if (clock.SteadyNow() < began + absl::Seconds(3)) clock.Advance(absl::Milliseconds(500));
    return ran.load();
  }));
  CHECK_FALSE(third);
  first.Release();
  second.Release();
  CHECK(Eventually([&] { return third.load(); }));
}

TEST_CASE("slow lanes take turns") {
  tests::FakeClock clock;
  TaskPool pool(clock, 1);
  TaskPool::Lane a(pool), b(pool), busy(pool);
  Blocker blocker;
  busy.RunAt(clock.SteadyNow(), blocker.Task());
  blocker.AwaitStart();
  absl::Mutex mu;
  std::vector<std::string> order;
  const auto task = [&](const char* name) {
    return [&, name] {
      {
        absl::MutexLock lock(&mu);
        order.emplace_back(name);
      }
      clock.Advance(absl::Seconds(3));
    };
  };
  a.RunAt(clock.SteadyNow(), task("a1"));
  a.RunAt(clock.SteadyNow(), task("a2"));
  b.RunAt(clock.SteadyNow(), task("b1"));
  b.RunAt(clock.SteadyNow(), task("b2"));
  blocker.Release();
  CHECK(Eventually([&] {
    absl::MutexLock lock(&mu);
    return order.size() == 4;
  }));
  a.Stop();
  b.Stop();
  // A lane whose turn it is may still be on its way out of its first task.
  CHECK(order[0] == "a1");
  CHECK(order[1] == "b1");
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
  first.AwaitStart();
  second.AwaitStart();
  lane.RunAt(clock.SteadyNow(), third.Task());
  CHECK_FALSE(third.HasStarted());
  clock.Advance(absl::Seconds(3));
  // The first task took three seconds, so the lane also waits for the end of the second.
  const int64_t waits = clock.waits();
  first.Release();
  REQUIRE(Eventually([&] { return clock.waits() > waits; }));  // Its thread has looked for more.
  CHECK_FALSE(third.HasStarted());
  second.Release();
  third.AwaitStart();
  third.Release();
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
  blocker.AwaitStart();
  other.RunAt(clock.SteadyNow() + absl::Seconds(1), [&] { ran = true; });
  CHECK(RunsInTime(clock, ran));
  blocker.Release();
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
  blocker.AwaitStart();
  CHECK(RunsInTime(clock, ran));
  blocker.Release();
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
  for (auto& blocker : blockers) blocker->AwaitStart();
  for (auto& blocker : blockers) blocker->Release();
  clock.AwaitWaiters(3);

  const base::SteadyTime began = clock.SteadyNow();
  TaskPool::Lane slow(pool), other(pool);
  Blocker blocker;
  slow.RunAt(began + absl::Seconds(1), blocker.Task());
  clock.AwaitWaiters(3);
  clock.Advance(absl::Seconds(1));
  blocker.AwaitStart();
  std::atomic<bool> ran = false;
  other.RunAt(began + absl::Seconds(2), [&] { ran = true; });
  CHECK(Eventually([&] {
    if (clock.SteadyNow() < began + absl::Seconds(50)) clock.Advance(absl::Milliseconds(100));
    return ran.load();
  }));
  blocker.Release();
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
  running.AwaitStart();
  std::thread stopper([&] {
    lane.Stop();
    CHECK(ended);
  });
  running.Release();
  stopper.join();
  lane.RunAt(clock.SteadyNow(), [&] { ran = true; });
  CHECK_FALSE(ran);

  std::atomic<bool> other_ran = false;
  other.RunAt(clock.SteadyNow(), [&] { other_ran = true; });
  CHECK(Eventually([&] { return other_ran.load(); }));
}

TEST_CASE("a lane that has been stopped may outlive its pool") {
  tests::FakeClock clock;
  auto pool = std::make_unique<TaskPool>(clock, 2);
  TaskPool::Lane lane(*pool);
  lane.Stop();
  pool.reset();
  std::atomic<bool> ran = false;
  lane.RunAt(clock.SteadyNow(), [&] { ran = true; });
  lane.Stop();
  CHECK_FALSE(ran);
}

TEST_CASE("threads without work end, but for one while a task waits for its time") {
  tests::FakeClock clock;
  TaskPool pool(clock, 4);
  TaskPool::Lane a(pool), b(pool), c(pool);
  Blocker first, second;
  a.RunAt(clock.SteadyNow(), first.Task());
  b.RunAt(clock.SteadyNow(), second.Task());
  first.AwaitStart();
  second.AwaitStart();
  std::atomic<bool> ran = false;
  c.RunAt(clock.SteadyNow() + absl::Minutes(10), [&] { ran = true; });
  first.Release();
  second.Release();
  // Ten seconds without work begin for a thread when it has nothing to do.
  REQUIRE(Eventually([&] { return clock.waiters() == pool.threads(); }));
  clock.Advance(absl::Seconds(10));
  CHECK(Eventually([&] { return pool.threads() == 1; }));
  CHECK_FALSE(ran);
  clock.Advance(absl::Minutes(10));
  CHECK(Eventually([&] { return ran.load(); }));
  CHECK(Eventually([&] {
    clock.Advance(absl::Minutes(1));
    return pool.threads() == 0;
  }));
}

TEST_CASE("nothing is left of threads that have ended") {
  tests::FakeClock clock;
  TaskPool pool(clock, 30);
  const int before = tests::ThreadStacks();
  {
    TaskPool::Lane knows(pool);
    std::vector<std::unique_ptr<TaskPool::Lane>> lanes;
    std::vector<Blocker> blockers(20);
    for (const Blocker& blocker : blockers) {
      lanes.push_back(std::make_unique<TaskPool::Lane>(pool));
      lanes.back()->RunAt(clock.SteadyNow(), blocker.Task());
      blocker.AwaitStart();
    }
    CHECK(tests::ThreadStacks() >= before + 20 - tests::kCachedStacks);
    for (Blocker& blocker : blockers) blocker.Release();
  }
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(10));
    return pool.threads() == 0;
  }));
  CHECK(Eventually([&] { return tests::ThreadStacks() <= before + tests::kCachedStacks; }));
}

}  // namespace
}  // namespace kube::internal
