// What a policy and a template ask of the scheduler besides the placement.
#include "detector/scheduling_hints.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/policy_scope.h"
#include "api/priority_class.h"
#include "detector/binding_builder.h"
#include "tests/support/members_fixture.h"

namespace {

using detector::AffinityGroupsOf;
using tests::Json;

kube::Object Policy(const std::string& spec) {
  kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
  policy.Set({"spec"}, Json(spec));
  return policy;
}

kube::Object PolicyNaming(const std::string& name, const std::string& source) {
  return Policy(absl::StrCat(R"({"schedulePriority": {"priorityClassSource": ")", source,
                             R"(", "priorityClassName": ")", name, R"("}})"));
}

struct Fixture : tests::MembersFixture {
  absl::StatusOr<json::Value> PriorityFrom(const kube::Object& policy) {
    return detector::SchedulePriorityOf(policy, cluster, {});
  }
  std::string WhyNot(const kube::Object& policy) {
    return std::string(PriorityFrom(policy).status().message());
  }
  void PutClass(const std::string& name, int value) {
    kube::Object priority = kube::Object::Make(api::PriorityClasses().gvk, {"", name});
    priority.Set({"value"}, value);
    server->Put(api::PriorityClasses(), priority);
  }
};

TEST_CASE_METHOD(Fixture, "a binding gets the value of the priority class that its policy names") {
  PutClass("high", 1000);
  PutClass("low", -5);
  PutClass("none", 0);
  CHECK(*PriorityFrom(PolicyNaming("high", "KubePriorityClass")) == Json(R"({"priority": 1000})"));
  CHECK(*PriorityFrom(PolicyNaming("low", "KubePriorityClass")) == Json(R"({"priority": -5})"));
  CHECK(*PriorityFrom(PolicyNaming("none", "KubePriorityClass")) == Json("{}"));
  CHECK(PriorityFrom(Policy("{}"))->is_null());
}

TEST_CASE_METHOD(Fixture, "a priority class that cannot be used is an error that names it") {
  CHECK(absl::StartsWith(WhyNot(PolicyNaming("high", "KubePriorityClass")),
                         R"(priorityclasses.scheduling.k8s.io "high" not found)"));
  CHECK(WhyNot(PolicyNaming("high", "PodPriorityClass")) ==
        "priority class source is PodPriorityClass, but PodPriorityClass is not supported yet");
  CHECK(WhyNot(PolicyNaming("high", "FederatedPriorityClass")) ==
        "priority class source is FederatedPriorityClass, but FederatedPriorityClass is not "
        "supported yet");
  CHECK(absl::StartsWith(WhyNot(PolicyNaming("high", "")), "unsupported priority class source"));
}

TEST_CASE("workloads are grouped by what they have under the policy's label keys") {
  const kube::Object policy = Policy(R"({"placement": {"workloadAffinity": {
      "affinity": {"groupByLabelKey": "app"}, "antiAffinity": {"groupByLabelKey": "tier"}}}})");
  kube::Object web = kube::Object::Make(tests::kDeployments.gvk, {"ns", "web"});
  CHECK(AffinityGroupsOf(policy, web).is_null());
  web.SetLabel("tier", "");
  CHECK(AffinityGroupsOf(policy, web) == Json(R"({"antiAffinityGroup": "tier="})"));
  web.SetLabel("app", "shop");
  CHECK(AffinityGroupsOf(policy, web) ==
        Json(R"({"affinityGroup": "app=shop", "antiAffinityGroup": "tier="})"));
  CHECK(AffinityGroupsOf(Policy(R"({"placement": {}})"), web).is_null());
}

// Returns a binding of `object` with both hints.
template <class Scope>
kube::Object Hinted(const kube::Object& object) {
  return detector::BuildBinding<Scope>(object, Policy("{}"), {},
                                       {.priority = Json(R"({"priority": 7})"),
                                        .affinity_groups = Json(R"({"affinityGroup": "a=b"})")});
}

TEST_CASE("hints are written to ResourceBindings only, and go when policy or gate take them back") {
  using Namespaced = api::policy_scope::Namespaced;
  const kube::Object web = kube::Object::Make(tests::kDeployments.gvk, {"ns", "web"});
  const kube::Object hinted = Hinted<Namespaced>(web);
  CHECK(hinted.spec()["schedulePriority"] == Json(R"({"priority": 7})"));
  CHECK(hinted.spec()["workloadAffinityGroups"] == Json(R"({"affinityGroup": "a=b"})"));
  const kube::Object plain = detector::BuildBinding<Namespaced>(web, Policy("{}"), {});
  CHECK(*detector::MergeBinding<Namespaced>(hinted, plain) == plain);
  CHECK(*detector::MergeBinding<Namespaced>(plain, hinted) == hinted);

  using Cluster = api::policy_scope::Cluster;
  const kube::Object role =
      kube::Object::Make({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, {"", "reader"});
  const kube::Object bound = Hinted<Cluster>(role);
  CHECK_FALSE(bound.spec().Has("schedulePriority"));
  CHECK_FALSE(bound.spec().Has("workloadAffinityGroups"));
}

}  // namespace
