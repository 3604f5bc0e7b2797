// Two clusters, workloads in them, and questions about the fleet that they are.
#ifndef TESTS_LENS_PLAN_WHAT_IF_QUESTIONS_H_
#define TESTS_LENS_PLAN_WHAT_IF_QUESTIONS_H_

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lens/plan/fates.h"
#include "lens/plan/plan.h"
#include "lens/plan/what_if.h"

namespace lens::plan {

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
inline std::string Workload(const std::string& name, const std::string& placement,
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

inline config::Options As(config::Release release) {
  config::Options options;
  options.wanted_release = release;
  return options;
}

inline config::Options Evicting(config::Release release = config::Release::kV1_18) {
  config::Options options = As(release);
  REQUIRE(options.gates.Set("Failover=true").ok());
  options.taint_eviction.no_execute = true;
  return options;
}

inline Plan Ask(const std::string& files, const std::vector<FleetEdit>& edits,
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

inline const Fate& FateOf(const Plan& plan, const std::string& deployment) {
  return plan.what_if->fates.at({"apps", "Deployment", "shop", deployment});
}

inline std::string Found(const Plan& plan, const std::string& code) {
  std::string text;
  for (const Finding& found : plan.findings) {
    if (found.code == code) absl::StrAppend(&text, found.object, ": ", found.message, "\n");
  }
  return text;
}

}  // namespace lens::plan

#endif  // TESTS_LENS_PLAN_WHAT_IF_QUESTIONS_H_
