#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "sandbox/sim/event_loop.h"
#include "tests/support/fake_clock.h"

namespace sandbox {
namespace {

struct Fixture {
  tests::FakeClock clock;
  std::string log;
  EventLoop loop{clock};
  int owner = 0;
  int other = 0;

  void Post(const std::string& word, absl::Duration delay = {}) {
    loop.Post(
        &owner, [this, word] { log += word; }, delay);
  }
};

TEST_CASE_METHOD(Fixture, "tasks run in the order in which they fall due") {
  Post("c", absl::Seconds(2));
  Post("b", absl::Seconds(1));
  Post("a");
  loop.WaitIdle();
  CHECK(log == "a");
  clock.Advance(absl::Seconds(1));
  loop.WaitIdle();
  CHECK(log == "ab");
  clock.Advance(absl::Seconds(1));
  loop.WaitIdle();
  CHECK(log == "abc");
}

TEST_CASE_METHOD(Fixture, "a task may post more, which idle waits for") {
  loop.Post(&owner, [this] { Post("b"); });
  loop.WaitIdle();
  CHECK(log == "b");
}

TEST_CASE_METHOD(Fixture, "forgetting an owner drops its tasks and no others") {
  Post("a", absl::Seconds(1));
  loop.Post(
      &other, [this] { log += "o"; }, absl::Seconds(1));
  loop.Forget(&owner);
  clock.Advance(absl::Seconds(1));
  loop.WaitIdle();
  CHECK(log == "o");
}

TEST_CASE_METHOD(Fixture, "forgetting an owner waits for its running task and what that posts") {
  absl::Notification started, proceed;
  loop.Post(&owner, [&] {
    started.Notify();
    proceed.WaitForNotification();
    Post("late", absl::Seconds(1));
  });
  started.WaitForNotification();
  std::thread opener([&] { proceed.Notify(); });
  loop.Forget(&owner);
  CHECK(proceed.HasBeenNotified());
  opener.join();
  clock.Advance(absl::Seconds(1));
  loop.WaitIdle();
  CHECK(log.empty());
}

TEST_CASE_METHOD(Fixture, "after a stop nothing runs any more") {
  Post("a", absl::Seconds(1));
  loop.Stop();
  Post("b");
  clock.Advance(absl::Seconds(5));
  loop.Stop();
  CHECK(log.empty());
}

}  // namespace
}  // namespace sandbox
