// What a template's events report about the interpreter.
#include "detector/template_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/policy_scope.h"
#include "detector/recount.h"
#include "tests/support/eventually.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/passage.h"

namespace {

using interpreter::Operation;
using tests::Json;
using tests::kDeployments;

const kube::ObjectKey kWeb = {"ns", "web"};

struct Fixture : tests::MembersFixture {
  tests::ScriptedInterpreter scripted;
  detector::TemplateMemory memory{*events};
  works::Rechecks rechecks;
  std::optional<detector::PolicyIndex> policies, cluster_policies;
  std::optional<detector::TemplateReconciler> reconciler;

  Fixture() {
    Sync({kDeployments, api::ResourceBindings(), api::PropagationPolicies(),
          api::ClusterPropagationPolicies()});
    policies.emplace(informers.Get(api::PropagationPolicies()));
    cluster_policies.emplace(informers.Get(api::ClusterPropagationPolicies()));
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
    policy.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
    policy.Set({"spec", "resourceSelectors"},
               Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns"}])"));
    PutPolicy(policy);
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    Reconciler(false);
  }
  // Puts a policy, and waits until the index has it, which is a moment after the cache.
  void PutPolicy(const kube::Object& policy) {
    const kube::Object stored = PutCached(api::PropagationPolicies(), policy);
    REQUIRE(tests::Eventually([&] {
      const kube::ObjectPtr known = policies->Find(stored.key());
      return known != nullptr && known->resource_version() == stored.resource_version();
    }));
  }
  void Reconciler(bool components) {
    if (!manager) Make();
    reconciler.emplace(detector::TemplateReconciler::Deps{*manager,
                                                          scripted,
                                                          *policies,
                                                          *cluster_policies,
                                                          memory,
                                                          rechecks,
                                                          {.components = components}});
  }
  absl::Status Reconcile() {
    return reconciler->Reconcile({.key = kWeb, .gvk = kDeployments.gvk}, {}).status();
  }
  // Returns the events with this reason.
  std::vector<std::string> Told(const char* reason) const {
    std::vector<std::string> told;
    for (const std::string& event : recorded->All()) {
      if (absl::StrContains(event, reason)) told.push_back(event);
    }
    return told;
  }
};

TEST_CASE_METHOD(Fixture,
                 "replicas that can be determined again after a failure are reported as an event") {
  scripted.Enable(Operation::kInterpretReplica);
  scripted.replicas = absl::InvalidArgumentError("no such field");
  CHECK_THAT(std::string(Reconcile().message()), Catch::Contains("no such field"));
  CHECK(Told("GetReplicas") ==
        std::vector<std::string>{"Warning GetReplicasFailed Deployment: no such field"});

  scripted.replicas = interpreter::Replicas{.replicas = 2};
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetReplicasSucceed") ==
        std::vector<std::string>{"Normal GetReplicasSucceed Deployment: Get replicas of resource "
                                 "template successfully."});
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetReplicasSucceed").size() == 1);
}

TEST_CASE_METHOD(
    Fixture, "components that can be determined again after a failure are reported as an event") {
  Reconciler(true);
  scripted.Enable(Operation::kInterpretComponent);
  scripted.components = absl::InvalidArgumentError("broken");
  CHECK_FALSE(Reconcile().ok());
  CHECK(Told("GetComponents") ==
        std::vector<std::string>{"Warning GetComponentsFailed Deployment: broken"});
  scripted.components = Json(R"([{"name": "main", "replicas": 1}])");
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetComponentsSucceed") ==
        std::vector<std::string>{"Normal GetComponentsSucceed Deployment: Get components of "
                                 "resource template successfully."});
}

TEST_CASE_METHOD(Fixture,
                 "an answer of the interpreter that does not end a failure is not reported") {
  scripted.Enable(Operation::kInterpretReplica);
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetReplicas").empty());
  CHECK(Told("ApplyPolicySucceed").size() == 1);
}

TEST_CASE_METHOD(Fixture, "counted pods are a routine success when the binding changes") {
  recorded->WantRoutine();
  scripted.Enable(Operation::kInterpretReplica);
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetReplicas") ==
        std::vector<std::string>{"Normal GetReplicasSucceed Deployment: Get replicas of resource "
                                 "template successfully."});
  scripted.Enable(Operation::kInterpretComponent);
  scripted.components = Json(R"([{"name": "main", "replicas": 1}])");
  Reconciler(true);
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetComponentsSucceed").size() == 1);
  CHECK(Told("GetReplicas").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a policy that can be applied again is reported though nothing changed") {
  scripted.Enable(Operation::kInterpretReplica);
  REQUIRE(Reconcile().ok());
  const interpreter::Replicas before = *scripted.replicas;
  scripted.replicas = absl::UnavailableError("hook is down");
  CHECK_FALSE(Reconcile().ok());
  CHECK(Told("ApplyPolicyFailed").size() == 1);
  scripted.replicas = before;
  REQUIRE(Reconcile().ok());
  CHECK(Told("ApplyPolicySucceed").size() == 2);
}

TEST_CASE_METHOD(
    Fixture,
    "success of a new template does not end the failure of a deleted one of the same name") {
  scripted.Enable(Operation::kInterpretReplica);
  scripted.replicas = absl::InvalidArgumentError("no such field");
  CHECK_FALSE(Reconcile().ok());
  server->Erase(kDeployments, kWeb);
  REQUIRE(tests::Eventually([&] { return cluster.Find(kDeployments, kWeb) == nullptr; }));
  REQUIRE(Reconcile().ok());
  scripted.replicas = interpreter::Replicas{};
  PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
  REQUIRE(Reconcile().ok());
  CHECK(Told("GetReplicasSucceed").empty());
}

// There is no binding whose recheck would queue the template.
TEST_CASE_METHOD(Fixture,
                 "a template whose pods could not be determined comes again when a rule changes") {
  kube::WorkQueue queue({.name = "q"}, clock);
  detector::RequeueUncounted(scripted, memory.uncounted, queue);
  scripted.Enable(Operation::kInterpretReplica);
  scripted.replicas = absl::UnavailableError("hook is down");
  CHECK_FALSE(Reconcile().ok());
  const auto change = [](const kube::Gvk& changed, Operation op) {
    return [=](const kube::Gvk& gvk, Operation o) { return gvk == changed && o == op; };
  };
  scripted.changes.Publish(change(tests::kConfigMaps.gvk, Operation::kInterpretReplica));
  scripted.changes.Publish(change(kDeployments.gvk, Operation::kInterpretHealth));
  CHECK(queue.size() == 0);
  scripted.changes.Publish(change(kDeployments.gvk, Operation::kInterpretReplica));
  REQUIRE(queue.size() == 1);
  const auto taken = queue.Get();
  CHECK(taken->request == kube::Request{.key = kWeb, .gvk = kDeployments.gvk});
  queue.Done(taken->request);

  scripted.replicas = interpreter::Replicas{.replicas = 2};
  REQUIRE(Reconcile().ok());
  scripted.changes.Publish(change(kDeployments.gvk, Operation::kInterpretReplica));
  CHECK(queue.size() == 0);
}

// A rule that changes then finds no binding either.
TEST_CASE_METHOD(Fixture, "a template whose binding is not there yet is counted by the next rule") {
  kube::WorkQueue queue({.name = "q"}, clock);
  detector::RequeueUncounted(scripted, memory.uncounted, queue);
  const auto publish_change = [&] {
    scripted.changes.Publish([](const kube::Gvk& gvk, Operation op) {
      return gvk == kDeployments.gvk && op == Operation::kInterpretReplica;
    });
  };
  scripted.Enable(Operation::kInterpretReplica);
  server->Block("POST");
  absl::Status created;
  std::thread pass([&] { created = Reconcile(); });
  const bool asked = server->AwaitRequests("POST", 1);
  publish_change();
  const size_t queued = queue.size();
  server->Unblock();
  pass.join();
  REQUIRE(asked);
  REQUIRE(created.ok());
  REQUIRE(queued == 1);
  const auto taken = queue.Get();
  queue.Done(taken->request);

  REQUIRE(Reconcile().ok());
  publish_change();
  CHECK(queue.size() == 0);  // The binding is there, by which RequeueBindings finds the template.
}

TEST_CASE_METHOD(Fixture, "a template whose binding cannot be made is counted by the next rule") {
  scripted.Enable(Operation::kInterpretReplica);
  server->FailNext("POST", 500, "InternalError");
  CHECK_FALSE(Reconcile().ok());
  CHECK(memory.uncounted.Kinds().size() == 1);
  REQUIRE(Reconcile().ok());
  CHECK(memory.uncounted.Kinds().empty());
}

// Returns the template with another version, as after an edit or a change of the status.
kube::Object NextVersion(const kube::Object& before) {
  kube::Object after = before;
  after.Set({"status", "replicas"}, after.Get({"status", "replicas"}).AsInt() + 1);
  return after;
}

struct RecheckFixture : Fixture {
  kube::WorkQueue rechecked{{.name = "rechecked"}, clock};
  kube::Object web;

  RecheckFixture() {
    rechecks.Subscribe(api::ResourceBindings(), rechecked);
    REQUIRE(Reconcile().ok());
    web = server->Find(kDeployments, kWeb);  // It now carries the policy's claim.
    REQUIRE(Shows(kDeployments, web));
  }
  std::string RecordedVersion() const {
    return server->Find(api::ResourceBindings(), {"ns", "web-deployment"})
        .Get({"spec", "resource", "resourceVersion"})
        .ToString();
  }
  void Edit(const kube::Object& now) {
    memory.edits.Add({.key = kWeb, .gvk = kDeployments.gvk}, now.resource_version());
  }
};

TEST_CASE_METHOD(RecheckFixture, "an edit that was seen gives the binding a new version") {
  const kube::Object now = PutCached(kDeployments, NextVersion(web));
  Edit(now);
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == now.resource_version());
  CHECK(rechecked.size() == 0);
}

// As the webhook does that checks FederatedResourceQuotas.
TEST_CASE_METHOD(RecheckFixture, "a state whose binding the server refuses is held back") {
  kube::Object edited = web;
  edited.Set({"spec", "paused"}, true);
  Edit(PutCached(kDeployments, edited));
  const auto passage = [&] {
    const kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
    return works::PassageOf(
        api::BindingView(binding), server->Find(kDeployments, kWeb),
        [] { return std::vector<kube::ObjectPtr>(); }, scripted);
  };
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  CHECK(passage() == works::Passage::kHeldBack);
  REQUIRE(Reconcile().ok());
  CHECK(passage() == works::Passage::kPassed);
}

TEST_CASE_METHOD(RecheckFixture, "for a version without a known edit the binding is compared") {
  PutCached(kDeployments, NextVersion(web));
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == web.resource_version());
  REQUIRE(rechecked.size() == 1);
  const auto taken = rechecked.Get();
  CHECK(taken->request == kube::Request{.key = {"ns", "web-deployment"}});
  rechecked.Done(taken->request);
}

TEST_CASE_METHOD(RecheckFixture, "a template of the version that is recorded is left alone") {
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == web.resource_version());
  CHECK(rechecked.size() == 0);
}

TEST_CASE_METHOD(RecheckFixture, "a template that a restored server takes back is looked at") {
  Edit(web);  // The version that the binding records.
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == web.resource_version());
  CHECK(rechecked.size() == 1);
  const auto taken = rechecked.Get();
  rechecked.Done(taken->request);
  REQUIRE(Reconcile().ok());
  CHECK(rechecked.size() == 0);
}

TEST_CASE_METHOD(
    RecheckFixture,
    "a state that a restored server takes back is recorded in the place of a later one") {
  // A pass that still knew the later state has written it after the restoration.
  kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
  binding.Set({"spec", "resource", "resourceVersion"}, "1000000");
  PutCached(api::ResourceBindings(), binding);
  const kube::Request request{.key = kWeb, .gvk = kDeployments.gvk};
  memory.edits.AddRestored(request, web.resource_version());
  memory.edits.Add(request, web.resource_version());  // As when the binding was set back, too.
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == web.resource_version());
}

TEST_CASE_METHOD(RecheckFixture, "an edit that comes while its predecessor is worked on is kept") {
  const kube::Object later = NextVersion(web);
  // The informer reports the edit while the pass that read the old template still runs.
  memory.edits.Add({.key = kWeb, .gvk = kDeployments.gvk}, "1000000");
  REQUIRE(Reconcile().ok());
  const kube::Object now = PutCached(kDeployments, later);
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == now.resource_version());
}

// Returns the policy "p" with other `selectors`, as JSON.
kube::Object Selecting(const kube::Object& policy, const char* selectors) {
  kube::Object after = policy;
  after.Set({"spec", "resourceSelectors"}, Json(selectors));
  return after;
}

constexpr char kOthers[] =
    R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "other"}])";

TEST_CASE_METHOD(RecheckFixture,
                 "a template that its policy does not select any more is released") {
  const kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  PutPolicy(Selecting(policy, kOthers));
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(kDeployments, kWeb).Label(api::kPropagationPolicyIdLabel).empty());
  const kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
  CHECK_FALSE(binding.empty());
  CHECK(binding.Label(api::kPropagationPolicyIdLabel).empty());
}

// What the event says must not depend on what there is in the other namespace.
TEST_CASE_METHOD(RecheckFixture, "a claim that was copied from another namespace is released") {
  const bool exists = GENERATE(true, false);
  recorded->WantRoutine();
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"metadata", "namespace"}, "victim");
  if (exists) PutPolicy(policy);
  kube::Object copy = NextVersion(web);
  api::policy_scope::Namespaced::Claim(policy, copy);
  PutCached(kDeployments, copy);
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(kDeployments, kWeb).Label(api::kPropagationPolicyIdLabel).empty());
  REQUIRE(tests::Eventually([&] { return !Told("PolicyReleased").empty(); }));
  CHECK_THAT(Told("PolicyReleased").front(),
             Catch::Contains("policy(victim/p) does not select the object any more"));
}

// With two requests, two workers could handle one template at the same time.
TEST_CASE_METHOD(RecheckFixture,
                 "a recount queues the same request as an edit, unless the policy is lazy") {
  const kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
  const kube::Request edit{.key = kWeb, .gvk = kDeployments.gvk};
  CHECK(detector::RecountRequest(binding, *policies, *cluster_policies) == edit);
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "activationPreference"}, "Lazy");
  PutPolicy(policy);
  CHECK_FALSE(detector::RecountRequest(binding, *policies, *cluster_policies) == edit);
}

TEST_CASE_METHOD(RecheckFixture, "a template that is being deleted follows its policy") {
  kube::Object leaving = NextVersion(web);
  leaving.AddFinalizer("example.com/wait");
  leaving.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  const kube::Object now = PutCached(kDeployments, leaving);
  Edit(now);
  REQUIRE(Reconcile().ok());
  CHECK(RecordedVersion() == now.resource_version());
  server->Erase(api::ResourceBindings(), {"ns", "web-deployment"});
  REQUIRE(tests::Eventually([&] {
    return manager->cluster().Find(api::ResourceBindings(), {"ns", "web-deployment"}) == nullptr;
  }));
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(api::ResourceBindings(), {"ns", "web-deployment"}).empty());
}

TEST_CASE_METHOD(RecheckFixture, "a template is released by a policy that is being deleted") {
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.AddFinalizer("karmada.io/propagation-policy-controller");
  policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutPolicy(policy);
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(kDeployments, kWeb).Label(api::kPropagationPolicyIdLabel).empty());
}

TEST_CASE_METHOD(RecheckFixture, "an object that is propagated in another version is left alone") {
  const char* other_version =
      R"([{"apiVersion": "apps/v1beta1", "kind": "Deployment", "namespace": "ns"}])";
  const kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  PutPolicy(Selecting(policy, other_version));
  kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "web-deployment"});
  SECTION("as its binding says") {
    binding.Set({"spec", "resource", "apiVersion"}, "apps/v1beta1");
    PutCached(api::ResourceBindings(), binding);
  }
  SECTION("as the policy says, while there is no binding") {
    server->Erase(api::ResourceBindings(), binding.key());
    REQUIRE(tests::Eventually([&] {
      return manager->cluster().Find(api::ResourceBindings(), binding.key()) == nullptr;
    }));
  }
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(kDeployments, kWeb).Label(api::kPropagationPolicyIdLabel) == "p-id");
}

TEST_CASE_METHOD(Fixture, "a policy that changes while it is applied is applied again") {
  scripted.Enable(Operation::kInterpretReplica);
  scripted.replicas = interpreter::Replicas{.replicas = 2};
  const kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  scripted.before_replicas = [&] { PutPolicy(Selecting(policy, kOthers)); };
  CHECK(absl::IsAborted(Reconcile()));
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(kDeployments, kWeb).Label(api::kPropagationPolicyIdLabel).empty());
}

TEST_CASE_METHOD(Fixture, "an existing override is found although overrides are not watched") {
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "dependentOverrides"}, Json(R"(["o"])"));
  PutPolicy(policy);
  CHECK_THAT(std::string(Reconcile().message()),
             Catch::Contains("waiting for dependent overrides: ns/o"));
  server->Put(api::OverridePolicies(),
              kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"}));
  informers.Remove(api::OverridePolicies());
  REQUIRE(Reconcile().ok());
}

TEST_CASE_METHOD(Fixture, "a template of a kind that is not served any more is dropped") {
  const kube::Request gone{.key = {"ns", "r"}, .gvk = {"example.io", "v1", "Robot"}};
  memory.waiting.Add(gone);
  CHECK(reconciler->Reconcile(gone, {}).ok());
  CHECK(memory.waiting.Kinds().empty());
}

TEST_CASE_METHOD(Fixture, "a template that is gone is not remembered as uncounted") {
  scripted.Enable(Operation::kInterpretReplica);
  scripted.replicas = absl::UnavailableError("hook is down");
  CHECK_FALSE(Reconcile().ok());
  CHECK(memory.uncounted.Kinds().size() == 1);
  server->Erase(kDeployments, kWeb);
  REQUIRE(tests::Eventually([&] { return cluster.Find(kDeployments, kWeb) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK(memory.uncounted.Kinds().empty());
}

}  // namespace
