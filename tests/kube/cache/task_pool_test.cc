#include "kube/cache/internal/task_pool.h"

#include <catch2/catch.hpp>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube::internal {
namespace {

TEST_CASE("tasks run when their time has come") {
  tests::FakeClock clock;
  TaskPool pool(clock, 2);
  std::atomic<int> ran = 0;
  pool.RunAt(clock.SteadyNow(), [&] { ++ran; });
  pool.RunAt(clock.SteadyNow() + absl::Seconds(5), [&] { ran += 10; });
  REQUIRE(tests::Eventually([&] { return ran == 1; }));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(4));
  CHECK(ran == 1);
  clock.Advance(absl::Seconds(1));
  CHECK(tests::Eventually([&] { return ran == 11; }));
}

TEST_CASE("a task that takes long does not hold up another") {
  tests::FakeClock clock;
  absl::Notification release, second_ran;
  TaskPool pool(clock, 2);
  pool.RunAt(clock.SteadyNow(), [&] { release.WaitForNotification(); });
  pool.RunAt(clock.SteadyNow(), [&] { second_ran.Notify(); });
  CHECK(second_ran.WaitForNotificationWithTimeout(absl::Seconds(10)));
  release.Notify();
}

TEST_CASE("a stop drops what has not begun") {
  tests::FakeClock clock;
  std::atomic<bool> ran = false;
  TaskPool pool(clock, 1);
  pool.RunAt(clock.SteadyNow() + absl::Hours(1), [&] { ran = true; });
  pool.Stop();
  pool.RunAt(clock.SteadyNow(), [&] { ran = true; });
  CHECK_FALSE(ran);
}

}  // namespace
}  // namespace kube::internal
