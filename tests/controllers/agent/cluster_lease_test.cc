#include "controllers/agent/cluster_lease.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "api/agent_version.h"
#include "api/resources.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/passing_time.h"

namespace controllers {
namespace {

struct Fixture : tests::ManagerFixture {
  Fixture() {
    Make();
    manager->Add(std::make_unique<ClusterLease>(
        ClusterLeaseOptions{.cluster = "m1", .version = "v0.1.0"}, *manager, client));
  }
  void PutCluster(const char* ready) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    cluster.Set({"status", "conditions"},
                json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
    server->Put(api::Clusters(), cluster);
  }
  kube::Object Lease() { return server->Find(api::Leases(), {"karmada-cluster", "m1"}); }
  // Lets time pass, until `done`.
  bool PassTimeUntil(const std::function<bool()>& done) {
    return tests::PassTimeUntil(clock, absl::Seconds(11), done);
  }
};

TEST_CASE_METHOD(Fixture, "the Lease begins when the cluster is ready, and is renewed") {
  PutCluster("False");
  Start();
  for (int i = 0; i < 3; ++i) clock.AdvanceAndAwait(absl::Seconds(11));
  CHECK(Lease().empty());
  PutCluster("True");
  REQUIRE(PassTimeUntil([&] { return !Lease().empty(); }));
  CHECK(Lease().spec()["holderIdentity"].AsString() == "m1");
  CHECK(Lease().spec()["leaseDurationSeconds"].AsInt() == 40);
  REQUIRE(Lease().OwnerRefs().size() == 1);
  CHECK(Lease().OwnerRefs()[0].uid == server->Find(api::Clusters(), {"", "m1"}).uid());

  const std::string first = Lease().spec()["renewTime"].ToString();
  REQUIRE(PassTimeUntil([&] { return Lease().spec()["renewTime"].ToString() != first; }));
  CHECK(server->Requests("PATCH").empty());

  // A cluster that is not ready any more has a living agent all the same.
  PutCluster("False");
  const std::string second = Lease().spec()["renewTime"].ToString();
  CHECK(PassTimeUntil([&] { return Lease().spec()["renewTime"].ToString() != second; }));
}

TEST_CASE_METHOD(Fixture, "each renewal has the version of the agent, and costs no further write") {
  PutCluster("True");
  Start();
  REQUIRE(PassTimeUntil([&] { return !Lease().empty(); }));
  CHECK(api::AgentVersion(Lease()) == "v0.1.0");
  std::string last = Lease().spec()["renewTime"].ToString();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(PassTimeUntil([&] { return Lease().spec()["renewTime"].ToString() != last; }));
    last = Lease().spec()["renewTime"].ToString();
    CHECK(api::AgentVersion(Lease()) == "v0.1.0");
  }
  // Renewals alone.
  CHECK(server->Requests("POST").size() == 1);
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a second agent that renews the Lease as well is warned of") {
  tests::CapturedStderr log;
  const auto is_told = [&] { return absl::StrContains(log.Text(), "the cluster has two agents"); };
  PutCluster("True");
  Start();
  REQUIRE(PassTimeUntil([&] { return !Lease().empty(); }));
  kube::Object edited = Lease();
  edited.SetLabel("x", "y");
  server->Put(api::Leases(), edited);
  REQUIRE(PassTimeUntil([&] {
    return Lease().spec()["renewTime"].AsString() != edited.spec()["renewTime"].AsString();
  }));
  CHECK_FALSE(is_told());
  CHECK(PassTimeUntil([&] {
    kube::Object lease = Lease();
    lease.Set({"spec", "renewTime"}, "2020-01-01T00:00:00.000000Z");
    server->Put(api::Leases(), lease);
    return is_told();
  }));
}

TEST_CASE_METHOD(Fixture, "a Lease that somebody deletes or changes is renewed all the same") {
  PutCluster("True");
  Start();
  REQUIRE(PassTimeUntil([&] { return !Lease().empty(); }));
  SECTION("deleted") { server->Erase(api::Leases(), {"karmada-cluster", "m1"}); }
  SECTION("changed") {
    kube::Object lease = Lease();
    lease.SetLabel("x", "y");
    server->Put(api::Leases(), lease);
  }
  const std::string last = Lease().spec()["renewTime"].ToString();
  CHECK(PassTimeUntil([&] { return Lease().spec()["renewTime"].ToString() != last; }));
}

}  // namespace
}  // namespace controllers
