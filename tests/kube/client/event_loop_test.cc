#include "kube/client/internal/event_loop.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace kube {
namespace {

class Waiter : public Reactor::Source {
 public:
  void OnReady(Reactor&) override {}
  void OnTimer(Reactor&) override {}
};

}  // namespace

TEST_CASE("A loop that goes does what was posted and does not wait for its timers") {
  const absl::Time start = absl::Now();
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> done = 0;
    {
      const std::shared_ptr<EventLoop> loop = EventLoop::Shared();
      loop->Post([&](Reactor& reactor) {
        reactor.SetTimer(std::make_shared<Waiter>(), SteadyNow() + absl::Hours(1));
        ++done;
      });
      loop->Post([&](Reactor&) { ++done; });
    }
    REQUIRE(done == 2);
  }
  CHECK(absl::Now() - start < absl::Minutes(5));
}

TEST_CASE("The last owner of a loop may be something that the loop's own thread lets go") {
  for (int i = 0; i < 50; ++i) {
    auto* held = new std::shared_ptr<EventLoop>(EventLoop::Shared());
    absl::Notification posted;
    absl::Notification gone;
    (*held)->Post([&](Reactor&) {
      posted.WaitForNotification();
      delete held;
      gone.Notify();
    });
    posted.Notify();
    gone.WaitForNotification();
  }
}

TEST_CASE("There is one loop for all") { CHECK(EventLoop::Shared() == EventLoop::Shared()); }

}  // namespace kube
