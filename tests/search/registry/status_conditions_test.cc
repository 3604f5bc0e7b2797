// The conditions that registries get, and when they are written.
#include "search/registry/status_conditions.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "api/resource_registry.h"
#include "search/registry/managed_fields.h"
#include "tests/search/registry/feed_fixture.h"

namespace search {
namespace {

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

struct FakeStates : CacheStates {
  std::optional<CachedSlice> StateOf(const std::string& cluster, const kube::Gvr&) const override {
    const auto found = states.find(cluster);
    if (found == states.end()) return std::nullopt;
    return found->second;
  }
  std::optional<MirrorState> MirrorOf(const api::OpenSearchTarget&) const override {
    return mirror;
  }
  std::map<std::string, CachedSlice> states;
  std::optional<MirrorState> mirror;
};

Scope ScopeOf(int clusters, bool ready = true) {
  Scope scope;
  scope.matches["r"];
  for (int i = 1; i <= clusters; ++i) {
    const std::string name = absl::StrCat("m", 100 + i);
    auto part = std::make_shared<ClusterScope>();
    part->ready = ready;
    part->resources[kPods.gvr()] = {kPods, {}, {"r"}};
    scope.clusters[name] = part;
    scope.matches["r"].insert(name);
  }
  return scope;
}

std::string Shown(const json::Value& condition) {
  return absl::StrCat(condition["type"].AsString(), "=", condition["status"].AsString(), " ",
                      condition["reason"].AsString(), ": ", condition["message"].AsString());
}

TEST_CASE("a registry gets a summary, the state of its kinds, and one condition for each cluster") {
  FakeStates states;
  states.states["m101"] = {true, 12, absl::Seconds(3), ""};
  states.states["m102"] = {false, 0, absl::Minutes(5), "connection refused"};
  const json::Value conditions = RegistryConditions("r", ScopeOf(3), states, {}, kNow);
  REQUIRE(conditions.size() == 6);
  CHECK(Shown(conditions.At(0)) ==
        "Synced=False ClustersNotSynced: 1 of 3 clusters are synced, 12 objects; not synced: m102, "
        "m103");
  CHECK(Shown(conditions.At(1)) ==
        "KindsResolved=True AllResolved: the control plane serves all kinds");
  CHECK(Shown(conditions.At(2)) ==
        "ClustersResolved=True AllResolved: all clusters that the registry names exist");
  // Clusters with trouble come first.
  CHECK(Shown(conditions.At(3)) ==
        "m102/Synced=False SyncFailed: 0 of 1 resource is synced, 0 objects, less than ten minutes "
        "behind; last error: pods: connection refused");
  CHECK(Shown(conditions.At(4)) ==
        "m103/Synced=False Syncing: 0 of 1 resource is synced, 0 objects, less than a minute "
        "behind");
  CHECK(Shown(conditions.At(5)) ==
        "m101/Synced=True Synced: 1 of 1 resource is synced, 12 objects, less than a minute "
        "behind");
  CHECK(conditions.At(0)["lastTransitionTime"].AsString() == "2023-11-14T22:13:20Z");
}

TEST_CASE("a cache that has listed and cannot be followed any more is not synced") {
  FakeStates states;
  states.states["m101"] = {true, 12, absl::Seconds(3), "Unauthorized"};
  const json::Value conditions = RegistryConditions("r", ScopeOf(1), states, {}, kNow);
  CHECK(Shown(conditions.At(0)) ==
        "Synced=False ClustersNotSynced: 0 of 1 cluster is synced, 12 objects; not synced: m101");
  CHECK(Shown(conditions.At(3)) ==
        "m101/Synced=False SyncFailed: 0 of 1 resource is synced, 12 objects, less than a minute "
        "behind; last error: pods: Unauthorized");
}

TEST_CASE("no cluster, clusters that are not ready, and unknown kinds are reported") {
  FakeStates states;
  CHECK(Shown(RegistryConditions("r", ScopeOf(0), states, {}, kNow).At(0)) ==
        "Synced=False NoClusterMatches: 0 of 0 clusters are synced, 0 objects");
  states.states["m101"] = {true, 1, {}, ""};
  Scope scope = ScopeOf(1, /*ready=*/false);
  scope.unresolved["r"][{"a", "v1", "X"}] = "no matches";
  const json::Value conditions = RegistryConditions("r", scope, states, {}, kNow);
  CHECK_THAT(Shown(conditions.At(0)), Catch::Contains("; not synced: m101 (not Ready)"));
  CHECK(Shown(conditions.At(3)) ==
        "m101/Synced=False ClusterNotReady: the Cluster is not Ready; 1 of 1 resource is synced, 1 "
        "objects, less than a minute behind");
  CHECK(Shown(conditions.At(1)) == "KindsResolved=False UnknownKinds: a/v1, Kind=X: no matches");
}

TEST_CASE("a registry that names what is not there is not synced, and says what it is") {
  FakeStates states;
  states.states["m101"] = {true, 7, {}, ""};
  states.states["m102"] = {true, 7, {}, ""};
  Scope scope = ScopeOf(2);
  SECTION("a cluster") {
    scope.absent["r"] = {"m9"};
    const json::Value conditions = RegistryConditions("r", scope, states, {}, kNow);
    CHECK(Shown(conditions.At(0)) ==
          "Synced=False ClustersNotFound: 2 of 2 clusters are synced, 14 objects; no such cluster: "
          "m9");
    CHECK(Shown(conditions.At(2)) ==
          "ClustersResolved=False UnknownClusters: there is no Cluster m9");
    // What another registry names does not count.
    CHECK(RegistryConditions("other", scope, states, {}, kNow).At(2)["status"].AsString() ==
          "True");
  }
  SECTION("a kind that the control plane does not serve") {
    scope.unresolved["r"][{"a", "v1", "X"}] = "no matches";
    CHECK(Shown(RegistryConditions("r", scope, states, {}, kNow).At(0)) ==
          "Synced=False KindsNotFound: 2 of 2 clusters are synced, 14 objects; kinds not found: "
          "a/v1, Kind=X");
  }
  SECTION("clusters, by a malformed selector") {
    scope.malformed["r"] = "invalid labelSelector: x";
    CHECK(Shown(RegistryConditions("r", scope, states, {}, kNow).At(0)) ==
          "Synced=False InvalidTargetCluster: 2 of 2 clusters are synced, 14 objects; "
          "targetCluster: invalid labelSelector: x");
  }
  SECTION("nothing at all") {
    scope.without_selectors.insert("r");
    CHECK(Shown(RegistryConditions("r", scope, states, {}, kNow).At(0)) ==
          "Synced=False NoResourceSelected: 2 of 2 clusters are synced, 14 objects; "
          "resourceSelectors is empty, so nothing is cached");
  }
  SECTION("clusters, more than there is space for") {
    for (int i = 1; i <= 7; ++i) scope.absent["r"].insert(absl::StrCat("m", i));
    CHECK(Shown(RegistryConditions("r", scope, states, {}, kNow).At(2)) ==
          "ClustersResolved=False UnknownClusters: there is no Cluster m1, m2, m3, m4, m5 and 2 "
          "more");
  }
}

// Fleets differ: a kind that some clusters have is cached from these.
TEST_CASE("a kind that no cluster serves counts as missing, one that some serve does not") {
  FakeStates states;
  states.states["m101"] = {true, 7, {}, ""};
  states.states["m102"] = {true, 7, {}, ""};
  Scope scope = ScopeOf(2);
  const auto unserved_in = [&scope](const std::string& cluster) {
    auto part = std::make_shared<ClusterScope>(*scope.clusters.at(cluster));
    part->unserved["r"] = {{"a", "v1", "X"}};
    scope.clusters[cluster] = part;
  };
  unserved_in("m102");
  json::Value conditions = RegistryConditions("r", scope, states, {}, kNow);
  CHECK(Shown(conditions.At(0)) == "Synced=True AllSynced: 2 of 2 clusters are synced, 14 objects");
  CHECK(conditions.At(1)["status"].AsString() == "True");
  CHECK(Shown(conditions.At(4)) ==
        "m102/Synced=True Synced: 1 of 1 resource is synced, 7 objects, less than a minute behind; "
        "does not serve a/v1, Kind=X");
  unserved_in("m101");
  conditions = RegistryConditions("r", scope, states, {}, kNow);
  CHECK(conditions.At(0)["reason"].AsString() == "KindsNotFound");
  CHECK(Shown(conditions.At(1)) ==
        "KindsResolved=False UnknownKinds: a/v1, Kind=X: none of the clusters serves it");
}

TEST_CASE("a registry with an OpenSearch says whether that has everything") {
  FakeStates states;
  Scope scope = ScopeOf(1);
  CHECK(RegistryConditions("r", scope, states, {}, kNow).size() == 4);
  scope.open_search["r"].addresses = {"https://os:9200"};
  CHECK(Shown(RegistryConditions("r", scope, states, {}, kNow).At(3)) ==
        "Mirrored=False NotStarted: nothing is mirrored yet");
  states.mirror = {true, "Mirrored", "OpenSearch has all objects"};
  const json::Value conditions = RegistryConditions("r", scope, states, {}, kNow);
  CHECK(Shown(conditions.At(3)) == "Mirrored=True Mirrored: OpenSearch has all objects");
  // It goes with the OpenSearch.
  scope.open_search.clear();
  CHECK(RegistryConditions("r", scope, states, conditions, kNow).size() == 4);
}

TEST_CASE("the conditions of many clusters are bounded, those with trouble are listed") {
  FakeStates states;
  for (int i = 1; i <= 1000; ++i) {
    const std::string error = i >= 900 ? std::string(5000, 'x') : "";
    states.states[absl::StrCat("m", 100 + i)] = {i != 900, 1, {}, error};
  }
  const json::Value conditions = RegistryConditions("r", ScopeOf(1000), states, {}, kNow);
  CHECK(conditions.size() == 53);
  CHECK(conditions.At(3)["type"].AsString() == "m1000/Synced");
  CHECK(json::Write(conditions).size() < 50 * 1024);
}

TEST_CASE("small changes of the number of objects and of the lag are no change") {
  FakeStates states;
  states.states["m101"] = {true, 1000, absl::Seconds(1), ""};
  const Scope scope = ScopeOf(1);
  json::Value present = RegistryConditions("r", scope, states, {}, kNow);
  present.Append(*json::Parse(R"({"type":"Someone/elses","status":"True"})"));
  states.states["m101"] = {true, 1090, absl::Seconds(50), ""};
  const absl::Time later = kNow + absl::Hours(1);
  json::Value next = RegistryConditions("r", scope, states, present, later);
  CHECK(next.size() == present.size());
  CHECK(next.At(0)["type"].AsString() == "Someone/elses");
  CHECK(next == RegistryConditions("r", scope, states, next, later));
  CHECK(next.At(1)["message"].AsString() == "1 of 1 cluster is synced, 1000 objects");
  states.states["m101"] = {true, 1200, absl::Seconds(50), ""};
  next = RegistryConditions("r", scope, states, next, later);
  CHECK(next.At(1)["message"].AsString() == "1 of 1 cluster is synced, 1200 objects");
  // The status did not flip.
  CHECK(next.At(1)["lastTransitionTime"].AsString() == "2023-11-14T22:13:20Z");
}

TEST_CASE("conditions are written once, guarded, and only when something has changed") {
  tests::FakeEtcd etcd;
  const auto store = StoreOn({etcd.url()});
  kube::Object made = Registry("r");
  RecordUpdate({}, {"kubectl", "", absl::UnixEpoch()}, made);
  const kube::ObjectPtr r = *store->Create(made, {});
  CacheScope scope([](const kube::Gvk&, const base::StopToken&) { return kPods; },
                   base::RealClock());
  scope.SetRegistry(r);
  scope.SetCluster(kube::Share(kube::Object(
      *json::Parse(R"({"metadata":{"name":"m1"},"status":{"conditions":[{"type":"Ready",)"
                   R"("status":"True"}]}})"))));
  scope.SetSynced();
  base::StopSource stop;
  std::thread thread([&] { scope.Run(stop.get_token()); });
  REQUIRE(tests::Eventually([&] { return scope.HasSynced(); }));
  FakeStates states;
  states.states["m1"] = {true, 5, {}, ""};
  StatusWriter writer({*store, scope, states, base::RealClock()}, {});
  CHECK(writer.Pass({}) == 1);
  const kube::ObjectPtr written = *store->Get("r", {});
  CHECK(written->spec() == r->spec());
  CHECK(kube::IsConditionTrue(written->status()["conditions"], api::kRegistrySynced));
  CHECK(written->metadata()["managedFields"].At(1)["subresource"].AsString() == "status");
  CHECK(writer.Pass({}) == 0);
  CHECK(etcd.revision() == kube::ResourceVersionOf(*written));
  states.states["m1"] = {false, 5, {}, "gone"};
  CHECK(writer.Pass({}) == 1);
  // The scope does not know of the edit yet: its conditions would be those of before.
  kube::Object edited = **store->Get("r", {});
  edited.Set({"spec", "targetCluster", "clusterNames"}, json::Value::Array({"m9"}));
  const kube::ObjectPtr stored = *store->Update(edited, {});
  states.states["m1"] = {true, 5, {}, ""};
  CHECK(writer.Pass({}) == 0);
  scope.SetRegistry(stored);
  REQUIRE(tests::Eventually([&] { return scope.Current()->absent.contains("r"); }));
  CHECK(writer.Pass({}) == 1);
  etcd.SetDown(true);
  CHECK(writer.Pass({}) == 0);
  stop.request_stop();
  thread.join();
}

}  // namespace
}  // namespace search
