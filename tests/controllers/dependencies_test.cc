#include "controllers/dependencies/dependencies_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/object_reference.h"
#include "controllers/dependencies/attached_bindings.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using interpreter::Operation;
using tests::Json;
using tests::kDeployments;
using Strings = std::vector<std::string>;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kBinding = {"ns", "web-deployment"};
const char kConfig[] =
    R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"}])";
const char kConfigText[] =
    R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"}])";

kube::Object Binding(const std::string& name, bool propagate) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", name});
  const kube::Object object = kube::Object::Make(kDeployments.gvk, kWeb);
  binding.SetLabel(api::kResourceBindingIdLabel, "id-of-" + name);
  binding.Set({"metadata", "generation"}, 1);
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
  if (propagate) binding.Set({"spec", "propagateDeps"}, true);
  return binding;
}

struct Fixture : tests::LoopsFixture {
  tests::ScriptedInterpreter scripted;
  std::optional<controllers::DependenciesReconciler> reconciler;

  Fixture() {
    Sync({kDeployments, api::ResourceBindings()});
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    reconciler.emplace(Make(), scripted);
    scripted.Enable(Operation::kInterpretDependency);
    scripted.dependencies = Json(kConfig);
  }
  ~Fixture() override { base::IgnoreError(Finish(), "ends the loop before the interpreter goes"); }

  void Put(const kube::Object& binding) { PutCached(api::ResourceBindings(), binding); }
  kube::Object Now(const std::string& name = kBinding.name) const {
    return server->Find(api::ResourceBindings(), {"ns", name});
  }
  // Returns the recorded dependencies; "-" for none.
  std::string Recorded(const std::string& name = kBinding.name) const {
    const kube::Object now = Now(name);
    const json::Value* text = now.annotations().Find(api::kDependenciesAnnotation);
    return text == nullptr ? "-" : text->ToString();
  }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = kBinding}, {}).status(); }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("PUT").size();
  }
};

TEST_CASE_METHOD(Fixture, "what a template needs is recorded on its binding, once") {
  Put(Binding(kBinding.name, true));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  CHECK(Now().metadata()["finalizers"].empty());
  CHECK(Writes() == 1);
  REQUIRE(Reconcile().ok());
  reconciler.emplace(*manager, scripted);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 1);
  CHECK(recorded->All().empty());
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "[]");
  CHECK(Writes() == 2);
}

TEST_CASE_METHOD(Fixture, "the same references in upstream's random order are not written again") {
  kube::Object binding = Binding(kBinding.name, true);
  binding.SetAnnotation(api::kDependenciesAnnotation,
                        R"([{"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"s"},)"
                        R"({"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"c"}])");
  Put(binding);
  scripted.dependencies =
      Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "c"},
               {"apiVersion": "v1", "kind": "Secret", "namespace": "ns", "name": "s"}])");
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "a template without dependencies is recorded as having none") {
  Put(Binding(kBinding.name, true));
  scripted.dependencies = json::Value();
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "null");
}

TEST_CASE_METHOD(Fixture, "a failure is reported on the template, and the success that ends it") {
  Put(Binding(kBinding.name, true));
  scripted.dependencies = absl::UnavailableError("hook is down");
  const absl::Status failed = Reconcile();
  CHECK(absl::IsUnavailable(failed));
  CHECK_FALSE(base::IsTerminal(failed));
  CHECK(Recorded() == "-");
  CHECK(recorded->All() == Strings{"Warning GetDependenciesFailed Deployment: hook is down"});
  scripted.dependencies = Json(kConfig);
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  REQUIRE(recorded->All().size() == 2);
  CHECK(recorded->All()[1] ==
        "Normal GetDependenciesSucceed Deployment: Get dependencies([{APIVersion:v1 "
        "Kind:ConfigMap Namespace:ns Name:config LabelSelector:nil}]) succeed.");
}

TEST_CASE_METHOD(Fixture, "a write that failed is an error, and made good by the next try") {
  Put(Binding(kBinding.name, true));
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile()));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
}

TEST_CASE_METHOD(
    Fixture, "for a kind without a rule no dependencies are recorded, and old ones are removed") {
  Put(Binding(kBinding.name, true));
  scripted.Disable(Operation::kInterpretDependency);
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 0);
  scripted.Enable(Operation::kInterpretDependency);
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  scripted.Disable(Operation::kInterpretDependency);
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "-");
}

TEST_CASE_METHOD(Fixture, "a binding without its template waits for one without retries") {
  server->Erase(kDeployments, kWeb);
  REQUIRE(tests::Eventually([&] { return cluster.Find(kDeployments, kWeb) == nullptr; }));
  Put(Binding(kBinding.name, true));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "-");
}

TEST_CASE_METHOD(Fixture, "a binding that stops to propagate keeps what was recorded") {
  Put(Binding(kBinding.name, true));
  REQUIRE(Reconcile().ok());
  kube::Object binding = Now();
  binding.Set({"spec", "propagateDeps"}, false);
  Put(binding);
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "upstream's finalizer does not hold a binding that is being deleted") {
  kube::Object binding = Binding(kBinding.name, true);
  binding.AddFinalizer(api::kDependenciesFinalizer);
  binding.AddFinalizer(api::kBindingFinalizer);
  if (GENERATE(true, false)) {
    binding.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  } else {
    binding.Set({"spec", "propagateDeps"}, false);
  }
  Put(binding);
  kube::Object attached = Binding("config-configmap", false);
  attached.SetLabel(controllers::DependedByLabel(kBinding), "id-of-web-deployment");
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment"}])"));
  Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Now().metadata()["finalizers"] == Json(R"(["karmada.io/binding-controller"])"));
  CHECK(Now("config-configmap").Label(controllers::DependedByLabel(kBinding)).empty());
  CHECK_FALSE(Now("config-configmap").spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Fixture, "upstream's finalizer stays until all dependencies are let go") {
  kube::Object binding = Binding(kBinding.name, false);
  binding.AddFinalizer(api::kDependenciesFinalizer);
  Put(binding);
  kube::Object attached = Binding("config-configmap", false);
  attached.SetLabel(controllers::DependedByLabel(kBinding), "id-of-web-deployment");
  Put(attached);
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile()));
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now().HasFinalizer(api::kDependenciesFinalizer));
}

// A running loop, to test which events and changes reach it.
struct Running : Fixture {
  Running() {
    Put(Binding("web-deployment", true));
    Put(Binding("plain-deployment", false));
    kube::Object unplaced = Binding("unplaced-deployment", true);
    unplaced.Erase({"spec", "clusters"});
    Put(unplaced);
    REQUIRE(controllers::RegisterDependencies(ContextWith(scripted), 1).ok());
    Start();
    REQUIRE(tests::Eventually([&] { return Recorded() == kConfigText; }));
  }
  size_t Asked() const { return scripted.AskedForDependencies().size(); }
  void Publish(const kube::Gvk& gvk, Operation op) {
    scripted.changes.Publish(
        [gvk, op](const kube::Gvk& g, Operation o) { return g == gvk && o == op; });
  }
};

TEST_CASE_METHOD(Running, "only placed bindings that propagate are asked about at the start") {
  CHECK(Asked() == 1);
  CHECK(Recorded("plain-deployment") == "-");
  CHECK(Recorded("unplaced-deployment") == "-");
}

TEST_CASE_METHOD(Running, "a binding is looked at again when it changes, its status apart") {
  kube::Object binding = Now();
  binding.Set({"status", "conditions"}, json::Value::Array());
  Put(binding);
  binding = Now("plain-deployment");
  binding.Set({"metadata", "generation"}, 2);
  Put(binding);
  binding = Now("unplaced-deployment");
  binding.Set({"metadata", "generation"}, 2);
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
  server->Put(api::ResourceBindings(), binding);
  REQUIRE(tests::Eventually([&] { return Recorded("unplaced-deployment") == kConfigText; }));
  CHECK(Asked() == 2);
}

TEST_CASE_METHOD(Running, "a changed rule brings back the bindings of its kind that propagate") {
  Publish(kDeployments.gvk, Operation::kInterpretHealth);
  Publish(tests::kConfigMaps.gvk, Operation::kInterpretDependency);
  Publish(kDeployments.gvk, Operation::kInterpretDependency);
  REQUIRE(tests::Eventually([&] { return Asked() >= 3; }));
  REQUIRE(tests::Eventually([&] { return Recorded("unplaced-deployment") == kConfigText; }));
  CHECK(Asked() == 3);
  CHECK(Recorded("plain-deployment") == "-");
}

}  // namespace
