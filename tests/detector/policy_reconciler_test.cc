// What a policy does with templates that it finds.
#include "detector/policy_reconciler.h"

#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/keys.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "detector/request_reason.h"
#include "detector/template_memory.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;
using tests::kConfigMaps;
using tests::kDeployments;
using Scope = api::policy_scope::Namespaced;

const kube::Gvk kRobot{"example.io", "v1", "Robot"};

struct Fixture : tests::MembersFixture {
  kube::WorkQueue templates{{.name = "templates"}, clock};
  detector::TemplateMemory memory{*events};
  std::optional<detector::PolicyReconciler<Scope>> reconciler;

  Fixture() {
    for (const kube::Resource* bindings :
         {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
      informers.Get(*bindings)->AddIndex(Scope::kIdLabel, [](const kube::Object& o) {
        return std::vector<std::string>{std::string(o.Label(Scope::kIdLabel))};
      });
    }
    Sync({kDeployments, kConfigMaps, api::ResourceBindings(), api::PropagationPolicies(),
          api::ClusterPropagationPolicies()});
    reconciler.emplace(Make(), memory, templates, nullptr);
  }
  // Puts a policy that selects Robots, ConfigMaps named "settings" and all Deployments.
  void PutPolicy() {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
    policy.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
    policy.Set({"spec", "resourceSelectors"}, Json(R"([
        {"apiVersion": "example.io/v1", "kind": "Robot", "namespace": "ns"},
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "settings"},
        {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns"}])"));
    PutCached(api::PropagationPolicies(), policy);
  }
  void Wait(const kube::Resource& r, const kube::ObjectKey& key) {
    PutCached(r, kube::Object::Make(r.gvk, key));
    memory.waiting.Add({.key = key, .gvk = r.gvk});
  }
  // Puts a binding that the policy claims.
  void PutBinding(const kube::Gvk& gvk, const std::string& name) {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", name});
    binding.SetLabel(Scope::kIdLabel, "p-id");
    binding.Set({"spec", "resource"}, json::Value::Object({{"apiVersion", gvk.ApiVersion()},
                                                           {"kind", gvk.kind},
                                                           {"namespace", "ns"},
                                                           {"name", name}}));
    PutCached(api::ResourceBindings(), binding);
  }
  // Discovery fails, so that nothing is known about kinds that the mapper does not know yet.
  void RefuseDiscovery() { server->FailNext("GET", 403, "Forbidden", 100); }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = {"ns", "p"}}, {}).status(); }
  std::vector<std::string> Queued() {
    std::vector<std::string> queued;
    while (templates.size() > 0) {
      const auto taken = templates.Get();
      queued.push_back(taken->request.ToString());
      templates.Done(taken->request);
    }
    std::sort(queued.begin(), queued.end());
    return queued;
  }
};

TEST_CASE_METHOD(Fixture, "a policy adopts the waiting templates that it selects, and no others") {
  Wait(kDeployments, {"ns", "web"});
  Wait(kDeployments, {"other", "web"});
  Wait(kConfigMaps, {"ns", "settings"});
  Wait(kConfigMaps, {"ns", "other"});
  PutPolicy();
  REQUIRE(Reconcile().ok());
  CHECK(Queued() == std::vector<std::string>{"ConfigMap ns/settings", "Deployment ns/web"});
}

TEST_CASE_METHOD(Fixture, "a policy tries templates that it blocks, or may select, and no others") {
  const auto block = [&](const kube::ObjectKey& key, const kube::ObjectKey& policy,
                         const kube::Gvk& gvk = kDeployments.gvk) {
    memory.blocked.Add({.key = key, .gvk = gvk}, policy);
  };
  block({"ns", "web"}, {"ns", "other"});
  block({"ns", "unselected"}, {"ns", "p"}, {"", "v1", "Secret"});
  block({"ns", "settings"}, {"", "p"}, kConfigMaps.gvk);
  block({"ns", "another"}, {"", "p"}, kConfigMaps.gvk);
  for (int i = 0; i < 2000; ++i) block({"tenant", std::to_string(i)}, {"tenant", "p"});
  PutPolicy();
  const std::vector<std::string> own = {"ConfigMap ns/settings", "Deployment ns/web",
                                        "Secret ns/unselected"};
  REQUIRE(Reconcile().ok());
  CHECK(Queued() == own);
  // So it is when the policy goes: they may follow another one.
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.AddFinalizer(Scope::kFinalizer);
  policy.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), policy);
  base::IgnoreError(Reconcile(), "kinds that are not served may keep the policy");
  CHECK(Queued() == own);
}

TEST_CASE_METHOD(Fixture, "a blocked template comes back as what its policy acts on") {
  kube::Request request{.key = {"ns", "web"}, .gvk = kDeployments.gvk};
  request.reason = detector::kNotByAnEdit;
  memory.blocked.Add(request, {"ns", "p"});
  PutPolicy();
  SECTION("a lazy policy does not take it for one that a user has changed") {
    kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
    policy.Set({"spec", "activationPreference"}, "Lazy");
    PutCached(api::PropagationPolicies(), policy);
  }
  SECTION("a policy that is not lazy any more makes one request with edits by users") {
    request.reason = {};
  }
  REQUIRE(Reconcile().ok());
  CHECK(templates.Get()->request == request);
}

TEST_CASE_METHOD(Fixture, "a template of an unknown kind does not keep others from their policy") {
  RefuseDiscovery();
  memory.waiting.Add({.key = {"ns", "r"}, .gvk = kRobot});
  Wait(kDeployments, {"ns", "web"});
  PutPolicy();
  CHECK_FALSE(Reconcile().ok());  // The error makes the queue try again.
  CHECK(Queued() == std::vector<std::string>{"Deployment ns/web"});
}

// The reconcile of each template determines whether the policy still selects it, so nothing about
// its kind has to be known here.
TEST_CASE_METHOD(Fixture, "a changed policy queues all templates that it has claimed") {
  RefuseDiscovery();
  PutBinding(kRobot, "r");
  PutBinding(kConfigMaps.gvk, "not-selected");
  PutPolicy();
  CHECK(Reconcile().ok());
  CHECK(Queued() == std::vector<std::string>{"ConfigMap ns/not-selected", "Robot ns/r"});
}

struct LazyFixture : Fixture {
  LazyFixture() { PutPolicy(); }
  void PutClaimed(const std::string& name, const char* id) {
    kube::Object object = kube::Object::Make(kDeployments.gvk, {"ns", name});
    object.SetLabel(api::kPropagationPolicyIdLabel, id);
    PutCached(kDeployments, object);
  }
  // Edits the policy: its activation preference is this one now, and `edit` changes the rest.
  void Edit(const std::string& preference, const std::function<void(kube::Object&)>& edit = {}) {
    kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
    policy.Set({"spec", "activationPreference"}, preference);
    policy.Set({"metadata", "generation"}, ++generation);
    if (edit) edit(policy);
    PutCached(api::PropagationPolicies(), policy);
    REQUIRE(Reconcile().ok());
  }
  // Returns the reason of the only request, which is for the Deployment ns/lazily; nothing if there
  // is another request, or none.
  std::optional<kube::Reason> ReasonQueued() {
    if (templates.size() != 1) return std::nullopt;
    const auto taken = templates.Get();
    templates.Done(taken->request);
    if (taken->request.key.name != "lazily") return std::nullopt;
    return taken->request.reason;
  }
  int generation = 1;
};

TEST_CASE_METHOD(LazyFixture, "an edited lazy policy also queues what it has claimed, not bound") {
  PutClaimed("lazily", "p-id");
  PutClaimed("of-another", "other-id");
  // When the policy is seen first, the list of the templates brings them: a second request for the
  // same template would be worked on at the same time.
  Edit("Lazy");
  CHECK(Queued().empty());
  REQUIRE(Reconcile().ok());  // Nobody has edited it since.
  CHECK(Queued().empty());
  Edit("Lazy");
  CHECK(ReasonQueued() == detector::kNotByAnEdit);
  kube::Object binding =
      kube::Object::Make(api::ResourceBindings().gvk, {"ns", "lazily-deployment"});
  binding.SetLabel(Scope::kIdLabel, "another-id");
  PutCached(api::ResourceBindings(), binding);
  Edit("Lazy");
  CHECK(ReasonQueued() == detector::kNotByAnEdit);
  binding.SetLabel(Scope::kIdLabel, "p-id");
  PutCached(api::ResourceBindings(), binding);
  Edit("Lazy");  // The request comes from the binding, which names another template here.
  CHECK(ReasonQueued() == std::nullopt);
}

TEST_CASE_METHOD(LazyFixture, "a policy that is not lazy any more queues what it has not bound") {
  PutClaimed("lazily", "p-id");
  Edit("Lazy");
  CHECK(Queued().empty());
  Edit("");
  CHECK(ReasonQueued() == kube::Reason());
  Edit("");  // Now such a template has a binding, or its pass is tried again.
  CHECK(Queued().empty());
}

TEST_CASE_METHOD(LazyFixture,
                 "a lazy policy finds claims on kinds that it does not select any more") {
  PutClaimed("lazily", "p-id");
  const auto select_nothing = [](kube::Object& policy) {
    policy.Set({"spec", "resourceSelectors"}, Json("[]"));
  };
  Edit("Lazy");
  Edit("Lazy", select_nothing);
  CHECK(ReasonQueued() == detector::kNotByAnEdit);
  Edit("Lazy", [](kube::Object& policy) {
    policy.AddFinalizer(Scope::kFinalizer);
    policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  });
  CHECK(ReasonQueued() == detector::kNotByAnEdit);
}

TEST_CASE_METHOD(Fixture,
                 "a deleted policy queues templates that it selected before, to be released") {
  PutPolicy();
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "resourceSelectors"}, Json("[]"));
  policy.AddFinalizer(Scope::kFinalizer);
  policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), policy);
  PutBinding(kConfigMaps.gvk, "settings");
  REQUIRE(Reconcile().ok());
  CHECK(Queued() == std::vector<std::string>{"ConfigMap ns/settings"});
  CHECK_FALSE(
      server->Find(api::PropagationPolicies(), {"ns", "p"}).HasFinalizer(Scope::kFinalizer));
}

TEST_CASE_METHOD(Fixture, "a deleted policy stays until its templates have been released") {
  kube::Object claimed = kube::Object::Make(kDeployments.gvk, {"ns", "web"});
  claimed.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
  PutCached(kDeployments, claimed);
  PutPolicy();
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "resourceSelectors"},
             Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment"}])"));
  policy.AddFinalizer(Scope::kFinalizer);
  policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), policy);
  const auto stays = [&] {
    return server->Find(api::PropagationPolicies(), {"ns", "p"}).HasFinalizer(Scope::kFinalizer);
  };
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  CHECK(stays());
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(stays());
  CHECK(server->Find(kDeployments, {"ns", "web"}).Label(api::kPropagationPolicyIdLabel).empty());
}

// A new kind is not watched before clusters serve it, but its objects may carry claims from
// earlier.
TEST_CASE_METHOD(Fixture, "a deleted policy releases templates of a kind that is not watched") {
  kube::Object service = kube::Object::Make(tests::kServices.gvk, {"ns", "web"});
  service.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
  server->Put(tests::kServices, service);
  PutPolicy();
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "resourceSelectors"}, Json(R"([{"apiVersion": "v1", "kind": "Service"}])"));
  policy.AddFinalizer(Scope::kFinalizer);
  policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), policy);
  REQUIRE(Reconcile().ok());
  const kube::Object released = server->Find(tests::kServices, {"ns", "web"});
  CHECK(released.Label(api::kPropagationPolicyIdLabel).empty());
  CHECK(informers.Find(tests::kServices) == nullptr);
}

// The policy keeps its own label, because Karmada's webhook refuses a policy without its id.
TEST_CASE_METHOD(Fixture,
                 "a deleted policy that selects policies and bindings leaves their labels") {
  PutPolicy();
  PutBinding(kConfigMaps.gvk, "settings");
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "resourceSelectors"}, Json(R"([
      {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"},
      {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding"}])"));
  policy.AddFinalizer(Scope::kFinalizer);
  policy.AddFinalizer("example.com/observer");
  policy.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), policy);
  REQUIRE(Reconcile().ok());
  const kube::Object left = server->Find(api::PropagationPolicies(), {"ns", "p"});
  CHECK_FALSE(left.HasFinalizer(Scope::kFinalizer));
  CHECK(left.Label(api::kPropagationPolicyIdLabel) == "p-id");
  CHECK(server->Find(api::ResourceBindings(), {"ns", "settings"})
            .Label(api::kPropagationPolicyIdLabel) == "p-id");
}

}  // namespace
