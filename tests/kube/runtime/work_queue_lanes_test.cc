// Lanes: a member that is slow, or does not answer at all, occupies only some of the workers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/work_queue.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;

Request Item(const std::string& cluster, const std::string& name) {
  return {.key = {"ns", name}, .cluster = cluster};
}
std::string ClusterOf(const Request& request) { return request.cluster; }

struct Fixture {
  tests::FakeClock clock;
  WorkQueue queue{{.name = "q", .lanes = LaneOptions::For(5, ClusterOf)}, clock};

  void Add(const std::string& cluster, int n) {
    for (int i = 0; i < n; ++i) queue.Add(Item(cluster, std::to_string(i)));
  }
  // Takes all items that can be taken now.
  std::vector<Request> TakeAll() {
    std::vector<Request> taken;
    queue.Add(Item("end", "end"), -1000);
    for (;;) {
      Request request = queue.Get()->request;
      if (request.cluster == "end") break;
      taken.push_back(std::move(request));
    }
    queue.Done(Item("end", "end"));
    return taken;
  }
};

TEST_CASE_METHOD(Fixture, "items of one lane beyond its share wait, those of others pass by") {
  Add("m1", 6);
  Add("m2", 1);
  const std::vector<Request> taken = TakeAll();
  REQUIRE(taken.size() == 4);
  CHECK(taken[2].cluster == "m1");
  CHECK(taken[3].cluster == "m2");
  CHECK(queue.size() == 3);
  CHECK_FALSE(queue.Idle());

  // Each item that is done makes room for the next, in the order of adding.
  queue.Done(taken[0]);
  CHECK(TakeAll() == std::vector<Request>{Item("m1", "3")});
  queue.Done(taken[1]);
  queue.Done(taken[2]);
  CHECK(TakeAll() == std::vector<Request>{Item("m1", "4"), Item("m1", "5")});
}

TEST_CASE_METHOD(Fixture, "a slow lane gets one at a time until it is quick again") {
  Add("m1", 6);
  const std::vector<Request> first = TakeAll();
  REQUIRE(first.size() == 3);
  clock.Advance(absl::Seconds(32));
  for (const Request& request : first) queue.Done(request);
  const std::vector<Request> probe = TakeAll();
  REQUIRE(probe.size() == 1);
  queue.Done(probe[0]);  // It took no time.
  CHECK(TakeAll().size() == 2);
}

TEST_CASE_METHOD(Fixture, "slow lanes together leave workers to the others") {
  // All lanes turn out to be slow, because each keeps a worker for two seconds.
  for (int m = 0; m < 6; ++m) {
    Add("dead" + std::to_string(m), 3);
    const std::vector<Request> taken = TakeAll();
    clock.Advance(absl::Seconds(2));
    for (const Request& request : taken) queue.Done(request);
  }
  for (int m = 0; m < 6; ++m) Add("dead" + std::to_string(m), 3);
  Add("m1", 2);
  std::vector<Request> taken = TakeAll();
  REQUIRE(taken.size() == 8);  // One item of each slow lane, and two of m1.
  CHECK(std::count_if(taken.begin(), taken.end(),
                      [](const Request& r) { return r.cluster == "m1"; }) == 2);
  // A free place goes to another slow lane, so that all have their turn.
  int rounds = 0;
  while (queue.size() > 0 && ++rounds < 100) {
    clock.Advance(absl::Seconds(2));
    for (const Request& request : taken) queue.Done(request);
    taken = TakeAll();
    CHECK(taken.size() <= 6);
  }
  CHECK(rounds < 100);
}

TEST_CASE_METHOD(Fixture, "what is held for a second gives its place to others") {
  // None of these lanes is known to be slow.
  for (int m = 0; m < 12; ++m) Add("dead" + std::to_string(m), 1);
  Add("m1", 1);
  std::vector<Request> taken;
  const auto take = [&](int n) {
    for (int i = 0; i < n; ++i) taken.push_back(queue.Get()->request);
  };
  // A further item can be taken after a second, not before.
  const auto take_later = [&] {
    std::atomic<bool> came = false;
    std::thread waits([&] {
      take(1);
      came = true;
    });
    clock.AwaitWaiters(1);
    clock.Advance(absl::Milliseconds(999));
    CHECK_FALSE(came);
    clock.Advance(absl::Milliseconds(1));
    waits.join();
  };
  take(5);  // There are so many workers.
  take_later();
  take(4);
  take_later();
  take(1);
  CHECK(taken.size() == 12);
  CHECK(queue.Get()->request == Item("m1", "0"));
  queue.Done(Item("m1", "0"));
  clock.Advance(absl::Seconds(1));
  for (const Request& request : taken) queue.Done(request);
  // The lanes are known to be slow now, and do not take places of the workers.
  for (int m = 0; m < 12; ++m) Add("dead" + std::to_string(m), 1);
  Add("m2", 3);
  CHECK(TakeAll().size() == 15);
}

TEST_CASE_METHOD(Fixture, "slow lanes together hold the spare threads and no more") {
  const auto add_dead = [&] {
    for (int m = 0; m < 30; ++m) Add("dead" + std::to_string(m), 1);
  };
  for (int m = 0; m < 30; ++m) {
    Add("dead" + std::to_string(m), 1);
    const std::vector<Request> taken = TakeAll();
    clock.Advance(absl::Seconds(2));
    queue.Done(taken.at(0));
  }
  add_dead();
  Add("m1", 2);
  CHECK(TakeAll().size() == LaneOptions::kSpareThreads + 2);
}

TEST_CASE_METHOD(Fixture, "slow lanes have their turn even when each item comes again at once") {
  constexpr int kDead = 3 * LaneOptions::kSpareThreads;
  for (int m = 0; m < kDead; ++m) {
    Add("dead" + std::to_string(m), 1);
    const std::vector<Request> taken = TakeAll();
    clock.Advance(absl::Seconds(2));
    queue.Done(taken.at(0));
  }
  for (int m = 0; m < kDead; ++m) Add("dead" + std::to_string(m), 1);
  std::map<std::string, int> taken;
  for (int round = 0; round < 10 * kDead; ++round) {
    const std::vector<Request> now = TakeAll();
    clock.Advance(absl::Seconds(2));
    for (const Request& request : now) {
      ++taken[request.cluster];
      queue.Done(request);
      queue.Add(request);
    }
  }
  REQUIRE(taken.size() == kDead);
  for (const auto& [cluster, times] : taken) {
    CAPTURE(cluster);
    CHECK(times >= 10);
  }
}

TEST_CASE_METHOD(Fixture, "an urgent item overtakes those that are parked") {
  Add("m1", 6);
  const std::vector<Request> taken = TakeAll();
  queue.Add(Item("m1", "5"), 10);
  queue.Done(taken[0]);
  CHECK(TakeAll() == std::vector<Request>{Item("m1", "5")});
}

TEST_CASE_METHOD(Fixture, "what is parked is handed out after the shut-down, too") {
  Add("m1", 5);
  std::vector<Request> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(queue.Get()->request);
  queue.ShutDown();
  CHECK_FALSE(queue.Get().has_value());
  for (const Request& request : taken) queue.Done(request);
  CHECK(queue.Get().has_value());
  CHECK(queue.Get().has_value());
  CHECK_FALSE(queue.Get().has_value());
}

// Never finishes for clusters called "dead...".
class Member : public Reconciler {
 public:
  absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken& stop) override {
    if (request.cluster.rfind("dead", 0) != 0) {
      ++done;
      return Action::Done();
    }
    ++stuck;
    base::RealClock().SleepFor(absl::Hours(1), stop);
    return absl::CancelledError("stopped");
  }
  std::atomic<int> done = 0, stuck = 0;
};

// Tells when the loops are asked to stop.
class StopSign : public Runnable {
 public:
  explicit StopSign(absl::Notification& stopped) : stopped_(stopped) {}
  std::string name() const override { return "stop sign"; }
  absl::Status Run(const base::StopToken& stop) override {
    base::RealClock().SleepFor(absl::Hours(1), stop);
    stopped_.Notify();
    return absl::OkStatus();
  }

 private:
  absl::Notification& stopped_;
};

struct DeadMembers : tests::ManagerFixture {
  absl::Notification stopped;

  // From then on the clock stands still, so that the aborted reconciles can end within the graceful
  // limit.
  void AbortWhatIsStuck() {
    manager->Add(std::make_unique<StopSign>(stopped));
    stop.request_stop();
    stopped.WaitForNotification();  // The manager knows by then until when it waits.
    clock.Advance(options.graceful_stop * 2 / 3);
    REQUIRE(Eventually([&] { return manager->abort_token().stop_requested(); }));
  }
};

TEST_CASE_METHOD(DeadMembers, "one dead member of twenty delays nobody else") {
  Make();
  auto owned = std::make_unique<Member>();
  Member& member = *owned;
  Controller& controller =
      ControllerBuilder(*manager).Named("lanes").WithWorkers(5).WithLanes(ClusterOf).Build(
          std::move(owned));
  for (int i = 0; i < 50; ++i) controller.queue().Add(Item("dead", std::to_string(i)));
  for (int m = 1; m < 20; ++m) {
    for (int i = 0; i < 10; ++i) {
      controller.queue().Add(Item("m" + std::to_string(m), std::to_string(i)));
    }
  }
  Start();
  CHECK(Eventually([&] { return member.done == 190; }));
  CHECK(member.stuck <= 3);
  AbortWhatIsStuck();
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(DeadMembers, "sixteen dead members of twenty delay nobody else") {
  Make();
  auto owned = std::make_unique<Member>();
  Member& member = *owned;
  Controller& controller =
      ControllerBuilder(*manager).Named("lanes").WithWorkers(5).WithLanes(ClusterOf).Build(
          std::move(owned));
  for (int m = 0; m < 16; ++m) controller.queue().Add(Item("dead" + std::to_string(m), "0"));
  for (int m = 0; m < 4; ++m) controller.queue().Add(Item("m" + std::to_string(m), "0"));
  Start();
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return member.done == 4 && member.stuck == 16;
  }));
  AbortWhatIsStuck();
  CHECK(Finish().ok());
}

}  // namespace
}  // namespace kube
