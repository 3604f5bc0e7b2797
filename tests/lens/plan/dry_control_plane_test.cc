#include "lens/plan/dry_control_plane.h"

#include <catch2/catch.hpp>

#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "lens/plan/outcome.h"

namespace lens::plan {
namespace {

config::Options As(config::Release release) {
  config::Options options;
  options.wanted_release = release;
  return options;
}

struct Fixture {
  std::unique_ptr<DryControlPlane> plane;

  explicit Fixture(config::Options options = {})
      : plane(*DryControlPlane::Start(std::move(options))) {}

  void Apply(const std::string& yaml) {
    const std::vector<json::Value> documents = *yaml::ParseAll(yaml);
    for (const json::Value& document : documents) {
      const absl::Status applied = plane->Apply(kube::Object(document));
      INFO(applied.ToString());
      REQUIRE(applied.ok());
    }
  }
  void Settle() {
    const absl::Status settled = plane->Settle({});
    INFO(settled.ToString());
    REQUIRE(settled.ok());
  }
  // Returns "member1:2 member2:1", or "none".
  std::string Placed(const ObjectId& id) {
    const Outcome outcome = OutcomeOf(*StateOf(plane->backend()));
    const auto found = outcome.find(id);
    if (found == outcome.end()) return "none";
    std::string text;
    for (const auto& [cluster, share] : found->second.clusters) {
      absl::StrAppend(&text, text.empty() ? "" : " ", cluster, ":", share.replicas.value_or(-1));
    }
    return text;
  }
};

const ObjectId kWeb{"apps", "Deployment", "shop", "web"};

constexpr char kClusters[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
)";

constexpr char kDeployment[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
)";

constexpr char kPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
)";

}  // namespace

TEST_CASE_METHOD(Fixture, "Plan: the simulated control plane places what policies select") {
  Apply(kClusters);
  Apply(kDeployment);
  Settle();
  CHECK(Placed(kWeb) == "none");
  Apply(kPolicy);
  Settle();
  CHECK(Placed(kWeb) == "m1:2 m2:2");
  REQUIRE(plane->Delete(kube::Object::Make(api::PropagationPolicies().gvk, {"shop", "web"})).ok());
  REQUIRE(plane->Delete(kube::Object::Make({"apps", "v1", "Deployment"}, {"shop", "web"})).ok());
  Settle();
  CHECK(Placed(kWeb) == "none");
}

TEST_CASE_METHOD(Fixture, "Plan: a policy that waits for an override that does not exist settles") {
  Apply(kClusters);
  Apply(kDeployment);
  Apply(std::string(kPolicy) + "  dependentOverrides: [absent]\n");
  Settle();
  CHECK(Placed(kWeb) == "none");
}

TEST_CASE_METHOD(Fixture, "Plan: only kinds of foreign groups are taken for custom resources") {
  const auto served = [&](const kube::Gvk& gvk, const std::string& ns) {
    return plane->ResourceFor(kube::Object::Make(gvk, {ns, "x"}));
  };
  CHECK(served({"example.io", "v1", "Policy"}, "shop")->plural == "policies");
  CHECK(served({"example.io", "v1", "Proxy"}, "")->plural == "proxies");
  CHECK_FALSE(served({"example.io", "v1", "Proxy"}, "")->namespaced);
  CHECK(absl::IsNotFound(served({"", "v1", "Pot"}, "shop").status()));
  CHECK(absl::IsNotFound(served({"batch", "v1", "Jop"}, "shop").status()));
  CHECK(absl::IsNotFound(served({"policy.karmada.io", "v1", "Polizy"}, "shop").status()));
  CHECK(plane->assumed_kinds().size() == 2);
}

TEST_CASE("Plan: a rescheduling is simulated as the control plane's release does it") {
  const auto release = GENERATE(config::Release::kV1_18, config::Release::kV1_19);
  Fixture fixture(As(release));
  fixture.Apply(kClusters);
  fixture.Apply(kDeployment);
  fixture.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinities:
    - {affinityName: first, clusterNames: [m3]}
    - {affinityName: second, clusterNames: [m2]}
)");
  fixture.Settle();
  CHECK(fixture.Placed(kWeb) == "m2:4");
  fixture.Apply("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}");
  fixture.Settle();
  CHECK(fixture.Placed(kWeb) == "m2:4");
  sandbox::PatchRequest asked;
  asked.patch.Set({"spec", "rescheduleTriggeredAt"},
                  kube::FormatTime(base::RealClock().Now() + absl::Hours(1)));
  REQUIRE(fixture.plane->backend()
              .Patch(api::ResourceBindings().gvr(), {"shop", "web-deployment"}, asked)
              .ok());
  fixture.Settle();
  CHECK(fixture.Placed(kWeb) == (release == config::Release::kV1_19 ? "m3:4" : "m2:4"));
}

TEST_CASE("Plan: the loops behave as the release of the definitions") {
  CHECK(absl::IsInvalidArgument(
      DryControlPlane::Start(As(config::Release::kV1_18), "config/crds/v1.19").status()));
  Fixture fixture(As(config::Release::kV1_19));
  fixture.Apply(kClusters);
  fixture.Apply(kDeployment);
  fixture.Apply(R"(
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {}
  schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: high}
)");
  fixture.Settle();
  const auto binding =
      fixture.plane->backend().Get(api::ResourceBindings().gvr(), {"shop", "web-deployment"});
  REQUIRE(binding.ok());
  CHECK((*binding)->spec()["schedulePriority"]["priority"].AsInt() == 7);
}

}  // namespace lens::plan
