#include "detector/late_kinds.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/object_reference.h"
#include "api/policy_scope.h"
#include "tests/support/members_fixture.h"

namespace {

const kube::Gvk kRobot{"x.io", "v1", "Robot"};
constexpr char kNoFit[] = R"([{"type": "Scheduled", "status": "False", "reason": "NoClusterFit",
    "message": "0/1 clusters are available: 1 cluster(s) did not have the API resource."}])";

kube::Object Cluster(const std::string& name, bool serves_robots) {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
  cluster.Set({"status", "apiEnablements"},
              tests::Json(absl::StrCat(R"([{"groupVersion": "apps/v1",
                  "resources": [{"name": "deployments", "kind": "Deployment"}]})",
                                       serves_robots ? R"(, {"groupVersion": "x.io/v1",
                  "resources": [{"name": "robots", "kind": "Robot"}]})"
                                                     : "",
                                       "]")));
  return cluster;
}

struct Fixture : tests::MembersFixture {
  std::optional<detector::PolicyIndex> policies, cluster_policies;
  std::optional<detector::LateKinds> late;

  Fixture() {
    Sync({api::PropagationPolicies(), api::ClusterPropagationPolicies(), api::ResourceBindings(),
          api::ClusterResourceBindings()});
    policies.emplace(informers.Get(api::PropagationPolicies()));
    cluster_policies.emplace(informers.Get(api::ClusterPropagationPolicies()));
    late.emplace(Make(), *policies, *cluster_policies);
  }
  // Puts a policy with its binding, for the cluster m1.
  void Put(const kube::Gvk& kind, const char* conditions) {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
    policy.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
    PutCached(api::PropagationPolicies(), policy);
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "r-robot"});
    api::policy_scope::Namespaced::Claim(policy, binding);
    binding.Set({"spec", "resource"},
                api::ObjectReference::Of(kube::Object::Make(kind, {"ns", "r"})).ToJson());
    binding.Set({"spec", "placement"},
                tests::Json(R"({"clusterAffinity": {"clusterNames": ["m1"]}})"));
    binding.Set({"status", "conditions"}, tests::Json(conditions));
    PutCached(api::ResourceBindings(), binding);
  }
  void Update(const std::string& cluster) {
    late->OnClusterUpdated(Cluster(cluster, false), Cluster(cluster, true));
  }
};

TEST_CASE_METHOD(Fixture, "objects that were bound before their kind was served are reported") {
  Put(kRobot, kNoFit);
  Update("m1");
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All().front(),
                         "Warning KindServedLate PropagationPolicy: clusters serve x.io/v1 Robot "
                         "now, but objects of it that were bound before are in no cluster"));
}

TEST_CASE_METHOD(Fixture, "only objects that this cluster may change something for are reported") {
  SECTION("another cluster") {
    Put(kRobot, kNoFit);
    Update("m2");
  }
  SECTION("another kind") {
    Put({"y.io", "v1", "Robot"}, kNoFit);
    Update("m1");
  }
  SECTION("not looked at by the scheduler yet") {
    Put(kRobot, "[]");
    Update("m1");
  }
  SECTION("in no cluster for another reason") {
    Put(kRobot, R"([{"type": "Scheduled", "status": "False", "reason": "NoClusterFit",
        "message": "0/1 clusters are available: 1 cluster(s) had untolerated taint."}])");
    Update("m1");
  }
  SECTION("placed") {
    Put(kRobot, R"([{"type": "Scheduled", "status": "True", "reason": "Success"}])");
    Update("m1");
  }
  SECTION("another change of the cluster") {
    Put(kRobot, kNoFit);
    late->OnClusterUpdated(Cluster("m1", true), Cluster("m1", true));
    late->OnClusterUpdated(Cluster("m1", true), Cluster("m1", false));
  }
  SECTION("a cluster that joins") {
    Put(kRobot, kNoFit);
    late->OnClusterUpdated(kube::Object::Make(api::Clusters().gvk, {"", "m1"}),
                           Cluster("m1", true));
  }
  SECTION("a cluster that is not ready yet") {
    Put(kRobot, kNoFit);
    kube::Object after = Cluster("m1", true);
    after.Set({"spec", "taints"}, tests::Json(R"([{"key": "cluster.karmada.io/not-ready",
                                                   "effect": "NoSchedule"}])"));
    late->OnClusterUpdated(Cluster("m1", false), after);
  }
  CHECK(recorded->All().empty());
}

}  // namespace
