// Which policy a template follows when one preempts another.
#include "detector/preemption.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/policy_scope.h"
#include "detector/policy_reconciler.h"
#include "detector/request_reason.h"
#include "tests/detector/policies_fixture.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;
using tests::kDeployments;
using tests::kWeb;
using Namespaced = api::policy_scope::Namespaced;

struct Fixture : tests::PoliciesFixture {
  Fixture() { Use({.preemption = true}); }
  // Passes until nothing changes any more, and returns who has the template.
  std::string Settled() {
    for (int pass = 0; pass < 4; ++pass) CHECK(Pass().ok());
    CHECK(HolderOf(Binding()) == Holder());
    return Holder();
  }
  std::vector<std::string> Preemptions() const {
    std::vector<std::string> found;
    for (const std::string& event : recorded->All()) {
      if (absl::StrContains(event, "PreemptPolicy")) found.push_back(event);
    }
    return found;
  }
};

using Events = std::vector<std::string>;

TEST_CASE_METHOD(Fixture, "a policy takes over the template of a policy with lower priority") {
  Put("low", 1, "Never");
  REQUIRE(Settled() == "low");
  Put("high", 2);
  CHECK(Settled() == "high");
  CHECK(Preemptions() ==
        Events{"Normal PreemptPolicySucceed Deployment: Propagation policy(ns/high) preempted "
               "propagation policy(ns/low) successfully"});
  CHECK(registry.GetCounter("policy_preemption_total", "", {{"result", "success"}}).Value() == 1);
}

TEST_CASE_METHOD(Fixture, "of several policies the one with the highest priority takes over") {
  Put("low", 1, "Never");
  REQUIRE(Settled() == "low");
  Put("better", 2);
  Put("best", 3);
  Put("best-too", 3);
  CHECK(Settled() == "best");
  CHECK(Preemptions().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a template stays with its policy unless another one may preempt it") {
  Put("low", 1, "Never");
  REQUIRE(Settled() == "low");
  SECTION("because the priority is equal") { Put("equal", 1); }
  SECTION("because the other policy does not preempt") { Put("high", 2, "Never"); }
  SECTION("because it does not name the template") { Put("high", 2, "Always", "{}"); }
  SECTION("because it names another one") {
    Put("high", 2, "Always", R"({"namespace": "ns", "name": "db"})");
  }
  SECTION("because it is a cluster policy") { Put("HIGH", 2); }
  SECTION("because the gate is off") {
    Put("high", 2);
    Use({});
  }
  SECTION("because the template is being deleted") {
    Put("high", 2);
    kube::Object leaving = server->Find(kDeployments, kWeb);
    leaving.AddFinalizer("example.com/wait");
    leaving.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutCached(kDeployments, leaving);
  }
  CHECK(Settled() == "low");
  CHECK(Preemptions().empty());
}

TEST_CASE_METHOD(Fixture, "a policy takes over from a cluster policy, whatever the priorities") {
  Put("CLUSTER", 9, "Never");
  REQUIRE(Settled() == "CLUSTER");
  Put("meek", -1);
  CHECK(Settled() == "meek");
  CHECK(Preemptions() ==
        Events{"Normal PreemptPolicySucceed Deployment: Propagation policy(ns/meek) preempted "
               "cluster propagation policy(CLUSTER) successfully"});
  const kube::Object web = server->Find(kDeployments, kWeb);
  CHECK(web.Label(api::kClusterPropagationPolicyIdLabel).empty());
}

TEST_CASE_METHOD(Fixture, "a cluster policy takes over from one with lower priority only") {
  Put("LOW", 1, "Never");
  REQUIRE(Settled() == "LOW");
  Put("EQUAL", 1);
  CHECK(Settled() == "LOW");
  // Upstream looks the template up by the selector's namespace and name.
  Put("ANYWHERE", 3, "Always", R"({"name": "web"})");
  CHECK(Settled() == "LOW");
  Put("HIGH", 2);
  CHECK(Settled() == "HIGH");
  CHECK(Preemptions() ==
        Events{"Normal PreemptPolicySucceed Deployment: Cluster propagation policy(HIGH) preempted "
               "cluster propagation policy(LOW) successfully"});
}

TEST_CASE_METHOD(Fixture, "a policy whose priority is lowered loses its template to a better one") {
  Put("first", 5, "Never");
  REQUIRE(Settled() == "first");
  Put("second", 3);
  REQUIRE(Settled() == "first");
  SetPriority("first", 1);
  CHECK(Settled() == "second");
}

TEST_CASE_METHOD(Fixture, "a policy that comes while another one is applied still preempts it") {
  Put("low", 1, "Never");
  scripted.Enable(interpreter::Operation::kInterpretReplica);
  scripted.before_replicas = [&] { Put("high", 2); };
  CHECK(absl::IsAborted(Pass()));
  scripted.before_replicas = nullptr;
  CHECK(Settled() == "high");
}

TEST_CASE_METHOD(Fixture, "a lazy policy takes the template, and changes it with the next edit") {
  Put("low", 1, "Never");
  REQUIRE(Settled() == "low");
  Put("high", 2);
  kube::Object policy = server->Find(KindOf("high"), KeyOf("high"));
  policy.Set({"spec", "activationPreference"}, "Lazy");
  PutIndexed("high", policy);
  REQUIRE(Pass(detector::kNotByAnEdit).ok());
  REQUIRE(Pass(detector::kNotByAnEdit).ok());
  CHECK(Holder() == "high");
  CHECK(HolderOf(Binding()) == "low");
  kube::Object edited = server->Find(kDeployments, kWeb);
  edited.Set({"spec", "paused"}, true);
  PutCached(kDeployments, edited);
  REQUIRE(Pass().ok());
  CHECK(HolderOf(Binding()) == "high");
}

TEST_CASE_METHOD(Fixture, "a refused preemption is reported, and tried again") {
  Put("low", 1, "Never");
  REQUIRE(Settled() == "low");
  Put("high", 2);
  const kube::ObjectKey binding = {"ns", "web-deployment"};
  server->Erase(api::ResourceBindings(), binding);
  REQUIRE(tests::Eventually(
      [&] { return informers.Get(api::ResourceBindings())->store().Find(binding) == nullptr; }));
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Pass().ok());
  CHECK_FALSE(server->Find(api::ResourceBindings(), binding).empty());  // It follows "low".
  REQUIRE(Preemptions().size() == 1);
  CHECK(absl::StartsWith(Preemptions().front(),
                         "Warning PreemptPolicyFailed Deployment: Propagation policy(ns/high) "
                         "failed to preempt propagation policy(ns/low): "));
  CHECK(registry.GetCounter("policy_preemption_total", "", {{"result", "error"}}).Value() == 1);
  CHECK(Settled() == "high");
}

// What the pass over the policy "p" queues. It names Deployments "claimed", "own", "free", "none".
struct QueueFixture : tests::MembersFixture {
  kube::WorkQueue templates{{.name = "templates"}, clock};
  detector::TemplateMemory memory{*events};

  QueueFixture() {
    for (const kube::Resource* bindings :
         {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
      informers.Get(*bindings)->AddIndex(Namespaced::kIdLabel, [](const kube::Object& o) {
        return std::vector<std::string>{std::string(o.Label(Namespaced::kIdLabel))};
      });
    }
    Sync({kDeployments, api::ResourceBindings(), api::PropagationPolicies()});
    Make();
    PutDeployment("claimed", Policy("other"));
    PutDeployment("own", Policy("p"));
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", "free"}));
  }
  static kube::Object Policy(const std::string& name) {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", name});
    policy.SetLabel(Namespaced::kIdLabel, absl::StrCat(name, "-id"));
    json::Value selectors = json::Value::Array();
    for (const char* named : {"claimed", "own", "free", "none"}) {
      selectors.Append(json::Value::Object(
          {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", named}}));
    }
    policy.Set({"spec", "resourceSelectors"}, selectors);
    policy.Set({"spec", "preemption"}, "Always");
    return policy;
  }
  void PutDeployment(const std::string& name, const kube::Object& claimed_by) {
    kube::Object object = kube::Object::Make(kDeployments.gvk, {"ns", name});
    Namespaced::Claim(claimed_by, object);
    PutCached(kDeployments, object);
  }
  bool lazily_claimed = false;  // By the policy that has the template.
  std::vector<kube::Request> QueuedBy(const kube::Object& policy, bool preemption) {
    PutCached(api::PropagationPolicies(), policy);
    detector::PolicyReconciler<Namespaced>::IsLazilyClaimedFn asked;
    if (preemption) asked = [this](const kube::Object&) { return lazily_claimed; };
    detector::PolicyReconciler<Namespaced> reconciler(*manager, memory, templates, asked);
    REQUIRE(reconciler.Reconcile({.key = policy.key(), .gvk = {}}, {}).ok());
    std::vector<kube::Request> queued;
    while (templates.size() > 0) {
      queued.push_back(templates.Get()->request);
      templates.Done(queued.back());
    }
    return queued;
  }
};

TEST_CASE_METHOD(QueueFixture, "a policy that preempts looks at the templates that others have") {
  kube::Object policy = Policy("p");
  const kube::Request claimed{.key = {"ns", "claimed"}, .gvk = kDeployments.gvk};
  CHECK(QueuedBy(policy, true) == std::vector<kube::Request>{claimed});
  CHECK(QueuedBy(policy, false).empty());
  // So does a lazy policy. It was not seen before, so it does not look at its own.
  policy.Set({"spec", "activationPreference"}, "Lazy");
  CHECK(QueuedBy(policy, true) == std::vector<kube::Request>{claimed});
  lazily_claimed = true;
  kube::Request lazily = claimed;
  lazily.reason = detector::kNotByAnEdit;
  CHECK(QueuedBy(policy, true) == std::vector<kube::Request>{lazily});
  policy.Set({"spec", "preemption"}, "Never");
  CHECK(QueuedBy(policy, true).empty());
}

}  // namespace
