// Replicas share clusters by Leases, on an API server in memory and a clock that the tests move.
#include "cmd/agent/cluster_shards.h"

#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace cmd {
namespace {

using tests::Eventually;
using Names = std::set<std::string>;

constexpr char kNs[] = "karmada-system";
constexpr char kSelector[] = "fleet=yes";
constexpr absl::Duration kDuration = absl::Seconds(15);

Names Clusters(int count) {
  Names clusters;
  for (int i = 0; i < count; ++i) clusters.insert(absl::StrCat("edge", i));
  return clusters;
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  const Names clusters = Clusters(20);

  // As the election of a replica does.
  void Renew(const std::string& replica, const std::string& holder = "somebody") {
    kube::Object lease = kube::Object::Make(api::Leases().gvk, {kNs, replica});
    if (!holder.empty()) lease.Set({"spec", "holderIdentity"}, holder);
    lease.Set({"spec", "leaseDurationSeconds"}, absl::ToInt64Seconds(kDuration));
    lease.Set({"spec", "renewTime"}, absl::FormatTime(clock.Now()));
    server->Put(api::Leases(), lease);
  }
  static kube::ObjectKey LeaseOf(const std::string& cluster) {
    return {kNs, absl::StrCat("karmada-agent-shard-", cluster)};
  }
  std::string HolderOf(const std::string& cluster) const {
    return std::string(
        server->Find(api::Leases(), LeaseOf(cluster)).spec()["holderIdentity"].AsString());
  }
  bool Exists(const std::string& replica) const {
    return !server->Find(api::Leases(), {kNs, replica}).empty();
  }
};

struct Replica {
  const std::string name;
  Fixture& f;
  kube::Client client{f.server, {.name = "fake"}, f.clock, nullptr};
  kube::InformerSet informers{client, f.clock};
  ClusterShards shards{{kNs, name, kDuration}, client, f.clock, informers};
  ClusterShards::Wanted wanted = {.clusters = f.clusters};
  Names serving;  // As if each agent ended at once, unless a test says otherwise.

  explicit Replica(Fixture& fixture, std::string lease = NewReplicaLease(kSelector))
      : name(std::move(lease)), f(fixture) {
    f.Renew(name);
    REQUIRE(shards.WaitForSync(base::SteadyTime::InfiniteFuture(), base::StopToken()).ok());
  }
  const Names& Look() {
    wanted.serving = serving;
    serving = shards.Share(wanted, base::StopToken());
    return serving;
  }
  // Looks while no agent ends.
  Names LookWithAgents() {
    wanted.serving = f.clusters;
    return shards.Share(wanted, base::StopToken());
  }
  bool Sees(const std::string& lease) const {
    return informers.Find(api::Leases())->store().Find({kNs, lease}) != nullptr;
  }
};

// Lets the replicas look until all clusters are served, each by one of them.
bool AllServedOnce(Fixture& f, const std::vector<Replica*>& replicas) {
  return Eventually([&] {
    std::map<std::string, int> served;
    for (Replica* replica : replicas) {
      for (const std::string& cluster : replica->Look()) ++served[cluster];
    }
    for (const auto& [cluster, times] : served) {
      if (times != 1) FAIL(cluster << " is served by " << times << " replicas");
    }
    return served.size() == f.clusters.size();
  });
}

}  // namespace

TEST_CASE("a replica that is added or removed moves its own part of the clusters only") {
  const Names two = {"a", "b"}, three = {"a", "b", "c"};
  std::map<std::string, int> count;
  for (const std::string& cluster : Clusters(300)) {
    const std::string owner = OwnerOf(cluster, three);
    ++count[owner];
    if (owner != "c") CHECK(OwnerOf(cluster, two) == owner);
  }
  for (const std::string& replica : three) CHECK(count[replica] > 60);
}

TEST_CASE_METHOD(Fixture, "one replica serves all clusters") {
  Replica one(*this);
  CHECK(Eventually([&] { return one.Look() == clusters; }));
  for (const std::string& cluster : clusters) CHECK(HolderOf(cluster) == one.name);
}

TEST_CASE_METHOD(Fixture,
                 "many clusters are taken in several steps, and the first ones are served") {
  Replica one(*this);
  one.wanted.clusters = Clusters(120);
  const size_t first = one.Look().size();
  CHECK(first > 0);
  CHECK(first < 120);
  CHECK(one.shards.HasMore());
  CHECK(Eventually([&] { return one.Look().size() == 120; }));
  CHECK_FALSE(one.shards.HasMore());
}

TEST_CASE_METHOD(Fixture, "a replica that joins gets its part, and no cluster has two") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  CHECK(AllServedOnce(*this, {&one, &two}));
  CHECK(Eventually([&] {
    one.Look();
    return !two.Look().empty() && one.serving.size() + two.serving.size() == clusters.size();
  }));
  Replica three(*this);
  CHECK(AllServedOnce(*this, {&one, &two, &three}));
}

TEST_CASE_METHOD(Fixture, "a cluster does not move before its agent has ended") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  // The agents of the first one are told to end, and none does.
  Names leaving;
  REQUIRE(Eventually([&] {
    const Names may = one.LookWithAgents();
    leaving.clear();
    for (const std::string& cluster : clusters) {
      if (!may.contains(cluster)) leaving.insert(cluster);
    }
    return !leaving.empty();
  }));
  for (int look = 0; look < 5; ++look) {
    CHECK(two.Look().empty());
    one.LookWithAgents();
  }
  CHECK(Eventually([&] {
    one.Look();
    return two.Look() == leaving;
  }));
}

TEST_CASE_METHOD(Fixture, "clusters of a replica that is silent move when its Lease is over") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  for (int look = 0; look < 3; ++look) {
    clock.Advance(kDuration / 5);
    CHECK(two.Look().empty());
  }
  CHECK(Exists(one.name));
  clock.Advance(kDuration);
  CHECK(Eventually([&] { return two.Look() == clusters; }));
  CHECK_FALSE(Exists(one.name));
}

TEST_CASE_METHOD(Fixture,
                 "a replica that renews in time keeps its clusters, however old a copy is") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  two.Look();
  // The second one hears nothing of this.
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());
  Renew(one.name);
  clock.Advance(kDuration * 2);
  CHECK(two.Look().empty());
  CHECK(Exists(one.name));
  CHECK(HolderOf("edge0") == one.name);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a replica that has been told off does not serve any more") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  two.Look();
  clock.Advance(kDuration * 2);
  REQUIRE(Eventually([&] { return two.Look() == clusters; }));
  Renew(two.name);
  CHECK(Eventually([&] { return one.Look().empty(); }));
  CHECK(two.Look() == clusters);
}

TEST_CASE_METHOD(Fixture, "clusters of a replica whose Lease somebody removes stay for a Lease") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  server->Erase(api::Leases(), {kNs, one.name});
  CHECK(Eventually([&] {
    CHECK(two.Look().empty());
    return !two.Sees(one.name);
  }));
  CHECK(two.Look().empty());
  clock.Advance(kDuration);
  CHECK(Eventually([&] { return two.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "a replica that ends gives its clusters back at once") {
  Replica one(*this), two(*this);
  REQUIRE(AllServedOnce(*this, {&one, &two}));
  one.shards.GiveBackBut({}, base::StopToken());
  Renew(one.name, "");
  CHECK(Eventually([&] { return two.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "clusters are given back several at once, and no longer than is said") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  const size_t before = server->Requests("PUT").size();
  server->Block("PUT");
  base::StopSource late;
  std::future<void> given =
      std::async(std::launch::async, [&] { one.shards.GiveBackBut({}, late.get_token()); });
  CHECK(server->AwaitRequests("PUT", static_cast<int>(before) + 4));
  late.request_stop();
  given.get();
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a cluster whose Lease could not be given back is given back later") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  server->FailNext("PUT", 403, "Forbidden", 1000);
  for (int look = 0; look < 3; ++look) {
    one.Look();
    CHECK(two.Look().empty());
  }
  server->EndFailures();
  clock.Advance(LeaseRefusals::kFirstPause);
  CHECK(AllServedOnce(*this, {&one, &two}));
}

TEST_CASE_METHOD(Fixture, "a server that refuses Leases is asked less and less often") {
  Replica one(*this);
  server->FailNext("POST", 403, "Forbidden", 1000);
  for (int look = 0; look < 120; ++look) {
    CHECK(one.Look().empty());
    CHECK_FALSE(one.shards.HasMore());
    clock.Advance(absl::Seconds(1));
  }
  CHECK(server->Requests("POST").size() < 20);
  server->EndFailures();
  clock.Advance(LeaseRefusals::kLongestPause);
  CHECK(Eventually([&] { return one.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "a cluster whose Lease is refused keeps no other one from its own") {
  Replica one(*this);
  server->FailNext("POST", 403, "Forbidden");
  CHECK(one.Look().empty());
  clock.Advance(LeaseRefusals::kFirstPause);
  CHECK(Eventually([&] { return one.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "a cluster whose Lease a user removes stays where it is served") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica two(*this);
  // A cluster that is to move, and whose agent has not ended yet.
  std::string moving;
  REQUIRE(Eventually([&] {
    const Names may = one.LookWithAgents();
    for (const std::string& cluster : clusters) {
      if (!may.contains(cluster)) moving = cluster;
    }
    return !moving.empty() && two.Sees(LeaseOf(moving).name);
  }));
  server->Erase(api::Leases(), LeaseOf(moving));
  CHECK(Eventually([&] {
    CHECK_FALSE(two.Look().contains(moving));
    return !two.Sees(LeaseOf(moving).name);
  }));
  CHECK_FALSE(two.Look().contains(moving));
  clock.Advance(kDuration - absl::Seconds(1));
  CHECK_FALSE(two.Look().contains(moving));
}

TEST_CASE_METHOD(Fixture, "a replica that ends keeps the clusters whose agents still run") {
  Replica one(*this), two(*this);
  REQUIRE(AllServedOnce(*this, {&one, &two}));
  REQUIRE(one.serving.size() > 1);
  const std::string last = *one.serving.begin();
  one.shards.Leave(base::StopToken());
  one.shards.GiveBackBut({last}, base::StopToken());
  Names others = clusters;
  others.erase(last);
  CHECK(Eventually([&] { return two.Look() == others; }));
  CHECK(HolderOf(last) == one.name);
  Renew(one.name, "");
  CHECK(Eventually([&] { return two.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "replicas with another selector have clusters of their own") {
  Replica one(*this), other(*this, NewReplicaLease("fleet=other"));
  other.wanted.clusters = {"far0", "far1"};
  CHECK(Eventually([&] {
    return one.Look() == clusters && other.Look() == other.wanted.clusters && one.Sees(other.name);
  }));
  for (int look = 0; look < 3; ++look) {
    CHECK(one.Look() == clusters);
    CHECK(other.Look() == other.wanted.clusters);
  }
}

TEST_CASE_METHOD(Fixture, "a cluster that two selectors select is served once") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  Replica other(*this, NewReplicaLease("fleet=other"));
  for (int look = 0; look < 3; ++look) CHECK(other.Look().empty());
  one.shards.GiveBackBut({}, base::StopToken());
  Renew(one.name, "");
  CHECK(Eventually([&] { return other.Look() == clusters; }));
}

TEST_CASE_METHOD(Fixture, "replicas that share take nothing from a process that serves all") {
  Replica all(*this, FleetLease(kSelector));
  REQUIRE(Eventually([&] { return all.Look() == clusters; }));
  Replica one(*this);
  for (int look = 0; look < 3; ++look) {
    CHECK(one.Look().empty());
    CHECK(all.Look() == clusters);
  }
  Renew(all.name, "");
  CHECK(Eventually([&] { return one.Look() == clusters; }));
  // The next one that is elected finds them taken.
  Renew(all.name, "another");
  Replica next(*this, FleetLease(kSelector));
  for (int look = 0; look < 3; ++look) CHECK(next.Look().empty());
  CHECK(AllServedOnce(*this, {&one, &next}));
}

TEST_CASE_METHOD(Fixture, "of two that find the Lease of a fleet free, each cluster goes to one") {
  Replica before(*this, FleetLease(kSelector));
  REQUIRE(Eventually([&] { return before.Look() == clusters; }));
  Renew(before.name, "");
  Replica one(*this), next(*this, FleetLease(kSelector));
  Renew(next.name, "next");
  CHECK(AllServedOnce(*this, {&one, &next}));
}

TEST_CASE_METHOD(Fixture, "a process that serves all and is silent loses its clusters and Lease") {
  Replica all(*this, FleetLease(kSelector));
  REQUIRE(Eventually([&] { return all.Look() == clusters; }));
  Replica one(*this);
  CHECK(one.Look().empty());
  clock.Advance(kDuration * 2);
  CHECK(Eventually([&] { return one.Look() == clusters; }));
  CHECK_FALSE(Exists(all.name));
  CHECK(Eventually([&] { return all.Look().empty(); }));
}

TEST_CASE_METHOD(Fixture, "a cluster that no other replica could begin with stays") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  one.wanted.staying = clusters;
  Replica two(*this);
  two.wanted.clusters = {};
  REQUIRE(Eventually([&] { return one.Sees(two.name); }));
  for (int look = 0; look < 3; ++look) {
    CHECK(one.Look() == clusters);
    two.Look();
  }
  one.wanted.staying = {};
  two.wanted.clusters = clusters;
  CHECK(AllServedOnce(*this, {&one, &two}));
}

TEST_CASE_METHOD(Fixture, "the Lease of a cluster that somebody removes is made again") {
  Replica one(*this);
  REQUIRE(
      Eventually([&] { return one.Look() == clusters && one.Sees("karmada-agent-shard-edge0"); }));
  one.Look();
  server->Erase(api::Leases(), LeaseOf("edge0"));
  CHECK(Eventually([&] {
    CHECK(one.Look() == clusters);
    return HolderOf("edge0") == one.name;
  }));
}

TEST_CASE_METHOD(Fixture, "the Lease of a cluster is removed with the cluster") {
  Replica one(*this);
  REQUIRE(Eventually([&] { return one.Look() == clusters; }));
  one.wanted.clusters.erase("edge0");
  // As long as its agent runs, nobody else may have it.
  one.LookWithAgents();
  CHECK(HolderOf("edge0") == one.name);
  CHECK(Eventually([&] {
    one.Look();
    return server->Find(api::Leases(), LeaseOf("edge0")).empty();
  }));
  CHECK(HolderOf("edge1") == one.name);
}

}  // namespace cmd
