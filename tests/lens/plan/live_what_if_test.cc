// Questions about the fleet of a live control plane.
#include <catch2/catch.hpp>
#include <string>

#include "api/keys.h"
#include "tests/lens/plan/live_plane.h"

namespace lens::plan {
namespace {

// A workload whose placement is made by somebody else than the simulated scheduler.
std::string PlacedByOthers(const std::string& ns, const std::string& spec) {
  return absl::StrCat(
      "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n",
      "metadata: {name: web, namespace: ", ns, "}\nspec:\n",
      "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n", spec,
      "---\napiVersion: apps/v1\nkind: Deployment\n", "metadata: {name: web, namespace: ", ns,
      "}\nspec:\n  replicas: 1\n", "  selector: {matchLabels: {app: web}}\n",
      "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, "
      "image: nginx}]}}\n");
}

}  // namespace

TEST_CASE_METHOD(LivePlane,
                 "Plan: what a cluster's label places for the first time takes along its needs") {
  constexpr char kLonely[] = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: lonely, namespace: apart}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: lonely, namespace: apart}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: lonely, namespace: apart}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: nginx, envFrom: [{configMapRef: {name: lonely}}]}]
)";
  Apply(kLonely);
  REQUIRE(live->Settle({}).ok());
  edits = {*ParseLabel("m2:tier=gold")};
  CHECK(Differences("") == "ConfigMap apart/lonely m2 create\nDeployment apart/lonely m2 create\n");
}

TEST_CASE_METHOD(
    LivePlane, "Plan: a question about the fleet needs no files, and is about all that is there") {
  edits = {Without("m1")};
  const std::string all = Differences("");
  for (const char* line : {"Deployment shop/web m1 delete\n", "Deployment shop/web m2 change\n",
                           "Deployment shop/other m1 delete\n"}) {
    CHECK_THAT(all, Catch::Contains(line));
  }
}

TEST_CASE_METHOD(LivePlane,
                 "What if: live workloads that nothing places again, or not as simulated") {
  Apply(
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"
      "metadata: {name: m1, labels: {tier: edge}}\nspec: {region: north}\n---\n"
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"
      "metadata: {name: m2}\nspec: {region: south}\n");
  Apply(PlacedByOthers("far", "  schedulerName: my-scheduler\n"));
  Apply(PlacedByOthers("north",
                       "  placement: {spreadConstraints: [{spreadByField: region, minGroups: 1, "
                       "maxGroups: 1}, {spreadByField: cluster, minGroups: 1, maxGroups: 1}]}\n"));
  REQUIRE(live->Settle({}).ok());
  const auto edit = [&](const std::string& ns, auto change) {
    const kube::Gvr bindings = api::ResourceBindings().gvr();
    kube::Object binding = *live->backend().Get(bindings, {ns, "web-deployment"}).value();
    change(binding);
    REQUIRE(live->Apply(binding).ok());
  };
  const auto place = [](kube::Object& binding) {
    binding.Set({"spec", "clusters"},
                json::Value::Array({json::Value::Object({{"name", "m1"}, {"replicas", 1}})}));
    // By what the scheduler records there the daemon knows what is tolerated.
    binding.SetAnnotation(api::kAppliedPlacementAnnotation,
                          json::Write(binding.spec()["placement"]));
  };
  edit("far", place);
  edit("north", place);
  edit("shop", [](kube::Object& b) { b.Set({"spec", "suspension", "scheduling"}, true); });
  REQUIRE(live->Settle({}).ok());
  REQUIRE(daemon.gates.Set("Failover=true").ok());
  daemon.taint_eviction.no_execute = true;
  edits = {Drained("m1"), Drained("m2")};
  Differences("");
  CHECK_THAT(Found(finding::kNowhere, "Deployment shop/web"),
             Catch::Contains("its scheduling is suspended"));
  CHECK_THAT(Found(finding::kPinned, "Deployment shop/other"),
             Catch::Contains("its placement cannot be met"));
  CHECK_THAT(Found(finding::kNotSimulated, "Deployment far/web"),
             Catch::Contains("its scheduler my-scheduler is not simulated"));
  CHECK_THAT(Found(finding::kPinned, "Deployment north/web"), Catch::Contains("0/2 clusters"));
  // One region is enough for it, and the other one is as good.
  edits = {Drained("m1")};
  const std::string moves = Differences("");
  CHECK_THAT(moves, Catch::Contains("Deployment north/web m1 delete\n"
                                    "Deployment north/web m2 create\n"));
  CHECK(Found(finding::kPinned, "Deployment north/web") == "");
}

TEST_CASE_METHOD(LivePlane,
                 "What if: what is placed without a record of its tolerations stays, and is said") {
  // The policy tolerates nothing. The scheduler, which is not simulated, has recorded nothing.
  Apply(PlacedByOthers("far", "  schedulerName: my-scheduler\n"));
  // This one is placed by the simulated one, which records that everything is tolerated.
  Apply(PlacedByOthers("near",
                       "  placement: {clusterAffinity: {clusterNames: [m1]}, clusterTolerations: "
                       "[{operator: Exists}]}\n"));
  REQUIRE(live->Settle({}).ok());
  const kube::Gvr bindings = api::ResourceBindings().gvr();
  kube::Object binding = *live->backend().Get(bindings, {"far", "web-deployment"}).value();
  binding.Set({"spec", "clusters"},
              json::Value::Array({json::Value::Object({{"name", "m1"}, {"replicas", 1}})}));
  REQUIRE(live->Apply(binding).ok());
  REQUIRE(live->Settle({}).ok());
  REQUIRE(daemon.gates.Set("Failover=true").ok());
  daemon.taint_eviction.no_execute = true;
  edits = {Drained("m1")};
  CHECK_THAT(Differences(""), !Catch::Contains("far/web") && !Catch::Contains("near/web"));
  const std::string stays = Found(finding::kStays, "Cluster m1");
  CHECK_THAT(stays, Catch::Contains("1 template stays there: it tolerates the taint for ever") &&
                        Catch::Contains("1 template stays there: karmada-controller-manager does "
                                        "not know what it tolerates"));
}

}  // namespace lens::plan
