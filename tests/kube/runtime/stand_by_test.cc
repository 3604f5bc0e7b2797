// LeaderElector while another process holds the lease.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "kube/runtime/internal/leader_elector.h"
#include "tests/kube/runtime/leader_elector_fixture.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kKey;
using tests::kLeases;
using Fixture = tests::LeaderElectorFixture;

TEST_CASE_METHOD(Fixture, "a stand-by that watches leads as soon as the lease is given up") {
  const bool deleted = GENERATE(false, true);
  options.watch = true;
  PutLeaseOf("other", 0);
  Start();
  REQUIRE(server->AwaitWatches(1));
  PutLeaseOf("other", 0);  // A renewal.
  clock.AwaitWaiters(1);
  CHECK_FALSE(elected);
  if (deleted) {
    server->Erase(kLeases, kKey);
  } else {
    PutLeaseOf("", 0);
  }
  CHECK(Eventually([&] { return elected.load(); }));  // The clock stands still.
  CHECK(Holder() == "me");
  CHECK(server->watches() == 0);  // A leader needs none.
}

TEST_CASE_METHOD(Fixture, "a stand-by whose watch is refused or ends goes on trying as without") {
  options.watch = true;
  PutLeaseOf("other", 0);
  Object lease = Lease();
  lease.Set({"spec", "leaseDurationSeconds"}, 100);
  server->Put(kLeases, lease);
  server->FailNext("WATCH", 503, "ServiceUnavailable", 2);
  Start();
  REQUIRE(PassTimeUntil([&] { return server->watches() == 1; }, absl::Seconds(80)));
  server->EndWatches(absl::UnavailableError("cut"));
  CHECK(PassTimeUntil([&] { return elected.load(); }));  // The holder is silent.
}

TEST_CASE_METHOD(Fixture,
                 "a stand-by that watches leads when the last renewal is as old as the lease") {
  options.watch = true;
  PutLeaseOf("other", 0);
  Start();
  REQUIRE(server->AwaitWatches(1));
  clock.AwaitWaiters(1);
  clock.AdvanceAndAwait(absl::Seconds(1));
  PutLeaseOf("other", 0);  // A renewal: the next attempt comes in a second at the earliest.
  CHECK_FALSE(PassTimeUntil([&] { return elected.load(); }, absl::Seconds(14)));
  CHECK(PassTimeUntil([&] { return elected.load(); }, absl::Seconds(1)));
}

TEST_CASE_METHOD(Fixture, "a stand-by that may not watch the lease asks for a watch only once") {
  options.watch = true;
  PutLeaseOf("other", 0);
  server->FailNext("WATCH", 403, "Forbidden");
  Start();
  CHECK(PassTimeUntil([&] { return elected.load(); }));
  CHECK(server->Requests("GET").size() > 2);
  CHECK(server->Requests("WATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a stand-by waits until the holder has been silent for its lease") {
  PutLeaseOf("other", 4);
  Start();
  REQUIRE(server->AwaitRequests("GET", 1));
  // The longest time between two attempts; with it, the fourth attempt comes after 15 s of silence.
  int attempts = 1;
  const auto next_attempt = [&] {
    clock.AwaitWaiters(1);
    clock.Advance(absl::Seconds(4.4));
    return server->AwaitRequests("GET", ++attempts);
  };
  REQUIRE(next_attempt());
  REQUIRE(next_attempt());
  // The holder renews. The waiting starts again when we see that, whatever the holder's clock says.
  PutLeaseOf("other", 4);
  for (int i = 0; i < 4; ++i) REQUIRE(next_attempt());
  CHECK_FALSE(elected);
  REQUIRE(next_attempt());
  REQUIRE(Eventually([&] { return elected.load(); }));
  CHECK(Holder() == "me");
  CHECK(Lease().spec()["leaseTransitions"].AsInt() == 5);
}

// The retry period is longer than what is left of the lease.
struct SlowStandby : Fixture {
  SlowStandby() {
    options.retry_period = absl::Seconds(8);
    PutLeaseOf("other", 4);
    Object lease = Lease();
    lease.Set({"spec", "leaseDurationSeconds"}, 3);
    server->Put(kLeases, lease);
  }
};

TEST_CASE_METHOD(SlowStandby, "a stand-by tries again when the lease that it has seen ends") {
  options.watch = GENERATE(false, true);
  Start();
  REQUIRE(server->AwaitRequests("GET", 1));
  clock.AwaitWaiters(1);
  clock.AdvanceAndAwait(absl::Seconds(2.9));
  CHECK_FALSE(elected);
  clock.Advance(absl::Seconds(0.1));
  CHECK(Eventually([&] { return elected.load(); }));
  CHECK(Holder() == "me");
}

TEST_CASE_METHOD(SlowStandby, "a stand-by that cannot take a lease that has ended makes a pause") {
  server->FailNext("PUT", 500, "InternalError");
  Start();
  REQUIRE(server->AwaitRequests("GET", 1));
  clock.AwaitWaiters(1);
  const int64_t waits = clock.waits();
  clock.Advance(absl::Seconds(3));
  REQUIRE(server->AwaitRequests("PUT", 1));
  REQUIRE(Eventually([&] { return clock.waits() > waits; }));
  clock.AdvanceAndAwait(absl::Seconds(7.9));
  CHECK(clock.waits() == waits + 1);  // It waits as before.
  CHECK(server->Requests("PUT").size() == 1);
  clock.Advance(absl::Seconds(9.8));
  CHECK(Eventually([&] { return elected.load(); }));
}

TEST_CASE_METHOD(Fixture, "a stand-by logs who leads, once for each leader") {
  const tests::CapturedStderr log;
  PutLeaseOf("first", 4);
  Start();
  REQUIRE(PassTimeUntil([&] { return absl::StrContains(log.Text(), "leader=first"); },
                        absl::Seconds(4)));
  // The longest time between two attempts is 4.4 s.
  REQUIRE(PassTimeUntil([&] { return server->Requests("GET").size() > 1; }, absl::Seconds(5)));
  PutLeaseOf("second", 5);
  REQUIRE(PassTimeUntil([&] { return absl::StrContains(log.Text(), "leader=second"); },
                        absl::Seconds(10)));
  const std::vector<std::string> lines = absl::StrSplit(log.Text(), "another process leads");
  CHECK(lines.size() == 3);
  CHECK_FALSE(elected);
}

TEST_CASE_METHOD(Fixture, "a released lease is taken at once") {
  PutLeaseOf("", 4);
  Start();
  REQUIRE(Eventually([&] { return elected.load(); }));
  CHECK(Lease().spec()["leaseTransitions"].AsInt() == 5);
}

}  // namespace
}  // namespace kube
