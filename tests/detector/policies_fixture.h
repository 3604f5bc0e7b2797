// Policies of both scopes and one template, the Deployment ns/web.
//
//   Put("low", 1);                     // A PropagationPolicy that names the template.
//   Put("CLUSTER", 9, "Never");        // A ClusterPropagationPolicy.
//   REQUIRE(Pass().ok());
//   CHECK(Holder() == "low");
#ifndef TESTS_DETECTOR_POLICIES_FIXTURE_H_
#define TESTS_DETECTOR_POLICIES_FIXTURE_H_

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/policy_scope.h"
#include "detector/policy_index.h"
#include "detector/template_memory.h"
#include "detector/template_reconciler.h"
#include "tests/support/eventually.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/rechecks.h"

namespace tests {

inline const kube::ObjectKey kWeb = {"ns", "web"};
inline constexpr char kNamesWeb[] = R"({"namespace": "ns", "name": "web"})";

// Lower-case letters stand for PropagationPolicies, upper-case letters for
// ClusterPropagationPolicies.
inline bool IsCluster(const std::string& policy) { return policy < "a"; }

struct PoliciesFixture : MembersFixture {
  using Namespaced = api::policy_scope::Namespaced;
  using Cluster = api::policy_scope::Cluster;

  ScriptedInterpreter scripted;
  detector::TemplateMemory memory{*events};
  works::Rechecks rechecks;
  std::optional<detector::PolicyIndex> policies, cluster_policies;
  std::optional<detector::TemplateReconciler> reconciler;

  PoliciesFixture() {
    Sync({kDeployments, api::ResourceBindings(), api::PropagationPolicies(),
          api::ClusterPropagationPolicies()});
    policies.emplace(informers.Get(api::PropagationPolicies()));
    cluster_policies.emplace(informers.Get(api::ClusterPropagationPolicies()));
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    Make();
    Use({});
  }
  ~PoliciesFixture() override {
    policies.reset();
    cluster_policies.reset();
  }
  void Use(const detector::DetectorGates& gates) {
    reconciler.emplace(detector::TemplateReconciler::Deps{
        *manager, scripted, *policies, *cluster_policies, memory, rechecks, gates});
  }
  static const kube::Resource& KindOf(const std::string& policy) {
    return IsCluster(policy) ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
  }
  static kube::ObjectKey KeyOf(const std::string& policy) {
    return {IsCluster(policy) ? "" : "ns", policy};
  }
  // Stores a policy, and waits until the index has it. `selector` has neither apiVersion nor kind.
  void Put(const std::string& name, int priority, const std::string& preemption = "Always",
           const std::string& selector = kNamesWeb) {
    kube::Object policy = kube::Object::Make(KindOf(name).gvk, KeyOf(name));
    policy.SetLabel(IsCluster(name) ? Cluster::kIdLabel : Namespaced::kIdLabel,
                    absl::StrCat(name, "-id"));
    json::Value selected = Json(selector);
    selected.Set("apiVersion", "apps/v1");
    selected.Set("kind", "Deployment");
    policy.Set({"spec", "resourceSelectors"}, json::Value::Array({selected}));
    policy.Set({"spec", "priority"}, priority);
    policy.Set({"spec", "preemption"}, preemption);
    PutIndexed(name, policy);
  }
  void PutIndexed(const std::string& name, const kube::Object& policy) {
    const kube::Object stored = PutCached(KindOf(name), policy);
    const detector::PolicyIndex& index = IsCluster(name) ? *cluster_policies : *policies;
    REQUIRE(Eventually([&] {
      const std::vector<kube::ObjectPtr> known = index.Selecting(kDeployments.gvk);
      return std::any_of(known.begin(), known.end(), [&](const kube::ObjectPtr& p) {
        return p->name() == name && p->resource_version() == stored.resource_version();
      });
    }));
  }
  void SetPriority(const std::string& name, int priority) {
    kube::Object policy = server->Find(KindOf(name), KeyOf(name));
    policy.Set({"spec", "priority"}, priority);
    PutIndexed(name, policy);
  }
  // A pass over the template, for the request with this reason.
  absl::Status Pass(kube::Reason reason = {}) {
    kube::Request request{.key = kWeb, .gvk = kDeployments.gvk};
    request.reason = reason;
    const absl::Status result = reconciler->Reconcile(request, {}).status();
    REQUIRE(Shows(kDeployments, server->Find(kDeployments, kWeb)));
    return result;
  }
  // Returns the policy that the object follows.
  static std::string HolderOf(const kube::Object& object) {
    return absl::StrCat(Namespaced::ClaimOn(object).name, Cluster::ClaimOn(object).name);
  }
  std::string Holder() const { return HolderOf(server->Find(kDeployments, kWeb)); }
  // Returns the template's binding; an empty object when there is none.
  kube::Object Binding() const {
    return server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
  }
};

}  // namespace tests

#endif  // TESTS_DETECTOR_POLICIES_FIXTURE_H_
