#include "controllers/dependencies/dependencies_reconciler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/object_reference.h"
#include "controllers/dependencies/attached_bindings.h"
#include "controllers/dependencies/attachments.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using interpreter::Operation;
using tests::Json;
using tests::kConfigMaps;
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
    Sync({kDeployments, kConfigMaps, api::ResourceBindings()});
    informers.Get(api::ResourceBindings())
        ->AddIndex(controllers::kReferrerIndex, controllers::ReferrerKeys);
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    reconciler.emplace(Make(), scripted);
    scripted.Enable(Operation::kInterpretDependency);
    scripted.dependencies = Json(kConfig);
  }
  ~Fixture() override { base::IgnoreError(Finish(), "ends the loop before the interpreter goes"); }

  kube::Object Put(const kube::Object& binding) {
    return PutCached(api::ResourceBindings(), binding);
  }
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
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
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
  binding.AddFinalizer(api::kDependenciesFinalizer);
  binding.SetAnnotation(api::kDependenciesAnnotation,
                        R"([{"apiVersion":"v1","kind":"Service","namespace":"ns","name":"s"},)"
                        R"({"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"c"}])");
  Put(binding);
  scripted.dependencies =
      Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "c"},
               {"apiVersion": "v1", "kind": "Service", "namespace": "ns", "name": "s"}])");
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
  CHECK(Writes() == 2);  // The second one removes the finalizer.
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

// A ConfigMap "config" that the Deployment "web" needs.
struct Attaching : Fixture {
  Attaching() {
    Put(Binding(kBinding.name, true));
    PutConfig("config");
  }
  kube::Object PutConfig(const std::string& name, const std::string& app = "") {
    kube::Object config = kube::Object::Make(kConfigMaps.gvk, {"ns", name});
    config.Set({"metadata", "uid"}, "uid-of-" + name);
    if (!app.empty()) config.SetLabel("app", app);
    return PutCached(kConfigMaps, config);
  }
  kube::Object Config() const { return Now("config-configmap"); }
  void SetClusters(const std::string& binding, const std::string& clusters) {
    kube::Object changed = Now(binding);
    changed.Set({"spec", "clusters"}, Json(clusters));
    Put(changed);
  }
};

const std::string kLabel = controllers::DependedByLabel(kBinding);

TEST_CASE_METHOD(Attaching, "what a template needs gets a binding in the template's clusters") {
  REQUIRE(Reconcile().ok());
  const kube::Object config = Config();
  CHECK(config.Label(kLabel) == "id-of-web-deployment");
  CHECK(config.HasFinalizer(api::kBindingFinalizer));
  CHECK(config.ControllerOwner().uid == "uid-of-config");
  CHECK(config.spec() ==
        Json(R"({
      "resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config",
                   "uid": "uid-of-config", "resourceVersion": ")" +
             std::string(cluster.Find(kConfigMaps, {"ns", "config"})->resource_version()) +
             R"("},
      "requiredBy": [{"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]}],
      "conflictResolution": "Abort", "preserveResourcesOnDeletion": false})"));
  REQUIRE(recorded->All() ==
          Strings{"Normal SyncScheduleResultToDependenciesSucceed ResourceBinding: Sync schedule "
                  "results to dependencies succeed."});
  const size_t calls = server->Calls();
  reconciler.emplace(*manager, scripted);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile().ok());
  CHECK(server->Calls() == calls);
  CHECK(recorded->All().size() == 1);
}

TEST_CASE_METHOD(Attaching, "a dependency follows the clusters of its template") {
  REQUIRE(Reconcile().ok());
  SetClusters(kBinding.name, R"([{"name": "m2", "replicas": 3}])");
  REQUIRE(Reconcile().ok());
  CHECK(Config().Get({"spec", "requiredBy"}) ==
        Json(R"([{"namespace": "ns", "name": "web-deployment",
                  "clusters": [{"name": "m2", "replicas": 3}]}])"));
}

TEST_CASE_METHOD(Attaching, "also while it cannot be determined what the template needs") {
  REQUIRE(Reconcile().ok());
  SetClusters(kBinding.name, R"([{"name": "m2"}])");
  SECTION("because the interpreter fails") {
    scripted.dependencies = absl::UnavailableError("hook is down");
    CHECK(absl::IsUnavailable(Reconcile()));
  }
  SECTION("because the rule is gone") {
    scripted.Disable(Operation::kInterpretDependency);
    CHECK(Reconcile().ok());
    CHECK(Recorded() == "-");
  }
  CHECK(Config().Get({"spec", "requiredBy"}).At(0)["clusters"] == Json(R"([{"name": "m2"}])"));
}

TEST_CASE_METHOD(Attaching, "what is needed no more is let go, and needed again attached again") {
  REQUIRE(Reconcile().ok());
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
  CHECK_FALSE(Config().spec().Has("conflictResolution"));
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
  scripted.dependencies = Json(kConfig);
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel) == "id-of-web-deployment");
  CHECK(Config().Get({"spec", "requiredBy"}).size() == 1);
}

TEST_CASE_METHOD(Attaching, "objects are chosen by their labels, and let go with them") {
  PutConfig("one", "shop");
  PutConfig("two", "shop");
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
      "labelSelector": {"matchLabels": {"app": "shop"}}}])");
  REQUIRE(Reconcile().ok());
  CHECK(Config().empty());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  CHECK_FALSE(Now("two-configmap").Label(kLabel).empty());
  PutConfig("two", "other");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  CHECK(Now("two-configmap").Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a dependency of two templates is in the clusters of both") {
  REQUIRE(Reconcile().ok());
  kube::Object shop = Binding("shop-deployment", true);
  shop.Set({"spec", "clusters"}, Json(R"([{"name": "m2"}])"));
  shop.Set({"spec", "conflictResolution"}, "Overwrite");
  Put(shop);
  REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
  CHECK(Config().Get({"spec", "requiredBy"}) == Json(R"([
      {"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]},
      {"namespace": "ns", "name": "shop-deployment", "clusters": [{"name": "m2"}]}])"));
  CHECK(Config().spec()["conflictResolution"].AsString() == "Overwrite");
  const Strings events = recorded->All();
  CHECK(std::count(events.begin(), events.end(),
                   "Warning DependencyPolicyConflict ResourceBinding: Dependency policy conflict "
                   "detected: ConflictResolution conflicted (Overwrite vs Abort).") == 1);
  kube::Object web = Now();
  web.Set({"spec", "propagateDeps"}, false);
  Put(web);
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now().HasFinalizer(api::kDependenciesFinalizer));
  CHECK(Config().Get({"spec", "requiredBy"}).size() == 1);
}

TEST_CASE_METHOD(Attaching, "a binding that a policy placed keeps what the policy wants") {
  kube::Object placed = Binding("config-configmap", false);
  placed.Set({"spec", "placement"}, json::Value::Object());
  placed.Set({"spec", "conflictResolution"}, "Overwrite");
  placed.Set({"spec", "resource"},
             api::ObjectReference::Of(*cluster.Find(kConfigMaps, {"ns", "config"})).ToJson());
  placed = Put(placed);
  REQUIRE(Reconcile().ok());
  kube::Object expected = placed;
  expected.SetLabel(kLabel, "id-of-web-deployment");
  expected.Set({"spec", "requiredBy"}, Json(R"([
      {"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]}])"));
  CHECK(Config().spec() == expected.spec());
  CHECK(Config().labels() == expected.labels());
}

TEST_CASE_METHOD(Attaching, "the binding of an earlier object of the same name is not taken over") {
  kube::Object old = Binding("config-configmap", false);
  old.Set({"metadata", "ownerReferences"},
          Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "config", "uid": "before",
                    "controller": true}])"));
  Put(old);
  const absl::Status refused = Reconcile();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK(absl::StrContains(refused.message(),
                          "ResourceBinding ns/config-configmap belongs to v1 ConfigMap ns/config "
                          "(uid before), an earlier object of the same name"));
  CHECK(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a bad reference is reported, and the others followed") {
  scripted.dependencies = Json(R"([
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "other", "name": "config"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "missing"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"}])");
  const absl::Status failed = Reconcile();
  CHECK(absl::StrContains(failed.message(), "ConfigMap other/config is in another namespace"));
  CHECK(absl::StrContains(failed.message(),
                          "v1 ConfigMap in ns has neither a name nor a labelSelector"));
  CHECK_FALSE(Config().Label(kLabel).empty());
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning SyncScheduleResultToDependenciesFailed ResourceBinding: "));
}

TEST_CASE_METHOD(Attaching, "while a reference is not valid nothing is let go") {
  REQUIRE(Reconcile().ok());
  const std::string bad = GENERATE(
      as<std::string>(),
      R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "labelSelector":
          {"matchExpressions": [{"key": "app", "operator": "Is"}]}}])",
      R"([{"apiVersion": "a/b/c", "kind": "ConfigMap", "namespace": "ns", "name": "other"}])",
      R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "other", "name": "config"}])");
  scripted.dependencies = Json(bad);
  const absl::Status refused = Reconcile();
  CHECK(absl::IsInvalidArgument(refused));
  CHECK(base::IsTerminal(refused));
  CHECK_FALSE(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a reference without the namespace of its kind, and one of no kind") {
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "config"},
                                   {"apiVersion": "x.io/v1", "kind": "Nothing", "name": "a"}])");
  const absl::Status failed = Reconcile();
  CHECK(absl::StrContains(failed.message(), "ConfigMap config has no namespace"));
  CHECK(absl::StrContains(failed.message(), "Nothing"));
  CHECK_FALSE(base::IsTerminal(failed));  // The kind may be served later.
}

TEST_CASE_METHOD(Attaching, "an object that a selector excludes by a label is let go") {
  PutConfig("one");
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
      "labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}])");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  PutConfig("one", "shop");
  REQUIRE(Reconcile().ok());
  CHECK(Now("one-configmap").Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a binding of another version of the kind serves as well") {
  REQUIRE(Reconcile().ok());
  kube::Object attached = Config();
  attached.Set({"spec", "resource", "apiVersion"}, "v2");
  attached = Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Config().resource_version() == attached.resource_version());
}

TEST_CASE_METHOD(Attaching, "a binding that is gone without its finalizer leaves nothing behind") {
  REQUIRE(Reconcile().ok());
  if (GENERATE(true, false)) {
    kube::Object attached = Config();
    attached.EraseLabel(kLabel);
    Put(attached);
  }
  server->Erase(api::ResourceBindings(), kBinding);
  REQUIRE(tests::Eventually(
      [&] { return cluster.Find(api::ResourceBindings(), kBinding) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Attaching, "a binding that lost its id lets go, too") {
  REQUIRE(Reconcile().ok());
  kube::Object binding = Now();
  binding.EraseLabel(api::kResourceBindingIdLabel);
  binding.Set({"spec", "propagateDeps"}, false);
  Put(binding);
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Attaching, "an attached binding without an owner gets one") {
  REQUIRE(Reconcile().ok());
  kube::Object attached = Config();
  attached.Erase({"metadata", "ownerReferences"});
  Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Config().ControllerOwner().uid == "uid-of-config");
}

TEST_CASE_METHOD(Attaching, "nothing is attached to a binding that the webhook has not labelled") {
  kube::Object binding = Now();
  binding.EraseLabel(api::kResourceBindingIdLabel);
  Put(binding);
  CHECK(absl::StrContains(Reconcile().message(), api::kResourceBindingIdLabel));
  CHECK(Config().empty());
}

TEST_CASE_METHOD(Attaching, "a binding in no cluster attaches nothing new") {
  SetClusters(kBinding.name, "[]");
  REQUIRE(Reconcile().ok());
  CHECK(Config().empty());
}

TEST_CASE_METHOD(Attaching, "two writers of one binding: the second one tries again") {
  server->FailNext("POST", 409, "AlreadyExists");
  CHECK(absl::IsAborted(Reconcile()));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Config().Label(kLabel).empty());
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

// What a running loop that watches ConfigMaps does when they, or their bindings, change.
struct Watching : Running {
  base::StopSource stop_kinds;
  std::thread discovery;

  Watching() {
    server->Serve({kConfigMaps, kDeployments, api::ResourceBindings()});
    discovery = std::thread([this] {
      base::IgnoreError(kinds.NewRunnable()->Run(stop_kinds.get_token()), "it ends with the test");
    });
  }
  ~Watching() override {
    stop_kinds.request_stop();
    discovery.join();
  }
  kube::Object PutConfig(const std::string& data) {
    kube::Object config = kube::Object::Make(kConfigMaps.gvk, {"ns", "config"});
    config.Set({"metadata", "uid"}, "uid-of-config");
    config.Set({"data", "k"}, data);
    return server->Put(kConfigMaps, config);
  }
  bool IsAttached() {
    return tests::Eventually([&] { return !Now("config-configmap").Label(kLabel).empty(); });
  }
};

TEST_CASE_METHOD(Watching, "an object that comes later is attached, and its edits are looked at") {
  PutConfig("first");
  REQUIRE(IsAttached());
  struct Looked {
    kube::WorkQueue queue;
    explicit Looked(const base::Clock& clock) : queue({.name = "looked"}, clock) {}
  } looked(clock);
  rechecks.Subscribe(api::ResourceBindings(), looked.queue,
                     [](const kube::Object& b) { return b.name() == "config-configmap"; });
  const size_t writes = Writes();
  PutConfig("second");
  CHECK(tests::Eventually([&] { return looked.queue.size() == 1; }));
  CHECK(Writes() == writes);
}

TEST_CASE_METHOD(Watching, "an attached binding that somebody deletes or empties is made again") {
  PutConfig("first");
  REQUIRE(IsAttached());
  SECTION("deleted") { server->Erase(api::ResourceBindings(), {"ns", "config-configmap"}); }
  SECTION("without its label") {
    kube::Object attached = Now("config-configmap");
    attached.EraseLabel(kLabel);
    server->Put(api::ResourceBindings(), attached);
  }
  SECTION("without its entry") {
    kube::Object attached = Now("config-configmap");
    attached.Erase({"spec", "requiredBy"});
    server->Put(api::ResourceBindings(), attached);
  }
  REQUIRE(IsAttached());
  CHECK(tests::Eventually([&] {
    return Now("config-configmap").Get({"spec", "requiredBy"}).size() == 1;
  }));
}

}  // namespace
