// Questions about the fleet: quotas, room, and what the sandbox does not simulate.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/yaml.h"
#include "lens/plan/comparison.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/page.h"
#include "lens/plan/report.h"
#include "tests/lens/plan/what_if_questions.h"

namespace lens::plan {
namespace {

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

// A Deployment that is not to be where another one of its team is.
std::string Apart(const std::string& name) {
  return absl::StrReplaceAll(
      Workload(name, "{workloadAffinity: {antiAffinity: {groupByLabelKey: team}}}"),
      {{"namespace: shop}\nspec:\n  replicas",
        "namespace: shop, labels: {team: a}}\nspec:\n  replicas"}});
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
  config::Options daemon = As(config::Release::kV1_19);
  REQUIRE(daemon.gates.Set("WorkloadAffinity=true").ok());
  const Plan plan = Ask(absl::StrCat(kClusters, Apart("web")), {}, daemon);
  REQUIRE(plan.templates.size() == 1);
  TemplateOutcome refused = In({});
  refused.not_scheduled = plan.templates[0].outcome.not_scheduled;
  refused.not_scheduled_reason = plan.templates[0].outcome.not_scheduled_reason;
  const Told told = Tell(refused);
  CHECK(told.fate.verdict == Verdict::kNotSimulated);
  CHECK_THAT(told.fate.why, Catch::Contains("by workload affinity"));
  CHECK_THAT(told.text, Catch::Contains("! not known where it goes: the sandbox's scheduler") &&
                            !Catch::Contains("in no cluster"));
  CHECK_THAT(told.page, Catch::Contains("It is not known where it goes"));
  REQUIRE(told.findings.size() == 1);
  CHECK(told.findings[0].code == finding::kNotSimulated);
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
  const std::string files = absl::StrCat(kClusters, Apart("web"));
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

}  // namespace lens::plan
