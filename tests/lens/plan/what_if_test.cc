// Questions about the fleet: what becomes of workloads when a cluster is lost, leaves or changes.
#include "lens/plan/what_if.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "lens/plan/comparison.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/fates.h"
#include "lens/plan/page.h"
#include "lens/plan/plan.h"
#include "lens/plan/report.h"

namespace lens::plan {
namespace {

constexpr char kClusters[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1, labels: {tier: gold}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2, labels: {tier: gold}}
status:
  resourceSummary:
    allocatable: {cpu: "4", pods: "100"}
    allocated: {cpu: "1", pods: "2"}
)";

constexpr char kLostPolicy[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: lost}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  taints: [{key: example.io/lost, effect: NoExecute}]
)";

// A Deployment with a policy of its own. `placement` is YAML in flow style.
std::string Workload(const std::string& name, const std::string& placement,
                     const std::string& spec = "", const std::string& container = "") {
  return absl::StrCat(R"(
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: )",
                      name, R"(, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx)",
                      container, R"(}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: )",
                      name, R"(, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: )",
                      name, "}]\n  placement: ", placement, "\n", spec);
}

constexpr char kOneOfBoth[] =
    "{clusterAffinities: [{affinityName: first, clusterNames: [m1]}, {affinityName: second, "
    "clusterNames: [m2]}]}";
constexpr char kOnlyM1[] = "{clusterAffinity: {clusterNames: [m1]}}";

// As which a plan is made; what it says has to be true of both.
#define BOTH_RELEASES GENERATE(config::Release::kV1_18, config::Release::kV1_19)

config::Options As(config::Release release) {
  config::Options options;
  options.wanted_release = release;
  return options;
}

config::Options Evicting(config::Release release = config::Release::kV1_18) {
  config::Options options = As(release);
  REQUIRE(options.gates.Set("Failover=true").ok());
  options.taint_eviction.no_execute = true;
  return options;
}

Plan Ask(const std::string& files, const std::vector<FleetEdit>& edits,
         const config::Options& daemon = {}) {
  PlanRequest request;
  request.objects = *ObjectsOf(*tool::ParseDocuments("f.yaml", files));
  request.edits = edits;
  request.daemon = daemon;
  auto plan = MakePlan(request, {});
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  return *std::move(plan);
}

const Fate& FateOf(const Plan& plan, const std::string& deployment) {
  return plan.what_if->fates.at({"apps", "Deployment", "shop", deployment});
}

std::string Found(const Plan& plan, const std::string& code) {
  std::string text;
  for (const Finding& found : plan.findings) {
    if (found.code == code) absl::StrAppend(&text, found.object, ": ", found.message, "\n");
  }
  return text;
}

// Returns what is decided about a Deployment that is in these clusters.
TemplateOutcome In(const std::set<std::string>& clusters) {
  TemplateOutcome outcome;
  outcome.policy_kind = "PropagationPolicy";
  outcome.policy = {"shop", "web"};
  outcome.targets = clusters;
  for (const std::string& cluster : clusters) {
    outcome.clusters[cluster].replicas = 2;
    outcome.clusters[cluster].manifest =
        kube::Object::Make({"apps", "v1", "Deployment"}, {"shop", "web"});
  }
  return outcome;
}

// A Deployment that was in m1 and m2, with what is told of it when this is left.
struct Told {
  Fate fate;
  std::vector<Finding> findings;
  std::string text, page;
};
Told Tell(const TemplateOutcome& left) {
  const ObjectId id{"apps", "Deployment", "shop", "web"};
  const Outcome before = {{id, In({"m1", "m2"})}}, after = {{id, left}};
  const std::vector<TemplateChange> changes = Compare(before, after, {});
  const auto plane = *DryControlPlane::Start({});
  const std::vector<FleetEdit> edits = {Drained("m1"), Drained("m2")};
  const FleetAftermath aftermath;
  const Story story{edits, aftermath, before, after, changes, *plane};
  const WhatIf answer = WhatIfOf(story);
  Plan plan;
  plan.templates = changes;
  plan.what_if = answer;
  return {answer.fates.at(id), FindingsOf(story, answer), TextOf(plan, {}), PageOf(plan)};
}

}  // namespace

TEST_CASE("What if: what nothing places again is nowhere, and does not shrink") {
  TemplateOutcome suspended = In({});
  suspended.is_scheduling_suspended = true;
  const Told told = Tell(suspended);
  CHECK(told.fate.verdict == Verdict::kNowhere);
  CHECK_THAT(told.fate.why, Catch::Contains("scheduling is suspended"));
  REQUIRE(told.findings.size() == 1);
  CHECK(told.findings[0].code == finding::kNowhere);
  CHECK_THAT(told.findings[0].message, Catch::Contains("it runs in no cluster then"));
  CHECK_THAT(told.text, Catch::Contains("! in no cluster: its scheduling is suspended"));
  CHECK_THAT(told.page, Catch::Contains("In no cluster: its scheduling is suspended"));
  // Its other clusters go on.
  TemplateOutcome one = In({"m2"});
  one.is_scheduling_suspended = true;
  CHECK(Tell(one).fate.verdict == Verdict::kShrinks);
  // What follows a workload is not warned of besides it.
  TemplateOutcome attached = In({});
  attached.policy_kind = "";
  attached.required_by = {"shop/web-deployment"};
  const Told follows = Tell(attached);
  CHECK(follows.fate.verdict == Verdict::kNowhere);
  CHECK(follows.findings.empty());
}

TEST_CASE("What if: where another scheduler places a workload is not simulated") {
  TemplateOutcome other = In({"m2"});
  other.scheduler = "my-scheduler";
  const Told told = Tell(other);
  CHECK(told.fate.verdict == Verdict::kNotSimulated);
  CHECK(told.fate.why == "its scheduler my-scheduler is not simulated");
  REQUIRE(told.findings.size() == 1);
  CHECK(told.findings[0].code == finding::kNotSimulated);
  TemplateOutcome usual = In({"m2"});
  usual.scheduler = "default-scheduler";
  CHECK(Tell(usual).fate.verdict == Verdict::kShrinks);
}

TEST_CASE("What if: a placement that the sandbox cannot make pins nothing") {
  constexpr char kRegions[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {region: north}
)";
  const Plan plan =
      Ask(absl::StrCat(kRegions, Workload("web",
                                          "{spreadConstraints: [{spreadByField: region, "
                                          "minGroups: 1, maxGroups: 1}, {spreadByField: "
                                          "cluster, minGroups: 1, maxGroups: 1}]}")),
          {});
  REQUIRE(plan.templates.size() == 1);
  TemplateOutcome refused = In({});
  refused.not_scheduled = plan.templates[0].outcome.not_scheduled;
  refused.not_scheduled_reason = plan.templates[0].outcome.not_scheduled_reason;
  const Told told = Tell(refused);
  CHECK(told.fate.verdict == Verdict::kNotSimulated);
  CHECK_THAT(told.fate.why, Catch::Contains("by region"));
  CHECK_THAT(told.text, Catch::Contains("! not known where it goes: the sandbox's scheduler") &&
                            !Catch::Contains("in no cluster"));
  CHECK_THAT(told.page, Catch::Contains("It is not known where it goes"));
  REQUIRE(told.findings.size() == 1);
  CHECK(told.findings[0].code == finding::kNotSimulated);
}

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

TEST_CASE("What if: a cluster that joins may exceed a quota, which then refuses the placement") {
  constexpr char kQuota[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: q, namespace: shop}
spec: {overall: {cpu: "4"}}
)";
  config::Options daemon = As(BOTH_RELEASES);
  REQUIRE(daemon.gates.Set("FederatedQuotaEnforcement=true").ok());
  const kube::Object cluster(*yaml::Parse(
      "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}"));
  const Plan plan = Ask(absl::StrCat(kClusters, kQuota,
                                     Workload("web", "{clusterAffinity: {}}", "",
                                              ", resources: {requests: {cpu: 500m}}")),
                        {*Joining(cluster)}, daemon);
  CHECK(FateOf(plan, "web").verdict == Verdict::kQuota);
}

TEST_CASE("What if: of two workloads a quota has room for one, which is chosen by the release") {
  // As v1.19 bindings have priorities without a gate; as v1.18 they wait in their order.
  constexpr char kPriorities[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: q, namespace: shop}
spec: {overall: {cpu: "10"}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}
)";
  const std::string cpu = ", resources: {requests: {cpu: 500m}}";
  const std::string files = absl::StrCat(
      kClusters, kPriorities, Workload("first", "{clusterAffinity: {}}", "", cpu),
      Workload("second", "{clusterAffinity: {}}",
               "  schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: "
               "high}\n",
               cpu));
  const config::Release release = BOTH_RELEASES;
  config::Options daemon = As(release);
  REQUIRE(daemon.gates.Set("FederatedQuotaEnforcement=true").ok());
  const kube::Object cluster(*yaml::Parse(
      "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}"));
  const Plan plan = Ask(files, {*Joining(cluster)}, daemon);
  const bool second = release == config::Release::kV1_19;
  CHECK(FateOf(plan, "first").verdict == (second ? Verdict::kQuota : Verdict::kSpreads));
  CHECK(FateOf(plan, "second").verdict == (second ? Verdict::kSpreads : Verdict::kQuota));
}

TEST_CASE("What if: room is counted by a cluster's resource models, where it counts its nodes") {
  // Twelve CPUs, on nodes with one each.
  constexpr char kSmallNodes[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
spec:
  resourceModels:
  - {grade: 0, ranges: [{name: cpu, min: "0", max: "1"}]}
  - {grade: 1, ranges: [{name: cpu, min: "1", max: "9223372036854775807"}]}
status:
  resourceSummary:
    allocatable: {cpu: "12", pods: "100"}
    allocatableModelings: [{grade: 0, count: 0}, {grade: 1, count: 12}]
)";
  const std::string files = absl::StrCat(
      kSmallNodes,
      Workload("web",
               "{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: "
               "Aggregated}}",
               "", ", resources: {requests: {cpu: \"2\"}}"));
  config::Options daemon = As(BOTH_RELEASES);
  const Plan plan = Ask(files, {Without("m1")}, daemon);
  CHECK(FateOf(plan, "web").verdict == Verdict::kNoRoom);
  // How many nodes make up another capacity nobody has said.
  const Plan larger = Ask(files, {Without("m1"), *ParseCapacity("m2:cpu=24")}, daemon);
  CHECK(FateOf(larger, "web").verdict == Verdict::kMoves);
  REQUIRE(larger.what_if->notes.size() == 2);
  CHECK_THAT(larger.what_if->notes[1], Catch::Contains("(spec.resourceModels) is not counted"));
  REQUIRE(daemon.gates.Set("CustomizedClusterResourceModeling=false").ok());
  CHECK(FateOf(Ask(files, {Without("m1")}, daemon), "web").verdict == Verdict::kMoves);
}

TEST_CASE("What if: a placement by workload affinity is not simulated, with its gate") {
  const std::string files = absl::StrCat(
      kClusters,
      absl::StrReplaceAll(
          Workload("web", "{workloadAffinity: {antiAffinity: {groupByLabelKey: team}}}"),
          {{"metadata: {name: web, namespace: shop}\nspec:\n  replicas",
            "metadata: {name: web, namespace: shop, labels: {team: a}}\nspec:\n  replicas"}}));
  config::Options daemon = As(BOTH_RELEASES);
  CHECK(FateOf(Ask(files, {Without("m1")}, daemon), "web").verdict == Verdict::kShrinks);
  REQUIRE(daemon.gates.Set("WorkloadAffinity=true").ok());
  const Plan plan = Ask(files, {Without("m1")}, daemon);
  const Fate& fate = FateOf(plan, "web");
  CHECK(fate.verdict == Verdict::kNotSimulated);
  CHECK_THAT(fate.why, Catch::Contains("by workload affinity"));
  CHECK_THAT(Found(plan, finding::kNotSimulated),
             Catch::Contains("Deployment shop/web: a plan does not show where it is placed"));
}

TEST_CASE("What if: each cluster that keeps a workload is warned of, whatever becomes of it") {
  const config::Options daemon = Evicting(BOTH_RELEASES);
  const std::string tolerating =
      "{clusterTolerations: [{key: b, operator: Exists, effect: NoExecute}]}";
  const std::vector<FleetEdit> taints = {*ParseTaint("m1:a=1:NoExecute"),
                                         *ParseTaint("m2:b=1:NoExecute")};
  const Plan shrinks = Ask(absl::StrCat(kClusters, Workload("web", tolerating)), taints, daemon);
  CHECK(FateOf(shrinks, "web").verdict == Verdict::kShrinks);
  CHECK(Found(shrinks, finding::kStays) ==
        "Cluster m2: 1 template stays there: they tolerate the taint for ever\n");
  // Nothing evicts: it stays in both.
  const Plan stays = Ask(absl::StrCat(kClusters, Workload("web", "{clusterAffinity: {}}")),
                         {Drained("m1"), Drained("m2")}, As(*daemon.wanted_release));
  CHECK(FateOf(stays, "web").verdict == Verdict::kStays);
  CHECK_THAT(Found(stays, finding::kStays), Catch::Contains("Cluster m1: 1 template stays") &&
                                                Catch::Contains("Cluster m2: 1 template stays"));
}

TEST_CASE("What if: a cordoned cluster is not said to get nothing, for it may get replicas") {
  const Plan plan = Ask(kClusters, {Cordoned("m2")});
  REQUIRE(plan.what_if->notes.size() == 1);
  CHECK_THAT(plan.what_if->notes[0],
             Catch::StartsWith("m2 gets nothing that is not there already; what is there stays, "
                               "and may get more replicas"));
}

TEST_CASE("What if: taking off what is not there is said to change nothing") {
  const Plan plan = Ask(kClusters, {Uncordoned("m1"), *ParseTaint("m1:k-"), *ParseLabel("m1:l-")});
  CHECK(plan.what_if->notes ==
        std::vector<std::string>{"m1 is not cordoned: there is nothing to take off.",
                                 "m1 has no such taint: there is nothing to take off.",
                                 "m1 has no label l: there is nothing to take off."});
  const Plan there =
      Ask(absl::StrReplaceAll(
              kClusters, {{"{name: m1, labels: {tier: gold}}",
                           "{name: m1, labels: {tier: gold}}\nspec: {taints: [{key: k, effect: "
                           "NoSchedule}]}"}}),
          {*ParseTaint("m1:k-"), *ParseLabel("m1:tier-")});
  REQUIRE(there.what_if->notes.size() == 2);
  CHECK_THAT(there.what_if->notes[0], Catch::Contains("has a taint less"));
  CHECK_THAT(there.what_if->notes[1], Catch::Contains("has other labels"));
}

TEST_CASE("What if: a cluster that does not exist, or that is there already, is an error") {
  PlanRequest request;
  request.objects = *ObjectsOf(*tool::ParseDocuments("f.yaml", kClusters));
  request.edits = {Lost("m9")};
  CHECK(MakePlan(request, {}).status() == absl::NotFoundError("there is no cluster m9"));
}

TEST_CASE("What if: a cluster that leaves cannot have another question as well") {
  PlanRequest request;
  request.objects = *ObjectsOf(*tool::ParseDocuments("f.yaml", kClusters));
  request.edits = {Without("m1"), Lost("m1")};
  CHECK(MakePlan(request, {}).status() ==
        absl::InvalidArgumentError("two questions contradict each other: m1 leaves the fleet, and "
                                   "m1 is lost; ask one of them"));
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

TEST_CASE("What if: of files that no policy propagates the plan says that nothing was asked") {
  const Plan plan =
      Ask(absl::StrCat(
              kClusters,
              "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}\n"),
          {Lost("m1")});
  CHECK_THAT(Found(plan, finding::kNoPolicy), Catch::StartsWith("ConfigMap shop/c: no policy"));
  CHECK(CountsOf(*plan.what_if) == "no template is propagated, so nothing was asked");
}

TEST_CASE("What if: changes are read in the forms of kubectl, and others are refused") {
  CHECK(ParseTaint("m1:a.io/k=v:NoExecute")->ToString() == "m1 gets the taint a.io/k=v:NoExecute");
  CHECK(ParseTaint("m1:k:NoSchedule")->ToString() == "m1 gets the taint k:NoSchedule");
  CHECK(ParseTaint("m1:k:NoSchedule-")->ToString() == "m1 loses the taint k:NoSchedule");
  CHECK(ParseTaint("m1:k-")->ToString() == "m1 loses the taint k");
  CHECK(ParseLabel("m1:k=v")->ToString() == "m1 gets the label k=v");
  CHECK(ParseLabel("m1:k-")->ToString() == "m1 loses the label k");
  CHECK(ParseCapacity("m1:cpu=10,memory=1Gi")->ToString() ==
        "m1 has room for cpu 10, memory 1Gi in all");
  for (const char* text : {"m1", "m1:", ":k:NoExecute", "m1:k", "m1:=v:NoExecute", "m1:k:Never"}) {
    INFO(text);
    CHECK_FALSE(ParseTaint(text).ok());
  }
  for (const char* text : {"m1", "m1:k", "m1:-", "m1:=v"}) CHECK_FALSE(ParseLabel(text).ok());
  for (const char* text : {"m1:cpu", "m1:cpu=", "m1:cpu=much", "m1:cpu=-1"}) {
    CHECK_FALSE(ParseCapacity(text).ok());
  }
  CHECK(ParseCapacity("m1:example.com/gpu=4,hugepages-2Mi=1Gi").ok());
  CHECK_THAT(std::string(ParseCapacity("m1:cpus=10").status().message()),
             Catch::StartsWith("there is no resource cpus; did you mean cpu?"));
}

TEST_CASE("What if: the page has neither markup of objects nor anything that is fetched") {
  const std::string hostile = R"(
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  annotations: {note: "</pre><script src=https://evil.example/x.js></script><img src=x onerror=alert(1)>"}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}
)";
  const kube::Object cluster(*yaml::Parse(
      "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}"));
  Plan plan = Ask(absl::StrCat(kClusters, hostile), {*Joining(cluster)});
  plan.what_if->notes.push_back("<script>alert(1)</script>");
  plan.findings.push_back({{}, "<b>", "\"'><svg onload=alert(1)>", "\x1b[2J<i>"});
  const std::string page = PageOf(plan);
  CHECK_THAT(page, Catch::Contains("&lt;script"));
  for (const char* markup :
       {"<script", "<img", "<svg", "<b>", "<i>", "src=\"", "href", "url(", "@import", "\x1b"}) {
    INFO(markup);
    CHECK_THAT(page, !Catch::Contains(markup));
  }
}

}  // namespace lens::plan
