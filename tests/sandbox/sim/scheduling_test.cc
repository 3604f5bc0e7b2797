#include <catch2/catch.hpp>

#include "sandbox/sim/cluster_room.h"
#include "sandbox/sim/cluster_selection.h"
#include "sandbox/sim/replica_division.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

using Outcome = Placement::Outcome;

std::string Text(const std::vector<api::TargetCluster>& targets) {
  std::string out;
  for (const auto& t : targets)
    absl::StrAppend(&out, out.empty() ? "" : " ", t.name, "=", t.replicas);
  return out;
}

TEST_CASE("Webster's method divides seats by weight") {
  struct Case {
    int64_t seats;
    std::vector<int64_t> weights;
    const char* uid;  // "b" hashes to an even number, "a" to an odd one.
    const char* result;
  };
  const Case cases[] = {
      {9, {1, 2}, "", "a=3 b=6"},
      {9, {1, 3}, "", "a=2 b=7"},
      {7, {2, 1, 1}, "", "a=3 b=2 c=2"},
      {10, {1, 1, 1}, "", "a=4 b=3 c=3"},
      {10, {1, 1, 1}, "odd", "a=3 b=3 c=4"},
      {12, {18, 12, 6}, "", "a=6 b=4 c=2"},
      {1, {1, 1}, "", "a=1"},
      {3, {0, 1}, "", "b=3"},
      {0, {1, 1}, "", ""},
      {5, {0, 0}, "", ""},
      {2000000001, {1, 2}, "", "a=666666667 b=1333333334"},  // Without a step for each seat.
  };
  // Find a uid whose hash is odd.
  std::string odd = "x";
  while (DivideByWeight(1, {Party{"a", 1}, Party{"b", 1}}, odd)[0].name == "a") odd += "x";
  for (const Case& c : cases) {
    std::vector<Party> parties;
    for (size_t i = 0; i < c.weights.size(); ++i) {
      parties.push_back({std::string(1, static_cast<char>('a' + i)), c.weights[i]});
    }
    INFO(c.seats << " seats, wanted " << c.result);
    CHECK(Text(DivideByWeight(c.seats, parties, *c.uid == '\0' ? "" : odd)) == c.result);
  }
}

TEST_CASE("replicas follow the room that clusters have") {
  struct Case {
    const char* name;
    std::vector<Capacity> clusters;
    DynamicDivision how;
    const char* result;
  };
  const Case cases[] = {
      {"first time", {{"a", 6, 0}, {"b", 3, 0}}, {9}, "a=6 b=3"},
      {"scale up adds to what is there", {{"a", 4, 2}, {"b", 4, 0}}, {4}, "a=3 b=1"},
      {"scale down takes in proportion", {{"a", 0, 6}, {"b", 9, 3}}, {3}, "a=2 b=1"},
      {"nothing to do", {{"a", 9, 1}, {"b", 9, 5}}, {6}, "a=1 b=5"},
      {"fresh start", {{"a", 2, 4}, {"b", 3, 0}}, {3, false, true}, "a=2 b=1"},
      {"aggregated takes the fewest clusters", {{"a", 3, 0}, {"b", 9, 0}}, {8, true}, "b=8"},
      {"aggregated stays where it is", {{"a", 5, 1}, {"b", 9, 0}}, {4, true}, "a=4"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const auto result = DivideByRoom(c.clusters, c.how);
    REQUIRE(result.ok());
    CHECK(Text(*result) == c.result);
  }
  const auto full = DivideByRoom({{"a", 1, 0}}, {2});
  CHECK(absl::IsResourceExhausted(full.status()));
  CHECK(full.status().message() == "Clusters available replicas 1 are not enough to schedule.");
}

kube::ObjectPtr Cluster(const std::string& name, const std::string& spec = "{}",
                        const std::string& labels = "{}", int64_t pods = 100) {
  kube::Object cluster =
      kube::Object::Make({"cluster.karmada.io", "v1alpha1", "Cluster"}, {"", name});
  cluster.Set({"spec"}, Json(spec));
  cluster.Set({"metadata", "labels"}, Json(labels));
  cluster.Set({"status"}, Json(R"({"apiEnablements": [
      {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]})"));
  cluster.Set({"status", "resourceSummary", "allocatable"},
              json::Value::Object({{"pods", absl::StrCat(pods)}, {"cpu", "10"}}));
  return kube::Share(cluster);
}

kube::Object Binding(const std::string& placement, int64_t replicas = 3,
                     const std::string& rest = "{}") {
  kube::Object binding =
      kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"}, {"default", "b"});
  binding.Set({"spec", "placement"}, Json(placement));
  binding.Set({"spec", "resource"}, Json(R"({"apiVersion": "apps/v1", "kind": "Deployment"})"));
  if (replicas > 0) binding.Set({"spec", "replicas"}, replicas);
  const json::Value members = Json(rest);
  for (const json::Member& member : members.members()) {
    binding.Set({"spec", member.name()}, member.value);
  }
  return binding;
}

TEST_CASE("placements choose clusters and replicas") {
  const std::vector<kube::ObjectPtr> clusters = {
      Cluster("m1", "{}", R"({"tier": "gold"})", 20),
      Cluster("m2", R"({"region": "eu", "taints": [{"key": "k", "effect": "NoSchedule"}]})"),
      Cluster("m3", R"({"region": "us", "zones": ["z"]})", "{}", 5)};
  struct Case {
    const char* name;
    const char* placement;
    int64_t replicas;
    const char* result;
  };
  const Case cases[] = {
      {"everywhere but where tainted", "{}", 3, "m1=3 m3=3"},
      {"tolerated taint", R"({"clusterTolerations": [{"key": "k", "operator": "Exists"}]})", 3,
       "m1=3 m2=3 m3=3"},
      {"by name", R"({"clusterAffinity": {"clusterNames": ["m3"]}})", 3, "m3=3"},
      {"excluded", R"({"clusterAffinity": {"exclude": ["m3"]}})", 3, "m1=3"},
      {"by label", R"({"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}}})",
       3, "m1=3"},
      {"by field", R"({"clusterAffinity": {"fieldSelector": {"matchExpressions": [
          {"key": "region", "operator": "In", "values": ["us"]}]}}})",
       3, "m3=3"},
      {"no workload", "{}", 0, "m1=0 m3=0"},
      {"divided equally",
       R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
           "replicaDivisionPreference": "Weighted"}})",
       4, "m1=2 m3=2"},
      {"divided by weight, the largest rule counts",
       R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
           "replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": [
             {"targetCluster": {"clusterNames": ["m1"]}, "weight": 1},
             {"targetCluster": {"clusterNames": ["m1"]}, "weight": 2},
             {"targetCluster": {"clusterNames": ["m3"]}, "weight": 1}]}}})",
       6, "m1=4 m3=2"},
      {"a cluster without weight gets nothing",
       R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
           "replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": [
             {"targetCluster": {"clusterNames": ["m3"]}, "weight": 1}]}}})",
       6, "m3=6"},
      {"divided by room",
       R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
           "replicaDivisionPreference": "Weighted",
           "weightPreference": {"dynamicWeight": "AvailableReplicas"}}})",
       10, "m1=8 m3=2"},
      {"aggregated",
       R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
           "replicaDivisionPreference": "Aggregated"}})",
       10, "m1=10"},
      {"at most one cluster",
       R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})",
       3, "m1=3"},
      {"second affinity when the first fits nowhere",
       R"({"clusterAffinities": [{"affinityName": "a", "clusterNames": ["nowhere"]},
                                 {"affinityName": "b", "clusterNames": ["m3"]}]})",
       3, "m3=3"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Placement result = Place(Binding(c.placement, c.replicas), clusters, false);
    INFO(result.message);
    CHECK(result.outcome == Outcome::kSuccess);
    CHECK(Text(result.clusters) == c.result);
  }
}

TEST_CASE("a spread by region chooses the best clusters of the best regions") {
  const auto in = [](const char* region, const char* name, int64_t pods) {
    return Cluster(name, absl::StrCat(R"({"region": ")", region, R"("})"), "{}", pods);
  };
  const std::vector<kube::ObjectPtr> clusters = {in("eu", "e1", 20), in("eu", "e2", 10),
                                                 in("us", "u1", 30), in("us", "u2", 5),
                                                 in("ap", "a1", 8),  Cluster("nowhere")};
  struct Case {
    const char* name;
    int regions[2], clusters[2];
    int64_t replicas;
    const char* division;  // Of replicaScheduling; "" for duplicated ones.
    const char* targets;
    const char* result;  // Or the message.
  };
  const Case cases[] = {
      // eu and us score 2000 each, ap 1000: eu and us, and the roomiest cluster of each.
      {"two regions", {2, 2}, {2, 2}, 3, "", "", "e1=3 u1=3"},
      {"the most room of the rest is next", {2, 2}, {2, 3}, 3, "", "", "e1=3 e2=3 u1=3"},
      // Only u1 has room for 25; regions without room score 0.
      {"a region without room is worse", {1, 1}, {1, 1}, 25, "", "", "u1=25"},
      {"room counts more than what is there", {2, 2}, {2, 2}, 3, "", "a1", "e1=3 u1=3"},
      // us scores 2050 for u2, which is there.
      {"what is there breaks a tie", {1, 1}, {1, 1}, 3, "", "u2", "u2=3"},
      {"each region has one", {3, 3}, {3, 3}, 3, "", "", "a1=3 e1=3 u1=3"},
      {"regions go before the most clusters", {3, 3}, {1, 1}, 3, "", "", "a1=3 e1=3 u1=3"},
      // The share of one region is 24: eu has 30 and us 35, both score 24000, and eu is found
      // first.
      {"divided", {1, 1}, {1, 2}, 24, "Aggregated", "", "e1=16 e2=8"},
      // eu has room for 30 of 32, us for 35.
      {"divided where there is room", {1, 1}, {1, 2}, 32, "Aggregated", "", "u1=27 u2=5"},
      {"too few regions",
       {4, 4},
       {4, 4},
       3,
       "",
       "",
       "the number of feasible region is less than spreadConstraint.MinGroups"},
      {"too few clusters",
       {1, 1},
       {3, 3},
       3,
       "",
       "",
       "the number of clusters is less than the cluster spreadConstraint.MinGroups"},
      // us has the most room, and u1 of it gets nothing more, for one cluster is chosen.
      {"the room is not looked at before",
       {1, 1},
       {1, 1},
       32,
       "Aggregated",
       "",
       "Clusters available replicas 30 are not enough to schedule."},
      // A static weight names the clusters; those without a region are left out all the same.
      {"ignored with a static weight",
       {1, 1},
       {1, 1},
       5,
       "Weighted",
       "",
       "a1=1 e1=1 e2=1 u1=1 u2=1"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    std::string placement = absl::StrCat(
        R"({"spreadConstraints": [{"spreadByField": "region", "minGroups": )", c.regions[0],
        R"(, "maxGroups": )", c.regions[1], R"(}, {"spreadByField": "cluster", "minGroups": )",
        c.clusters[0], R"(, "maxGroups": )", c.clusters[1], "}]");
    if (*c.division != '\0') {
      absl::StrAppend(&placement, R"(, "replicaScheduling": {"replicaSchedulingType": "Divided",
          "replicaDivisionPreference": ")",
                      c.division, "\"}");
    }
    const std::string targets =
        *c.targets == '\0' ? "{}"
                           : absl::StrCat(R"({"clusters": [{"name": ")", c.targets, R"("}]})");
    const Placement result = Place(Binding(placement + "}", c.replicas, targets), clusters, false);
    CHECK((result.clusters.empty() ? result.message : Text(result.clusters)) == c.result);
  }
}

TEST_CASE("a spread by zone or provider only leaves out clusters that have none, as upstream") {
  const std::vector<kube::ObjectPtr> clusters = {
      Cluster("m1", R"({"zones": ["a"], "provider": "p"})"),
      Cluster("m2", R"({"zones": ["a"], "provider": "p"})"), Cluster("m3", "{}", "{}", 900)};
  const auto place = [&](const std::string& constraints) {
    return Place(Binding(absl::StrCat(R"({"spreadConstraints": [)", constraints, "]}")), clusters,
                 false);
  };
  const std::string two = R"({"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2})";
  for (const char* field : {"zone", "provider"}) {
    const std::string by =
        absl::StrCat(R"({"spreadByField": ")", field, R"(", "minGroups": 2, "maxGroups": 2})");
    // There is one zone, and two are wanted.
    CHECK(Text(place(absl::StrCat(by, ",", two)).clusters) == "m1=3 m2=3");
    const Placement alone = place(by);
    CHECK(alone.outcome == Outcome::kSchedulerError);
    CHECK(alone.message == "just support cluster and region spread constraint");
  }
  CHECK(Text(place(two).clusters) == "m1=3 m3=3");
  const Placement nowhere = Place(
      Binding(absl::StrCat(R"({"spreadConstraints": [{"spreadByField": "zone"},)", two, "]}")),
      {clusters[2]}, false);
  CHECK(nowhere.message == "0/1 clusters are available: 1 cluster(s) did not have zones property.");
}

TEST_CASE("a binding that fits nowhere learns why") {
  const Placement result =
      Place(Binding(R"({"clusterAffinity": {"clusterNames": ["m9"]}})"),
            {Cluster("m1"), Cluster("m2", R"({"taints": [{"key": "k", "effect": "NoExecute"}]})")},
            false);
  CHECK(result.outcome == Outcome::kNoClusterFit);
  CHECK(result.message ==
        "0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity "
        "constraint, 1 cluster(s) had untolerated taint {k: }.");
}

TEST_CASE("present targets keep their place despite new taints and missing APIs") {
  const auto tainted = Cluster("m1", R"({"taints": [{"key": "k", "effect": "NoSchedule"}]})");
  const std::string here = R"({"clusters": [{"name": "m1", "replicas": 3}]})";
  CHECK(Text(Place(Binding("{}", 3, here), {tainted}, false).clusters) == "m1=3");
  CHECK(Place(Binding("{}"), {tainted}, false).outcome == Outcome::kNoClusterFit);
}

TEST_CASE("clusters being evicted or deleted are not candidates") {
  kube::Object deleting = *Cluster("m1");
  deleting.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  const std::string evicted = R"({"gracefulEvictionTasks": [{"fromCluster": "m2"}]})";
  const Placement result = Place(Binding("{}", 3, evicted),
                                 {kube::Share(deleting), Cluster("m2"), Cluster("m3")}, false);
  CHECK(Text(result.clusters) == "m3=3");
}

TEST_CASE("the affinity in force is not left for an earlier one") {
  kube::Object binding = Binding(R"({"clusterAffinities": [
      {"affinityName": "a", "clusterNames": ["m1"]}, {"affinityName": "b", "clusterNames": ["m2"]}]})");
  binding.Set({"status", "schedulerObservingAffinityName"}, "b");
  const Placement result = Place(binding, {Cluster("m1"), Cluster("m2")}, false);
  CHECK(Text(result.clusters) == "m2=3");
  CHECK(result.affinity_name == "b");
}

TEST_CASE(
    "a rescheduling begins with the first affinity as v1.19, with the one in force as v1.18") {
  kube::Object binding = Binding(R"({"clusterAffinities": [
      {"affinityName": "a", "clusterNames": ["m1"]}, {"affinityName": "b", "clusterNames": ["m2"]}]})");
  binding.Set({"status", "schedulerObservingAffinityName"}, "b");
  const auto placed = [&](bool fresh, config::Release release) {
    return Place(binding, {Cluster("m1"), Cluster("m2")}, fresh, {.release = release});
  };
  CHECK(placed(true, config::Release::kV1_18).affinity_name == "b");
  CHECK(placed(true, config::Release::kV1_19).affinity_name == "a");
  CHECK(placed(false, config::Release::kV1_19).affinity_name == "b");
  CHECK(Text(placed(true, config::Release::kV1_19).clusters) == "m1=3");
}

TEST_CASE("v1.19 writes the components of a workload that goes to one cluster") {
  const std::string one = R"({"clusterAffinity": {"clusterNames": ["m1"]},
      "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})";
  const std::string two = R"({"components": [
      {"name": "jobmanager", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
      {"name": "taskmanager", "replicas": 2}]})";
  const SchedulingRules gate{.release = config::Release::kV1_19, .components = true};
  const auto clusters = [&](const std::string& placement, const std::string& rest,
                            const SchedulingRules& rules) {
    const auto result = Place(Binding(placement, 3, rest), {Cluster("m1")}, false, rules);
    INFO(result.message);
    REQUIRE(result.outcome == Outcome::kSuccess);
    return json::Write(result.ClustersToJson());
  };
  CHECK(
      clusters(one, two, gate) ==
      R"([{"components":[{"name":"jobmanager","replicas":1},{"name":"taskmanager","replicas":2}],)"
      R"("name":"m1"}])");
  const std::string plain = R"([{"name":"m1"}])";
  CHECK(clusters(one, two, {.release = config::Release::kV1_19}) == plain);
  CHECK(clusters(one, two, {.release = config::Release::kV1_18, .components = true}) == plain);
  CHECK(clusters(R"({"clusterAffinity": {"clusterNames": ["m1"]}})", two, gate) == plain);
  const std::string single = R"({"components": [{"name": "main", "replicas": 3}]})";
  CHECK(clusters(one, single, gate) == R"([{"name":"m1","replicas":3}])");
}

TEST_CASE("replicas overflow into further groups when the first ones have no room") {
  const std::string placement = R"({"clusterAffinities": [{"affinityName": "a",
      "clusterNames": ["m2"], "overflowAffinities": [
        {"affinityName": "b", "clusterNames": ["m3"]},
        {"affinityName": "c", "clusterNames": ["m1"]}]}],
      "replicaScheduling": {"replicaSchedulingType": "Divided",
                            "replicaDivisionPreference": "Aggregated"}})";
  const std::vector<kube::ObjectPtr> clusters = {Cluster("m1"), Cluster("m2", "{}", "{}", 3),
                                                 Cluster("m3", "{}", "{}", 2)};
  const auto placed = [&](int64_t replicas, const std::string& rest = "{}") {
    return Text(Place(Binding(placement, replicas, rest), clusters, false).clusters);
  };
  CHECK(placed(3) == "m2=3");
  CHECK(placed(4) == "m2=3 m3=1");
  CHECK(placed(9) == "m2=3 m3=2 m1=4");
  CHECK(placed(2, R"({"gracefulEvictionTasks": [{"fromCluster": "m2"}]})") == "m3=2");
  CHECK(Place(Binding(placement, 500), clusters, false).outcome == Outcome::kUnschedulable);
  // What has no replicas does not overflow.
  CHECK(placed(0) == "m2=0");
}

TEST_CASE("too little room and unmet spread constraints are different failures") {
  const std::string dynamic = R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
      "replicaDivisionPreference": "Aggregated"}})";
  CHECK(Place(Binding(dynamic, 500), {Cluster("m1")}, false).outcome == Outcome::kUnschedulable);
  const std::string spread =
      R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 3}]})";
  CHECK(Place(Binding(spread), {Cluster("m1")}, false).outcome == Outcome::kSchedulerError);
}

TEST_CASE("room is what the scarcest requested resource allows") {
  kube::Object cluster = *Cluster("m1");
  cluster.Set({"status", "resourceSummary"}, Json(R"({
      "allocatable": {"cpu": "10", "memory": "8Gi", "pods": "110"},
      "allocated": {"cpu": "2", "pods": "10"}, "allocating": {"cpu": "500m"}})"));
  CHECK(RoomIn(cluster, Json("null")) == 100);
  CHECK(RoomIn(cluster, Json(R"({"resourceRequest": {"cpu": "1", "memory": "1Gi"}})")) == 7);
  CHECK(RoomIn(cluster, Json(R"({"resourceRequest": {"memory": "3Gi"}})")) == 2);
  CHECK(RoomIn(cluster, Json(R"({"resourceRequest": {"nvidia.com/gpu": "1"}})")) == 0);
  cluster.Erase({"status", "resourceSummary"});
  CHECK(RoomIn(cluster, Json("null")) == 0);
}

TEST_CASE("room by resource models is what fits single nodes, each as small as its grade allows") {
  kube::Object cluster = *Cluster("m1");
  // Two nodes with at least 1 CPU, three with at least 4.
  cluster.Set({"spec", "resourceModels"}, Json(R"([
      {"grade": 0, "ranges": [{"name": "cpu", "min": "0"}, {"name": "memory", "min": "0"}]},
      {"grade": 1, "ranges": [{"name": "cpu", "min": "1"}, {"name": "memory", "min": "4Gi"}]},
      {"grade": 2, "ranges": [{"name": "cpu", "min": "4"}, {"name": "memory", "min": "16Gi"}]}])"));
  cluster.Set({"status", "resourceSummary"}, Json(R"({
      "allocatable": {"cpu": "100", "memory": "400Gi", "pods": "50", "nvidia.com/gpu": "8"},
      "allocatableModelings": [
        {"grade": 0, "count": 7}, {"grade": 1, "count": 2}, {"grade": 2, "count": 3}]})"));
  const auto room = [&](const char* request, bool by_models = true) {
    return RoomIn(cluster, json::Value::Object({{"resourceRequest", Json(request)}}), by_models);
  };
  CHECK(room(R"({"cpu": "1500m"})") == 3 * 2);
  CHECK(room(R"({"cpu": "1"})") == 2 + 3 * 4);
  CHECK(room(R"({"cpu": "1", "memory": "8Gi"})") == 3 * 2);
  CHECK(room(R"({"cpu": "5"})") == 0);
  CHECK(room(R"({"cpu": "5"})", false) == 20);
  // What no model names no node has.
  CHECK(room(R"({"nvidia.com/gpu": "1"})") == 0);
  CHECK(room(R"({"nvidia.com/gpu": "1"})", false) == 8);
  // More than the pods that are left never fit.
  CHECK(room(R"({"cpu": "100m"})") == 50);
  CHECK(RoomIn(cluster, Json("null")) == 50);
  // The sums count where nodes were not counted by models, or there are none.
  cluster.Set({"spec", "resourceModels"}, json::Value::Array());
  CHECK(room(R"({"cpu": "5"})") == 20);
}

TEST_CASE("a placement counts room by resource models, unless the gate is off") {
  kube::Object wide = *Cluster("wide"), narrow = *Cluster("narrow");
  const auto give = [](kube::Object& cluster, const char* node, int count) {
    cluster.Set({"spec", "resourceModels"},
                json::Value::Array(
                    {json::Value::Object({{"grade", 0},
                                          {"ranges", json::Value::Array({json::Value::Object(
                                                         {{"name", "cpu"}, {"min", node}})})}})}));
    cluster.Set({"status", "resourceSummary"},
                Json(R"({"allocatable": {"cpu": "12", "pods": "99"}})"));
    cluster.Set({"status", "resourceSummary", "allocatableModelings"},
                json::Value::Array({json::Value::Object({{"grade", 0}, {"count", count}})}));
  };
  give(wide, "4", 3);
  give(narrow, "1", 12);
  const kube::Object binding =
      Binding(R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
                  "replicaDivisionPreference": "Aggregated"}})",
              3, R"({"replicaRequirements": {"resourceRequest": {"cpu": "2"}}})");
  const std::vector<kube::ObjectPtr> clusters = {kube::Share(narrow), kube::Share(wide)};
  CHECK(Text(Place(binding, clusters, false).clusters) == "wide=3");
  CHECK(Text(Place(binding, clusters, false, {.models = false}).clusters) == "narrow=3");
}

TEST_CASE("a placement by workload affinity is refused, as none that this scheduler makes") {
  const kube::Object binding =
      Binding("{}", 3, R"({"workloadAffinityGroups": {"antiAffinityGroup": "app=web"}})");
  const Placement refused = Place(binding, {Cluster("m1")}, false, {.workload_affinity = true});
  CHECK(refused.outcome == Outcome::kSchedulerError);
  CHECK(refused.message == "the sandbox's scheduler does not select clusters by workload affinity");
  // Without its gate, karmada-scheduler takes no notice of the groups.
  CHECK(Place(binding, {Cluster("m1")}, false).outcome == Outcome::kSuccess);
}

}  // namespace
}  // namespace sandbox
