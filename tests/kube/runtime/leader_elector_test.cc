#include "kube/runtime/internal/leader_elector.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "base/status.h"
#include "kube/runtime/events.h"
#include "kube/runtime/leader_fence.h"
#include "tests/kube/runtime/leader_elector_fixture.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/passing_time.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kKey;
using tests::kLeases;
using Fixture = tests::LeaderElectorFixture;

TEST_CASE_METHOD(Fixture, "the first contender creates the lease and leads") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  CHECK(elector->IsLeader());
  CHECK(MasterStatus() == 1);
  const Object lease = Lease();
  CHECK(lease.spec()["holderIdentity"].AsString() == "me");
  CHECK(lease.spec()["leaseDurationSeconds"].AsInt() == 15);
  CHECK(lease.spec()["leaseTransitions"].AsInt(-1) == 0);
  CHECK(lease.spec()["acquireTime"].AsString() == kube::FormatMicroTime(clock.Now()));
  CHECK(lease.spec()["renewTime"].AsString() == kube::FormatMicroTime(clock.Now()));

  REQUIRE(Finish().ok());
  CHECK_FALSE(elector->IsLeader());
  CHECK(MasterStatus() == 0);
  CHECK(Holder() == "me");  // The lease was not released.
  CHECK(events.lines() == std::vector<std::string>{"Lease LeaderElection me became leader",
                                                   "Lease LeaderElection me stopped leading"});
}

TEST_CASE_METHOD(Fixture, "a leader may write until its renew deadline, and not after a loss") {
  LeaderFence fence(clock);
  its_fence = &fence;
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  CHECK(fence.MayWrite());
  for (const char* method : {"PUT", "GET"}) server->FailNext(method, 500, "InternalError", 1000);
  REQUIRE(PassTimeUntil([&] { return !fence.MayWrite(); }));
  CHECK(absl::IsAborted(Join()));
  CHECK_FALSE(fence.MayWrite());
}

TEST_CASE_METHOD(
    Fixture, "a leader that has ended can release its lease, and a successor takes it at once") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  const int transitions = static_cast<int>(Lease().spec()["leaseTransitions"].AsInt());
  REQUIRE(Finish().ok());
  elector->Release({});
  CHECK_FALSE(Lease().spec().Has("holderIdentity"));
  CHECK(Lease().spec()["leaseDurationSeconds"].AsInt() == 1);

  options.identity = "successor";
  auto made = LeaderElector::Create(options, {client, events, clock, registry});
  REQUIRE(made.ok());
  base::StopSource end;
  std::atomic<bool> succeeded = false;
  std::thread successor([&] {
    base::IgnoreError(
        (*made)->Run(end.get_token(), [&](const base::StopToken&) { succeeded = true; }),
        "not asked");
  });
  CHECK(Eventually([&] { return succeeded.load(); }));  // The clock stands still.
  CHECK(Holder() == "successor");
  CHECK(Lease().spec()["leaseTransitions"].AsInt() == transitions + 1);
  // It is not the former leader's any more.
  elector->Release({});
  CHECK(Holder() == "successor");
  end.request_stop();
  successor.join();
}

// Passes everything on to a fake server; of the answers to a POST nobody hears, whose caller waits
// until it is stopped.
class AnswersGetLost : public Transport {
 public:
  explicit AnswersGetLost(std::shared_ptr<Transport> server) : server_(std::move(server)) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    const absl::StatusOr<HttpResponse> answer = server_->Send(request, stop);
    if (request.method != "POST") return answer;
    absl::Notification stopped;
    const base::StopCallback on_stop(stop, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return absl::CancelledError("stopped");
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }

 private:
  const std::shared_ptr<Transport> server_;
};

TEST_CASE_METHOD(Fixture, "a lease that is being taken when the stop comes is released") {
  Client deaf{std::make_shared<AnswersGetLost>(server), {.name = "deaf"}, clock, nullptr};
  StartWith(deaf);
  REQUIRE(Eventually([&] { return Holder() == "me"; }));
  REQUIRE(Finish().ok());
  CHECK_FALSE(elected);
  elector->Release({});
  CHECK_FALSE(Lease().spec().Has("holderIdentity"));
}

TEST_CASE_METHOD(Fixture, "a contender that has never led releases nothing") {
  PutLeaseOf("other", 0);
  Start();
  REQUIRE(server->AwaitRequests("GET", 1));
  REQUIRE(Finish().ok());
  elector->Release({});
  CHECK(Holder() == "other");
  CHECK(server->Requests("PUT").empty());
}

TEST_CASE_METHOD(Fixture, "the leader renews every retry period, with one request") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);  // The waiters are the renewals and their watchdog.
  const absl::Time start = clock.Now();
  clock.Advance(absl::Seconds(2));
  REQUIRE(server->AwaitRequests("PUT", 1));
  REQUIRE(Eventually([&] {
    return Lease().spec()["renewTime"].AsString() == kube::FormatMicroTime(clock.Now());
  }));
  CHECK(Lease().spec()["acquireTime"].AsString() == kube::FormatMicroTime(start));
  CHECK(server->Requests("GET").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a leader that cannot renew gives up after the renew deadline") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  const absl::Time renewed = clock.Now();
  SECTION("because it is refused") {
    server->FailNext("PUT", 403, "Forbidden", 1000);
    clock.Advance(absl::Seconds(2));
    REQUIRE(server->AwaitRequests("PUT", 2));  // A renewal, and the other way to hold the lease.
    clock.AwaitWaiters(2);                     // It knows the answers.
    REQUIRE(PassTimeUntil([&] { return !elector->IsLeader(); }, absl::Seconds(12)));
    CHECK(absl::StrContains(Join().message(), "Forbidden"));
  }
  SECTION("because the server does not answer") {
    server->Block("PUT");
    REQUIRE(PassTimeUntil([&] { return !elector->IsLeader(); }, absl::Seconds(14)));
  }
  CHECK(absl::IsAborted(Join()));
  CHECK(clock.Now() - renewed >= absl::Seconds(10));
  CHECK(clock.Now() - renewed < absl::Seconds(15));
  CHECK(MasterStatus() == 0);
}

TEST_CASE_METHOD(Fixture, "a leader whose lease was taken over stops at once") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  PutLeaseOf("other", 1);
  clock.Advance(absl::Seconds(2));
  const absl::Status lost = Join();
  CHECK(absl::IsAborted(lost));
  CHECK(absl::StrContains(lost.message(), "held by other"));
}

TEST_CASE_METHOD(Fixture, "a conflict with another writer's touch does not end the leadership") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  Object touched = Lease();
  touched.SetLabel("touched", "yes");
  server->Put(kLeases, touched);
  clock.Advance(absl::Seconds(2));
  REQUIRE(server->AwaitRequests("PUT", 2));
  CHECK(elector->IsLeader());
  CHECK(Eventually([&] {
    return Lease().spec()["renewTime"].AsString() == kube::FormatMicroTime(clock.Now());
  }));
  CHECK(Lease().Label("touched") == "yes");
}

TEST_CASE_METHOD(Fixture, "a lease that is deleted is made again by its leader") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  server->Erase(kLeases, kKey);
  clock.Advance(absl::Seconds(2));
  REQUIRE(Eventually([&] { return Holder() == "me"; }));
  CHECK(elector->IsLeader());
  // The renewals continue with the new lease.
  clock.AwaitWaiters(2);
  clock.Advance(absl::Seconds(2));
  CHECK(Eventually([&] {
    return Lease().spec()["renewTime"].AsString() == kube::FormatMicroTime(clock.Now());
  }));
}

TEST_CASE_METHOD(Fixture, "a contender whose own lease is removed has lost it for ever") {
  options.is_own = true;
  LeaderFence fence(clock);
  its_fence = &fence;
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  server->Erase(kLeases, kKey);
  REQUIRE(PassTimeUntil([&] { return !fence.MayWrite(); }));
  const absl::Status lost = Join();
  CHECK(absl::IsAborted(lost));
  CHECK(absl::StrContains(lost.message(), "the lease has been removed"));
  CHECK(Lease().empty());
}

TEST_CASE_METHOD(Fixture, "a failed renewal is followed by another way to hold the lease at once") {
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  clock.AwaitWaiters(2);
  server->FailNext("PUT", 500, "InternalError");
  clock.Advance(absl::Seconds(2));
  REQUIRE(server->AwaitRequests("PUT", 2));
  CHECK(Eventually([&] {
    return Lease().spec()["renewTime"].AsString() == kube::FormatMicroTime(clock.Now());
  }));
}

TEST_CASE_METHOD(Fixture, "a stop ends the waiting for the lease") {
  PutLeaseOf("other", 0);
  Start();
  REQUIRE(server->AwaitRequests("GET", 1));
  CHECK(Finish().ok());
  CHECK_FALSE(elected);
}

TEST_CASE_METHOD(Fixture, "an empty identity is made of the host's name and a UUID") {
  options.identity = "";
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  CHECK(Holder() == elector->identity());
  const size_t separator = Holder().rfind('_');
  REQUIRE(separator != std::string::npos);
  CHECK(Holder().size() - separator - 1 == 36);
}

// A leader and a stand-by with the same clock, as on one machine.
struct Contenders : Fixture {
  base::StopSource stop_standby;
  std::unique_ptr<LeaderElector> standby;
  std::thread standby_runner;
  std::atomic<bool> standby_elected = false;

  ~Contenders() {
    stop_standby.request_stop();
    if (standby_runner.joinable()) standby_runner.join();
  }
  void StartBoth() {
    Start();
    REQUIRE(Eventually([&] { return elected.load(); }));
    LeaderElectionOptions other = options;
    other.identity = "standby";
    auto made = LeaderElector::Create(other, {client, events, clock, registry});
    REQUIRE(made.ok());
    standby = *std::move(made);
    standby_runner = std::thread([this] {
      base::IgnoreError(standby->Run(stop_standby.get_token(),
                                     [this](const base::StopToken&) { standby_elected = true; }),
                        "not asked");
    });
    REQUIRE(server->AwaitRequests("GET", 2));
  }
  std::string RenewTime() { return Lease().spec()["renewTime"].ToString(); }
};

TEST_CASE_METHOD(Contenders, "steps of the wall clock change neither the leader nor its renewals") {
  StartBoth();
  const absl::Duration step =
      GENERATE(absl::Hours(1), -absl::Hours(1), absl::Hours(24 * 365), -absl::Hours(24 * 365));
  for (int i = 0; i < 40; ++i) {
    if (i == 10) clock.StepWall(step);
    if (i == 25) clock.StepWall(-step);
    const std::string before = RenewTime();
    clock.AwaitWaiters(3);  // The waiters are the renewals, their watchdog and the stand-by.
    clock.Advance(absl::Seconds(2));
    REQUIRE(Eventually([&] { return RenewTime() != before; }));
    REQUIRE(elector->IsLeader());
    REQUIRE_FALSE(standby_elected);
  }
}

TEST_CASE_METHOD(Contenders, "a leader cut off while the wall clock is set back stops in time") {
  StartBoth();
  clock.AwaitWaiters(3);
  server->Block("PUT");
  clock.StepWall(-absl::Hours(1));
  const base::SteadyTime renewed = clock.SteadyNow();
  REQUIRE(PassTimeUntil([&] { return !elector->IsLeader(); }, absl::Seconds(14)));
  CHECK(clock.SteadyNow() - renewed < absl::Seconds(15));
  REQUIRE_FALSE(standby_elected);
  server->Unblock();
  CHECK(PassTimeUntil([&] { return standby_elected.load(); }));
}

TEST_CASE_METHOD(Fixture, "timings that cannot work are refused") {
  struct Case {
    int lease, renew;
    double retry;
    bool ok;
  };
  const Case c = GENERATE(Case{15, 10, 2, true}, Case{10, 10, 2, false}, Case{9, 10, 2, false},
                          Case{15, 12, 10, false}, Case{15, 13, 10, true}, Case{15, 10, 0, false});
  options.lease_duration = absl::Seconds(c.lease);
  options.renew_deadline = absl::Seconds(c.renew);
  options.retry_period = absl::Seconds(c.retry);
  const auto made = LeaderElector::Create(options, {client, events, clock, registry});
  CHECK(made.ok() == c.ok);
  CHECK((c.ok || absl::IsInvalidArgument(made.status())));
}

}  // namespace
}  // namespace kube
