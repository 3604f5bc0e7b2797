// What a manager does while its loops need long before they can begin: to be prepared, or to read
// what they watch.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/passing_time.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;

// A loop whose preparation lasts until the test ends it.
class SlowLoop : public Runnable {
 public:
  struct State {
    absl::Notification is_preparing, may_go_on;
    std::atomic<bool> has_run = false;
  };
  explicit SlowLoop(State& state) : state_(state) {}
  std::string name() const override { return "slow loop"; }
  void Prepare() override {
    state_.is_preparing.Notify();
    state_.may_go_on.WaitForNotification();
  }
  absl::Status Run(const base::StopToken&) override {
    state_.has_run = true;
    return absl::OkStatus();
  }

 private:
  State& state_;
};

struct Fixture : tests::ManagerFixture {
  SlowLoop::State loop;

  ~Fixture() override {
    if (!loop.may_go_on.HasBeenNotified()) loop.may_go_on.Notify();
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    manager.reset();  // Waits for the loop, which may have outlived the stop and uses `loop`.
  }
  void StartPreparing() {
    options.leader_elect = true;
    Make().Add(std::make_unique<SlowLoop>(loop));
    Start();
    loop.is_preparing.WaitForNotification();
  }
  // Lets the time pass, second by second, until `done`.
  bool PassTimeUntil(const std::function<bool()>& done) {
    return tests::PassTimeUntil(clock, absl::Seconds(1), done);
  }
};

TEST_CASE_METHOD(Fixture, "the lease is renewed while the loops are prepared") {
  StartPreparing();
  // That is longer than the lease lasts.
  for (int renewals = 1; renewals <= 10; ++renewals) {
    clock.AwaitWaiters(2);  // The waiters are the renewals and their watchdog.
    clock.Advance(absl::Seconds(2));
    REQUIRE(server->AwaitRequests("PUT", renewals));
  }
  CHECK_FALSE(loop.has_run);
  CHECK(manager->IsLeader());
  loop.may_go_on.Notify();
  CHECK(Eventually([&] { return loop.has_run.load(); }));
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a lease that is lost while the loops are prepared starts none") {
  StartPreparing();
  server->FailNext("PUT", 403, "Forbidden", 1000);
  const auto stopped_leading = [&] {
    return absl::StrContains(registry.Expose(),
                             "leader_election_master_status{name=\"the-lease\"} 0");
  };
  CHECK(PassTimeUntil(stopped_leading));
  loop.may_go_on.Notify();
  CHECK(absl::IsAborted(Join()));
  CHECK_FALSE(loop.has_run);
}

TEST_CASE_METHOD(Fixture, "a stop that comes while the loops are prepared starts none") {
  StartPreparing();
  stop.request_stop();
  loop.may_go_on.Notify();
  CHECK(Join().ok());
}

TEST_CASE_METHOD(Fixture, "what the loops do is known while they are prepared") {
  StartPreparing();
  std::atomic<bool> answered = false;
  bool is_idle = true;
  std::thread asker([&] {
    is_idle = manager->IsIdle();
    manager->Failing(1);
    answered = true;
  });
  CHECK(Eventually([&] { return answered.load(); }));
  loop.may_go_on.Notify();
  asker.join();
  CHECK_FALSE(is_idle);
}

TEST_CASE_METHOD(Fixture, "a stop does not wait longer than it may for a loop that is prepared") {
  StartPreparing();
  stop.request_stop();
  CHECK(PassTimeUntil([&] { return ended.load(); }));
  loop.may_go_on.Notify();
  const absl::Status status = Join();
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK(absl::StrContains(status.message(), "slow loop"));
  CHECK_FALSE(loop.has_run);
}

// Passes everything on to a fake server; each page of a list takes half a minute.
class SlowPages : public Transport {
 public:
  SlowPages(std::shared_ptr<Transport> server, tests::FakeClock& clock)
      : server_(std::move(server)), clock_(clock) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    clock_.Advance(absl::Seconds(30));
    return server_->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }

 private:
  const std::shared_ptr<Transport> server_;
  tests::FakeClock& clock_;
};

TEST_CASE_METHOD(Fixture, "a controller waits for a list as long as its pages come in") {
  for (int i = 0; i < 3'000; ++i) server->Put(kPods, Pod(absl::StrCat("p", i)));
  Client slow{std::make_shared<SlowPages>(server, clock), {.name = "slow"}, clock, nullptr};
  InformerSet slow_informers{slow, clock};
  options.cache_sync_timeout = absl::Minutes(1);

  struct Counter : Reconciler {
    explicit Counter(std::atomic<int>& count) : count(count) {}
    absl::StatusOr<Action> Reconcile(const Request&, const base::StopToken&) override {
      ++count;
      return Action::Done();
    }
    std::atomic<int>& count;
  };
  std::atomic<int> passes = 0;
  ControllerBuilder(Make())
      .Named("c")
      .Watches(slow_informers.Get(kPods),
               {.map = [](const Object& pod) { return std::vector<Request>{{.key = pod.key()}}; }})
      .Build(std::make_unique<Counter>(passes));
  Start();
  REQUIRE(Eventually([&] { return passes == 3'000 || ended; }));
  CHECK(passes == 3'000);
  CHECK(Finish().ok());
  slow_informers.Stop();
}

}  // namespace
}  // namespace kube
