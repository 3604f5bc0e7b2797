// Questions about the fleet: what becomes of workloads when a cluster is lost, leaves or changes.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/yaml.h"
#include "lens/plan/report.h"
#include "tests/lens/plan/what_if_questions.h"

namespace lens::plan {
namespace {

FleetEdit Named(const std::string& joining) {
  return *Joining(kube::Object::Make(api::Clusters().gvk, {"", joining}));
}

}  // namespace

TEST_CASE("What if: a lost cluster moves nothing by itself, and the plan says why") {
  const std::string files = absl::StrCat(kClusters, kLostPolicy, Workload("web", kOneOfBoth));
  const Plan plan = Ask(files, {Lost("m1")});
  CHECK(FateOf(plan, "web").verdict == Verdict::kStays);
  CHECK_FALSE(plan.Count().any());
  CHECK_THAT(Found(plan, finding::kStays), Catch::Contains("feature gate Failover is off"));
}

TEST_CASE("What if: without a policy of taints the gate alone evicts nothing") {
  const Plan plan =
      Ask(absl::StrCat(kClusters, Workload("web", kOneOfBoth)), {Lost("m1")}, Evicting());
  CHECK(FateOf(plan, "web").verdict == Verdict::kStays);
  CHECK_THAT(Found(plan, finding::kStays), Catch::Contains("no ClusterTaintPolicy"));
}

TEST_CASE("What if: with gate, flag and policy of taints workloads leave a lost cluster") {
  const std::string files = absl::StrCat(kClusters, kLostPolicy, Workload("web", kOneOfBoth));
  const Plan plan = Ask(files, {Lost("m1")}, Evicting(BOTH_RELEASES));
  const Fate& fate = FateOf(plan, "web");
  CHECK(fate.verdict == Verdict::kMoves);
  REQUIRE(fate.leaves.size() == 1);
  CHECK(fate.leaves[0].how == Leaving::How::kGradually);
  CHECK(fate.leaves[0].is_lost);
  CHECK(fate.leaves[0].after == absl::Seconds(30));
  CHECK(fate.leaves[0].at_most == absl::Minutes(10));
}

TEST_CASE("What if: what is drained leaves at once, also if the cluster is lost as well") {
  const std::string patient =
      "{clusterAffinities: [{affinityName: first, clusterNames: [m1]}, {affinityName: second, "
      "clusterNames: [m2]}], clusterTolerations: [{key: drain, operator: Exists}]}";
  const std::string files = absl::StrCat(kClusters, kLostPolicy, Workload("web", kOneOfBoth),
                                         Workload("patient", patient));
  const Plan plan = Ask(files, {Drained("m1"), Lost("m1")}, Evicting(BOTH_RELEASES));
  REQUIRE(FateOf(plan, "web").leaves.size() == 1);
  CHECK(FateOf(plan, "web").leaves[0].after == absl::ZeroDuration());
  // Only the taint of the loss makes this one leave.
  REQUIRE(FateOf(plan, "patient").leaves.size() == 1);
  CHECK(FateOf(plan, "patient").leaves[0].after == absl::Seconds(30));
  REQUIRE(plan.what_if->notes.size() == 2);
  CHECK_THAT(plan.what_if->notes[1],
             Catch::Contains("example.io/lost:NoExecute") && !Catch::Contains("drain"));
}

TEST_CASE("What if: tolerations delay an eviction, or keep the workload where it is") {
  const auto tolerating = [](const char* seconds) {
    return absl::StrCat(
        "{clusterAffinities: [{affinityName: first, clusterNames: [m1]}, {affinityName: second, "
        "clusterNames: [m2]}], clusterTolerations: [{key: drain, operator: Exists",
        seconds, "}]}");
  };
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("patient", tolerating("")),
                                     Workload("hasty", tolerating(", tolerationSeconds: 90"))),
                        {Drained("m1")}, Evicting(BOTH_RELEASES));
  CHECK(FateOf(plan, "patient").verdict == Verdict::kStays);
  REQUIRE(FateOf(plan, "hasty").leaves.size() == 1);
  CHECK(FateOf(plan, "hasty").leaves[0].after == absl::Seconds(90));
  CHECK_THAT(Found(plan, finding::kStays), Catch::Contains("1 template stays"));
}

TEST_CASE("What if: what may be in one cluster only is pinned there, and runs nowhere then") {
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("web", kOnlyM1)), {Drained("m1")},
                        Evicting(BOTH_RELEASES));
  CHECK(FateOf(plan, "web").verdict == Verdict::kPinned);
  CHECK_THAT(Found(plan, finding::kPinned), Catch::Contains("runs in no cluster"));
}

TEST_CASE("What if: what finds no room in other clusters is said") {
  const std::string aggregated =
      "{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: "
      "Aggregated}}";
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("web", aggregated, "",
                                                         ", resources: {requests: {cpu: \"2\"}}")),
                        {Without("m1")}, As(BOTH_RELEASES));
  CHECK(FateOf(plan, "web").verdict == Verdict::kNoRoom);
  CHECK_THAT(Found(plan, finding::kNoRoom), Catch::Contains("not enough"));
}

TEST_CASE("What if: what fits alone and not together is said of the cluster") {
  const std::string half = ", resources: {requests: {cpu: 500m}}";
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("one", kOneOfBoth, "", half),
                                     Workload("two", kOneOfBoth, "", half)),
                        {Without("m1")}, As(BOTH_RELEASES));
  CHECK(FateOf(plan, "one").verdict == Verdict::kMoves);
  CHECK(FateOf(plan, "two").verdict == Verdict::kMoves);
  CHECK_THAT(Found(plan, finding::kNoRoom),
             Catch::Contains("Cluster m2: what comes there asks for 4 of cpu, and 3 is free"));
}

TEST_CASE("What if: dependencies come along with propagateDeps, and else stay behind") {
  constexpr char kSettings[] = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement: {clusterAffinity: {clusterNames: [m1]}}
)";
  const std::string needs = ", envFrom: [{configMapRef: {name: settings}}]";
  const Plan plan =
      Ask(absl::StrCat(kClusters, kSettings, Workload("alone", kOneOfBoth, "", needs)),
          {Without("m1")});
  CHECK_THAT(Found(plan, finding::kLeftBehind),
             Catch::Contains("needs ConfigMap shop/settings, which does not come to m2"));
  const Plan along =
      Ask(absl::StrCat(kClusters, kSettings,
                       Workload("along", kOneOfBoth, "  propagateDeps: true\n", needs)),
          {Without("m1")});
  CHECK(Found(along, finding::kLeftBehind) == "");
}

TEST_CASE("What if: a cordon moves nothing, and a label moves what may not be there any more") {
  const config::Options daemon = As(BOTH_RELEASES);
  const std::string gold = "{clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}}";
  const std::string files = absl::StrCat(kClusters, Workload("web", gold));
  CHECK_FALSE(Ask(files, {Cordoned("m1")}, daemon).Count().any());
  const Plan plan = Ask(files, {*ParseLabel("m1:tier-")}, daemon);
  CHECK(FateOf(plan, "web").verdict == Verdict::kShrinks);
  REQUIRE(FateOf(plan, "web").leaves.size() == 1);
  CHECK(FateOf(plan, "web").leaves[0].how == Leaving::How::kAtOnce);
}

TEST_CASE("What if: a cluster that joins gets what may be everywhere") {
  const kube::Object cluster(*yaml::Parse(
      "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}"));
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("web", "{clusterAffinity: {}}")),
                        {*Joining(cluster)}, As(BOTH_RELEASES));
  CHECK(FateOf(plan, "web").verdict == Verdict::kSpreads);
  CHECK(plan.clusters == 3);
}

TEST_CASE("What if: the purge mode Directly is said to leave a time without any copy") {
  const std::string directly = "  failover: {cluster: {purgeMode: Directly}}\n";
  const Plan plan = Ask(absl::StrCat(kClusters, Workload("web", kOneOfBoth, directly)),
                        {Drained("m1")}, Evicting(BOTH_RELEASES));
  CHECK(FateOf(plan, "web").verdict == Verdict::kMoves);
  REQUIRE(FateOf(plan, "web").leaves.size() == 1);
  CHECK(FateOf(plan, "web").leaves[0].how == Leaving::How::kFirst);
}

TEST_CASE(
    "What if: a static assignment of a quota that is too small where workloads come is said") {
  constexpr char kQuota[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: q, namespace: shop}
spec:
  overall: {cpu: "100"}
  staticAssignments: [{clusterName: m2, hard: {cpu: "1"}}]
)";
  const Plan plan =
      Ask(absl::StrCat(kClusters, kQuota,
                       Workload("web", kOneOfBoth, "", ", resources: {requests: {cpu: 500m}}")),
          {Without("m1")});
  CHECK_THAT(Found(plan, finding::kQuota), Catch::Contains("gives 1 of cpu in m2"));
}

TEST_CASE("What if: what leaves a cluster does not go where another question forbids it") {
  constexpr char kThird[] = R"(
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m3, labels: {tier: gold}}
)";
  const std::string one =
      "{spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}";
  std::string files = absl::StrCat(kClusters, kThird);
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    absl::StrAppend(&files, Workload(name, one));
  }
  // The scheduler prefers m3, which has more room.
  const config::Options daemon = As(BOTH_RELEASES);
  const FleetEdit other =
      GENERATE(Cordoned("m3"), Lost("m3"), *ParseTaint("m3:k:NoSchedule"), Without("m3"));
  INFO(other.ToString());
  std::vector<FleetEdit> edits = {Without("m1")};
  // The more is written in between, the more time the scheduler has to go wrong.
  for (int i = 0; i < 200; ++i) edits.push_back(*ParseLabel(absl::StrCat("m2:k", i, "=v")));
  edits.push_back(other);
  const Plan plan = Ask(files, edits, daemon);
  size_t moved = 0;
  for (const TemplateChange& change : plan.templates) {
    for (const ClusterChange& cluster : change.clusters) {
      INFO(change.id.ToString() << " " << cluster.cluster);
      CHECK_FALSE((cluster.cluster == "m3" && cluster.action == Action::kCreate));
      moved += cluster.cluster == "m2" && cluster.action == Action::kCreate ? 1 : 0;
    }
  }
  CHECK(moved > 0);
}

TEST_CASE("What if: a workload that is spread by region moves to the best cluster of another one") {
  constexpr char kRegions[] = R"(
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: n1}
spec: {region: north}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: n2}
spec: {region: north}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: s1}
spec: {region: south}
)";
  const auto spread = [](int least, int clusters) {
    return absl::StrCat(
        "{spreadConstraints: [{spreadByField: region, minGroups: ", least,
        ", maxGroups: 2}, {spreadByField: cluster, minGroups: 1, maxGroups: ", clusters, "}]}");
  };
  const config::Options daemon = As(BOTH_RELEASES);
  const auto files = [&](int least, int clusters) {
    return absl::StrCat(kRegions, Workload("web", spread(least, clusters)));
  };
  const auto ask = [&](const std::string& workload, const std::string& cluster) {
    const Plan plan = Ask(workload, {Without(cluster)}, daemon);
    std::string text(NameOf(FateOf(plan, "web").verdict));
    for (const ClusterChange& change : plan.templates.at(0).clusters) {
      absl::StrAppend(&text, " ", change.cluster, " ", NameOf(change.action));
    }
    return text;
  };
  // Two regions: one cluster of each. What is in north stays in north.
  CHECK(ask(files(2, 2), "n1") == "moves n1 delete n2 create s1 none");
  // There is only one region left.
  CHECK(ask(files(2, 2), "s1") == "pinned n1 none s1 delete");
  const Plan pinned = Ask(files(2, 2), {Without("s1")}, daemon);
  CHECK_THAT(Found(pinned, finding::kPinned),
             Catch::Contains("its placement cannot be met, and it runs in n1 (4 replicas) then"));
  CHECK_THAT(TextOf(pinned, {}), Catch::Contains("! not placed in full: the number of feasible") &&
                                     !Catch::Contains("in no cluster"));
  // One region is enough: north has more clusters, and one is wanted.
  CHECK(ask(files(1, 1), "n1") == "moves n1 delete n2 create");
  CHECK(ask(files(1, 2), "n1") == "shrinks n1 delete n2 none");
}

TEST_CASE("What if: a cluster that joins may have other questions, such as about its labels") {
  const std::string gold = "{clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}}";
  const std::string files = absl::StrCat(kClusters, Workload("web", gold));
  const config::Options daemon = As(BOTH_RELEASES);
  const FleetEdit joins = Named("m3");
  const FleetEdit label = *ParseLabel("m3:tier=gold");
  CHECK(FateOf(Ask(files, {joins}, daemon), "web").verdict == Verdict::kUnchanged);
  for (const auto& edits : {std::vector<FleetEdit>{joins, label}, {label, joins}}) {
    const Plan plan = Ask(files, edits, daemon);
    CHECK(FateOf(plan, "web").verdict == Verdict::kSpreads);
    CHECK(plan.what_if->notes.size() == 1);
  }
  const Plan closed = Ask(files, {joins, label, Cordoned("m3")}, daemon);
  CHECK(FateOf(closed, "web").verdict == Verdict::kUnchanged);
}

TEST_CASE("What if: changes of one kind are there at the same time when one of them moves") {
  // Those before n9 have less and less room. It would stay in the first one that it comes to.
  std::string files = absl::StrCat(kClusters, "---\n");
  std::vector<FleetEdit> edits = {*ParseLabel("m1:tier-"), *ParseLabel("m2:tier-")};
  for (int i = 1; i <= 9; ++i) {
    absl::StrAppend(&files,
                    "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: n", i,
                    "}\nstatus: {resourceSummary: {allocatable: {cpu: \"9\", pods: \"", 100 + i,
                    "\"}}}\n---\n");
    edits.push_back(*ParseLabel(absl::StrCat("n", i, ":tier=gold")));
  }
  const std::string one_gold =
      "{clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}, spreadConstraints: "
      "[{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}";
  const Plan plan = Ask(absl::StrCat(files, Workload("web", one_gold)), edits, As(BOTH_RELEASES));
  REQUIRE(plan.templates.size() == 1);
  CHECK(plan.templates[0].outcome.targets == std::set<std::string>{"n9"});
}

TEST_CASE("What if: what stays in a cluster that it should leave stays, also if it spreads") {
  const std::string files = absl::StrCat(kClusters, Workload("web", "{clusterAffinity: {}}"));
  const Plan plan = Ask(files, {Named("m3"), Drained("m1")}, As(BOTH_RELEASES));
  CHECK(FateOf(plan, "web").verdict == Verdict::kStays);
  CHECK_THAT(Found(plan, finding::kStays), Catch::Contains("Cluster m1: 1 template stays there"));
  CHECK(plan.templates.at(0).outcome.targets.contains("m3"));
  CHECK(FateOf(Ask(files, {Named("m3")}, As(config::Release::kV1_18)), "web").verdict ==
        Verdict::kSpreads);
}

}  // namespace lens::plan
