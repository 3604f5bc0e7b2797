// Questions about the fleet: what is warned of, noted and refused, several at once, and the page.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/yaml.h"
#include "lens/plan/page.h"
#include "lens/plan/report.h"
#include "tests/lens/plan/what_if_questions.h"

namespace lens::plan {

TEST_CASE("What if: each cluster that keeps a workload is warned of, whatever becomes of it") {
  const config::Options daemon = Evicting(BOTH_RELEASES);
  const std::string tolerating =
      "{clusterTolerations: [{key: b, operator: Exists, effect: NoExecute}]}";
  const std::vector<FleetEdit> taints = {*ParseTaint("m1:a=1:NoExecute"),
                                         *ParseTaint("m2:b=1:NoExecute")};
  const Plan shrinks = Ask(absl::StrCat(kClusters, Workload("web", tolerating)), taints, daemon);
  CHECK(FateOf(shrinks, "web").verdict == Verdict::kShrinks);
  CHECK(Found(shrinks, finding::kStays) ==
        "Cluster m2: 1 template stays there: it tolerates the taint for ever\n");
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

TEST_CASE("What if: the loss of a cluster that is not ready already is said to be nothing new") {
  constexpr char kLostBefore[] = R"(
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m3}
spec:
  taints: [{key: cluster.karmada.io/not-ready, effect: NoSchedule}]
status:
  conditions:
  - {type: Ready, status: "False", reason: ClusterNotReachable, message: no route,
     lastTransitionTime: "2026-01-01T11:00:00Z"}
)";
  const Plan plan = Ask(absl::StrCat(kClusters, kLostBefore), {Lost("m3")});
  REQUIRE_FALSE(plan.what_if->notes.empty());
  CHECK(plan.what_if->notes[0] ==
        "m3 is already not ready since 2026-01-01T11:00:00Z (ClusterNotReachable: no route): that "
        "it is lost gives it no other taint.");
}

TEST_CASE("What if: what could not be made before either is no part of the answer") {
  constexpr char kFails[] = R"(
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: fails, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
  - overriders: {plaintext: [{path: /spec/nothing/there, operator: replace, value: 1}]}
)";
  const std::string files = absl::StrCat(kClusters, Workload("web", kOnlyM1), kFails);
  const Plan made = Ask(files, {});
  CHECK(made.Count().fail == 1);
  const Plan plan = Ask(files, {Uncordoned("m2")});
  CHECK(plan.Count().fail == 0);
  CHECK(CountsOf(*plan.what_if) == "every template stays as it is");
  CHECK_THAT(TextOf(plan, {}), !Catch::Contains("Deployment shop/web"));
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
