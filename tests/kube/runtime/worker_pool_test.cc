#include "kube/runtime/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/no_threads.h"
#include "tests/support/thread_stacks.h"

namespace kube {
namespace {

using tests::Eventually;

Request Item(int n) { return {.key = {"ns", std::to_string(n)}}; }

// A queue whose items are worked on by a function, on the threads of a pool.
class Queue : public PoolWork {
 public:
  Queue(WorkerPool& pool, const base::Clock& clock, int most, std::function<void()> work,
        LaneOptions lanes = {})
      : queue({.name = absl::StrCat("queue-", most), .lanes = std::move(lanes)}, clock),
        work_(std::move(work)),
        member_(*pool.Join(*this, most)) {
    queue.TellWhenDue([this] { member_->Wake(); });
    member_->Wake();
  }
  // Waits until the pool has let it go.
  ~Queue() override {
    queue.ShutDown();
    Eventually([this] { return ended_.load(); });
  }

  std::string name() const override { return "queue"; }
  WorkQueue::Offer Take(const std::optional<Request>& done) override { return queue.Take(done); }
  void Work(const WorkQueue::Taken&) override {
    int most = ++working;
    for (int before = most_working; before < most; before = most_working) most_working = most;
    work_();
    --working;
    ++done;
  }
  void GiveBack(const Request& request) override { queue.Done(request); }
  void Ended() override {
    queue.TellWhenDue(nullptr);
    ended_ = true;
  }

  WorkQueue queue;
  std::atomic<int> working = 0, most_working = 0, done = 0;

 private:
  const std::function<void()> work_;
  const WorkerPool::MemberPtr member_;
  std::atomic<bool> ended_ = false;
};

struct Fixture {
  tests::FakeClock clock;
  WorkerPool pool{clock};
  std::atomic<bool> may_finish = false;
  const std::function<void()> until_told = [this] {
    Eventually([this] { return may_finish.load(); });
  };
  const std::function<void()> at_once = [] {};

  ~Fixture() { may_finish = true; }
};

TEST_CASE_METHOD(Fixture, "as many threads work as there are items, up to the limit of a member") {
  Queue five(pool, clock, 5, until_told), three(pool, clock, 3, until_told);
  for (int n = 0; n < 10; ++n) {
    five.queue.Add(Item(n));
    three.queue.Add(Item(n));
  }
  CHECK(Eventually([&] { return five.working == 5 && three.working == 3; }));
  may_finish = true;
  CHECK(Eventually([&] { return five.done == 10 && three.done == 10; }));
  CHECK(five.most_working == 5);
  CHECK(three.most_working == 3);
}

TEST_CASE_METHOD(Fixture, "a pool at rest has two threads, however many members it has") {
  std::vector<std::unique_ptr<Queue>> queues;
  for (int i = 0; i < 40; ++i) {
    queues.push_back(std::make_unique<Queue>(pool, clock, 3, at_once));
    queues.back()->queue.AddAfter(Item(0), absl::Hours(1));
  }
  for (auto& queue : queues) {
    for (int n = 0; n < 20; ++n) queue->queue.Add(Item(n));
  }
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    int done = 0;
    for (auto& queue : queues) done += queue->done;
    return done == 40 * 20 && pool.threads() == WorkerPool::kAtRest;
  }));
}

TEST_CASE_METHOD(Fixture, "threads that were not needed for some time end, and come again") {
  Queue queue(pool, clock, 20, until_told);
  const int before = tests::ThreadStacks();
  for (int round = 1; round <= 2; ++round) {
    may_finish = false;
    for (int n = 0; n < 20; ++n) queue.queue.Add(Item(n));
    REQUIRE(Eventually([&] { return queue.working == 20; }));
    may_finish = true;
    CHECK(Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return queue.done == round * 20 && pool.threads() == WorkerPool::kAtRest;
    }));
  }
  CHECK(Eventually([&] {
    return tests::ThreadStacks() <= before + WorkerPool::kAtRest + tests::kCachedStacks;
  }));
}

TEST_CASE_METHOD(Fixture, "one thread keeps the times of all members") {
  std::atomic<int> order = 0;
  int first = 0, second = 0;
  Queue early(pool, clock, 1, [&] { first = ++order; }),
      late(pool, clock, 1, [&] { second = ++order; });
  late.queue.AddAfter(Item(0), absl::Seconds(20));
  early.queue.AddAfter(Item(0), absl::Seconds(10));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(9));
  CHECK(early.queue.Idle());
  clock.Advance(absl::Seconds(1));
  CHECK(Eventually([&] { return early.done == 1; }));
  CHECK(late.done == 0);
  clock.Advance(absl::Seconds(10));
  CHECK(Eventually([&] { return late.done == 1; }));
  CHECK((first == 1 && second == 2));
}

TEST_CASE_METHOD(Fixture, "an item that becomes due sooner than what is waited for is not late") {
  Queue queue(pool, clock, 1, at_once);
  queue.queue.AddAfter(Item(0), absl::Hours(1));
  clock.AwaitWaiters(1);
  queue.queue.AddAfter(Item(1), absl::Seconds(5));
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return queue.done == 1;
  }));
  CHECK(queue.queue.size() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a spare thread takes what finds room when a slow server holds a worker") {
  const auto cluster = [](const Request& request) { return request.cluster; };
  std::atomic<int> others = 0;
  Queue queue(
      pool, clock, 1 + LaneOptions::kSpareThreads,
      [&] {
        if (others++ == 0) until_told();
      },
      LaneOptions::For(1, cluster));
  Request stuck = Item(0), quick = Item(1);
  stuck.cluster = "dead";
  quick.cluster = "m1";
  queue.queue.Add(stuck);
  REQUIRE(Eventually([&] { return queue.working == 1; }));
  queue.queue.Add(quick);
  CHECK(Eventually([&] {
    clock.Advance(absl::Milliseconds(100));
    return queue.done == 1;
  }));
  CHECK(queue.working == 1);
  may_finish = true;
}

// The only thread of the pool, because the system has no more, is held until the test has filled
// the queues.
TEST_CASE_METHOD(Fixture, "without further threads members take turns, and all work is done") {
  constexpr int kOthers = 3;
  const tests::HeldThreads held;
  std::atomic<int> begun = 0, others = 0;
  std::atomic<bool> put_off = false;
  // The busy member's later items need the other member's: whichever thread does those, they are
  // not put off until the busy member has nothing left.
  const auto of_busy = [&] {
    until_told();
    if (++begun <= 20 || put_off) return;
    if (!Eventually([&] { return others == kOthers; })) put_off = true;
  };
  const auto of_other = [&] {
    until_told();
    ++others;
  };
  Queue busy(pool, clock, 1, of_busy), other(pool, clock, 1, of_other);
  {
    const tests::NoRoom no_room;
    for (int n = 0; n < 50; ++n) busy.queue.Add(Item(n));
    REQUIRE(Eventually([&] { return busy.working == 1; }));
    for (int n = 0; n < kOthers; ++n) other.queue.Add(Item(n));
    may_finish = true;
    REQUIRE(Eventually([&] { return busy.done == 50 && other.done == kOthers; }));
  }
  CHECK_FALSE(put_off);
}

TEST_CASE_METHOD(Fixture,
                 "a member that ends leaves the others alone, and later wakes do nothing") {
  Queue stays(pool, clock, 2, at_once);
  for (int i = 0; i < 50; ++i) {
    Queue goes(pool, clock, 2, at_once);
    for (int n = 0; n < 5; ++n) {
      goes.queue.Add(Item(n));
      stays.queue.Add(Item(n));
    }
  }
  CHECK(Eventually([&] { return stays.queue.Idle(); }));
}

TEST_CASE_METHOD(Fixture, "nothing that is added while threads come and go is forgotten") {
  constexpr int kItems = 5000;
  Queue a(pool, clock, 3, at_once), b(pool, clock, 1, at_once);
  std::thread adder([&] {
    for (int n = 0; n < kItems; ++n) a.queue.Add(Item(n));
  });
  for (int n = 0; n < kItems; ++n) {
    b.queue.Add(Item(n));
    if (n % 100 == 0) clock.Advance(absl::Seconds(1));
  }
  adder.join();
  CHECK(Eventually([&] { return a.done == kItems && b.done == kItems; }));
}

// Finishes nothing for the cluster "dead" until it is told.
class Member : public Reconciler {
 public:
  explicit Member(const std::atomic<bool>& may_finish) : may_finish_(may_finish) {}
  absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken&) override {
    ++begun;
    if (request.cluster == "dead") Eventually([&] { return may_finish_.load(); });
    ++done;
    return Action::Done();
  }
  std::atomic<int> begun = 0, done = 0;

 private:
  const std::atomic<bool>& may_finish_;
};

// Two managers whose controllers share the threads of a pool.
struct TwoManagers {
  struct Side : tests::ManagerFixture {
    Member* member = nullptr;
    Controller* controller = nullptr;
    ~Side() override { base::IgnoreError(Finish(), "the test has looked at what matters to it"); }
  };
  tests::FakeClock clock;
  std::atomic<bool> may_finish = false;
  std::shared_ptr<WorkerPool> pool = std::make_shared<WorkerPool>(clock);
  Side one, two;

  TwoManagers() {
    for (Side* side : {&one, &two}) {
      side->manager.emplace(side->options, side->cluster, *side->events, clock, side->registry);
      side->manager->UsePool(pool);
      for (const char* name : {"first", "second"}) {
        auto member = std::make_unique<Member>(may_finish);
        side->member = member.get();
        side->controller = &ControllerBuilder(*side->manager)
                                .Named(name)
                                .WithWorkers(2)
                                .WithLanes([](const Request& request) { return request.cluster; })
                                .Build(std::move(member));
      }
      side->Start();
    }
  }
  ~TwoManagers() { may_finish = true; }
  static Request Of(const std::string& cluster, int n) {
    return {.key = {"ns", std::to_string(n)}, .cluster = cluster};
  }
};

TEST_CASE_METHOD(TwoManagers, "controllers of two managers share the threads of a pool") {
  for (int n = 0; n < 20; ++n) {
    one.controller->queue().Add(Of("m1", n));
    two.controller->queue().Add(Of("m1", n));
  }
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return one.member->done == 20 && two.member->done == 20 &&
           pool->threads() == WorkerPool::kAtRest;
  }));
}

TEST_CASE_METHOD(TwoManagers, "a slow member of one manager holds up nobody") {
  for (int n = 0; n < 20; ++n) one.controller->queue().Add(Of("dead", n));
  REQUIRE(Eventually([&] { return one.member->begun >= 1; }));
  for (int n = 0; n < 20; ++n) {
    one.controller->queue().Add(Of("m1", n));
    two.controller->queue().Add(Of("m1", n));
  }
  CHECK(Eventually([&] { return one.member->done == 20 && two.member->done == 20; }));
}

TEST_CASE_METHOD(TwoManagers,
                 "the stop of one manager waits for its reconciles and for no others") {
  one.controller->queue().Add(Of("dead", 0));
  two.controller->queue().Add(Of("dead", 0));
  REQUIRE(Eventually([&] { return one.member->begun == 1 && two.member->begun == 1; }));
  one.controller->queue().Add(Of("dead", 1));  // It is not begun any more.
  one.stop.request_stop();
  two.controller->queue().Add(Of("m1", 0));
  CHECK(Eventually([&] { return two.member->done == 1; }));
  CHECK_FALSE(one.ended);
  may_finish = true;
  CHECK(one.Finish().ok());
  CHECK(one.member->begun == 1);
  CHECK(one.member->done == 1);
  CHECK(Eventually([&] { return two.member->done == 2; }));
  two.controller->queue().Add(Of("m1", 1));
  CHECK(Eventually([&] { return two.member->done == 3; }));
}

TEST_CASE_METHOD(tests::ManagerFixture, "controllers that wait for their caches hold no threads") {
  server->FailNext("GET", 403, "Forbidden", 1000);
  std::atomic<bool> unused = false;
  Make();
  for (int i = 0; i < 20; ++i) {
    ControllerBuilder(*manager)
        .Named(absl::StrCat("c", i))
        .Watches(tests::kPods)
        .Build(std::make_unique<Member>(unused));
  }
  Start();
  REQUIRE(Eventually([&] { return !informers.Get(tests::kPods)->last_error().ok(); }));
  // What they did at their start may have taken more threads, which end after a while.
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return manager->pool().threads() <= WorkerPool::kAtRest;
  }));
  CHECK(Finish().ok());
}

}  // namespace
}  // namespace kube
