#include "controllers/dependencies/dependencies_reconciler.h"
#include "controllers/dependencies/register.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "base/status.h"
#include "controllers/dependencies/attached_bindings.h"
#include "tests/controllers/dependencies_fixture.h"

namespace {

using Fixture = tests::DependenciesFixture;
using interpreter::Operation;
using tests::BindingOfWeb;
using tests::Json;
using tests::kConfig;
using tests::kConfigMaps;
using tests::kConfigText;
using tests::kDeployments;
using tests::kWeb;
using tests::kWebBinding;
using Strings = std::vector<std::string>;

const std::string kLabel = controllers::DependedByLabel(kWebBinding);

TEST_CASE_METHOD(Fixture, "what a template needs is recorded on its binding, once") {
  Put(BindingOfWeb(kWebBinding.name, true));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
  CHECK(Writes() == 1);
  REQUIRE(Reconcile().ok());
  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 1);
  CHECK(recorded->All().empty());
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "[]");
  CHECK(Writes() == 2);
}

TEST_CASE_METHOD(Fixture, "what the scheduler reports at the same moment is no conflict") {
  Put(BindingOfWeb(kWebBinding.name, true));
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // The cache does not learn of the report.
  kube::Object reported = Now();
  reported.Set({"status", "schedulerObservedGeneration"}, 1);
  server->Put(api::ResourceBindings(), reported);
  CHECK(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
  CHECK(Now().status()["schedulerObservedGeneration"].AsInt() == 1);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a binding that was never placed gets no record until it is") {
  kube::Object binding = BindingOfWeb(kWebBinding.name, true);
  binding.Set({"spec", "clusters"}, json::Value::Array());
  Put(binding);
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 0);
  Put(BindingOfWeb(kWebBinding.name, true));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
}

TEST_CASE_METHOD(Fixture, "the same references in upstream's random order are not written again") {
  kube::Object binding = BindingOfWeb(kWebBinding.name, true);
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

TEST_CASE_METHOD(Fixture, "new dependencies are a routine success on the template") {
  recorded->WantRoutine();
  Put(BindingOfWeb(kWebBinding.name, true));
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  const auto events = [&] {
    Strings events = recorded->All();
    std::erase_if(events, [](const std::string& event) {
      return !absl::StrContains(event, "GetDependenciesSucceed");
    });
    return events;
  };
  REQUIRE(events().size() == 1);
  CHECK(absl::StartsWith(events()[0],
                         "Normal GetDependenciesSucceed Deployment: Get dependencies("
                         "[{APIVersion:v1 Kind:ConfigMap "));
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(events().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a template without dependencies is recorded as having none") {
  Put(BindingOfWeb(kWebBinding.name, true));
  scripted.dependencies = json::Value();
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "null");
}

TEST_CASE_METHOD(Fixture, "a failure is reported on the template, and the success that ends it") {
  Put(BindingOfWeb(kWebBinding.name, true));
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

TEST_CASE_METHOD(Fixture, "more than a binding can record is reported, and not tried again") {
  Put(BindingOfWeb(kWebBinding.name, true));
  json::Value many = json::Value::Array();
  for (int i = 0; i < 5000; ++i) {
    json::Value reference = Json(kConfig).At(0);
    reference.Set("name", absl::StrCat("config-", i));
    many.Append(std::move(reference));
  }
  scripted.dependencies = many;
  const absl::Status refused = Reconcile();
  CHECK(base::IsTerminal(refused));
  CHECK(Writes() == 0);
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(
      recorded->All()[0],
      "Warning GetDependenciesFailed Deployment: Deployment ns/web depends on "
      "5000 objects, with whose record the annotations of the binding would have "));
}

TEST_CASE_METHOD(Fixture, "a write that failed is an error, and made good by the next try") {
  Put(BindingOfWeb(kWebBinding.name, true));
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile()));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
}

TEST_CASE_METHOD(
    Fixture, "for a kind without a rule no dependencies are recorded, and old ones are removed") {
  Put(BindingOfWeb(kWebBinding.name, true));
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
  Put(BindingOfWeb(kWebBinding.name, true));
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == "-");
}

TEST_CASE_METHOD(Fixture, "a binding that stops to propagate keeps what was recorded") {
  Put(BindingOfWeb(kWebBinding.name, true));
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
  kube::Object binding = BindingOfWeb(kWebBinding.name, true);
  binding.AddFinalizer(api::kDependenciesFinalizer);
  binding.AddFinalizer(api::kBindingFinalizer);
  if (GENERATE(true, false)) {
    binding.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  } else {
    binding.Set({"spec", "propagateDeps"}, false);
  }
  Put(binding);
  kube::Object attached = BindingOfWeb("config-configmap", false);
  attached.SetLabel(controllers::DependedByLabel(kWebBinding), "id-of-web-deployment");
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment"}])"));
  Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Now().metadata()["finalizers"] == Json(R"(["karmada.io/binding-controller"])"));
  CHECK(Now("config-configmap").Label(controllers::DependedByLabel(kWebBinding)).empty());
  CHECK_FALSE(Now("config-configmap").spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Fixture, "upstream's finalizer stays until all dependencies are let go") {
  kube::Object binding = BindingOfWeb(kWebBinding.name, false);
  binding.AddFinalizer(api::kDependenciesFinalizer);
  Put(binding);
  kube::Object attached = BindingOfWeb("config-configmap", false);
  attached.SetLabel(controllers::DependedByLabel(kWebBinding), "id-of-web-deployment");
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
    Put(BindingOfWeb("web-deployment", true));
    Put(BindingOfWeb("plain-deployment", false));
    kube::Object unplaced = BindingOfWeb("unplaced-deployment", true);
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

TEST_CASE_METHOD(Running, "a changed rule brings back the placed bindings of its kind") {
  Publish(kDeployments.gvk, Operation::kInterpretHealth);
  Publish(tests::kConfigMaps.gvk, Operation::kInterpretDependency);
  Publish(kDeployments.gvk, Operation::kInterpretDependency);
  REQUIRE(tests::Eventually([&] { return Asked() >= 2; }));
  CHECK(Asked() == 2);
  CHECK(Recorded("unplaced-deployment") == "-");
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

TEST_CASE_METHOD(Watching, "what somebody edits in an attached binding is put back") {
  PutConfig("first");
  REQUIRE(IsAttached());
  const json::Value spec = Now("config-configmap").spec();
  const auto edit = [&](const char* field, json::Value value) {
    kube::Object edited = Now("config-configmap");
    edited.Set({"spec", field}, std::move(value));
    server->Put(api::ResourceBindings(), edited);
    CHECK(tests::Eventually([&] { return Now("config-configmap").spec() == spec; }));
  };
  edit("requiredBy", Json(R"([{"namespace": "ns", "name": "web-deployment",
                            "clusters": [{"name": "m9"}]}])"));
  edit("conflictResolution", "Overwrite");
  edit("preserveResourcesOnDeletion", true);
}

// A restored backup brings bindings in any order: what is attached must not lose its place in
// clusters because the binding that requires it is restored later.
TEST_CASE_METHOD(Watching, "an attached binding whose referrer is not there yet keeps its entry") {
  PutConfig("first");
  REQUIRE(IsAttached());
  // Whether it is in this state after everything else has been looked at.
  const auto has_entry_of = [&](const char* binding, const char* referrer) {
    const json::Value entries = Now(binding).Get({"spec", "requiredBy"});
    const auto items = entries.items();
    return std::any_of(items.begin(), items.end(), [&](const json::Value& entry) {
      return entry["name"].AsString() == referrer;
    });
  };
  SECTION("one that nobody else needs") {
    kube::Object attached = Now("config-configmap");
    attached.Set({"metadata", "name"}, "left-configmap");
    attached.mutable_root().Mutable({"spec", "requiredBy"}).MutableAt(0).Set("name", "later");
    attached.EraseLabel(kLabel);
    server->Put(api::ResourceBindings(), attached);
    // The binding that is put after it has been looked at, so it would have been, too.
    server->Erase(api::ResourceBindings(), {"ns", "config-configmap"});
    REQUIRE(IsAttached());
    CHECK(has_entry_of("left-configmap", "later"));
    // One that goes brings its referrers, also those that are not there.
    kube::Object other = Now("left-configmap");
    other.Set({"metadata", "name"}, "other-configmap");
    server->Put(api::ResourceBindings(), other);
    server->Erase(api::ResourceBindings(), {"ns", "left-configmap"});
    server->Erase(api::ResourceBindings(), {"ns", "config-configmap"});
    REQUIRE(IsAttached());
    CHECK(has_entry_of("other-configmap", "later"));
  }
  SECTION("one to which a second one is attached") {
    kube::Object restored = Now("config-configmap");
    restored.EraseLabel(kLabel);
    restored.mutable_root().Mutable({"spec", "requiredBy"}).MutableAt(0).Set("name", "later");
    server->Put(api::ResourceBindings(), restored);
    REQUIRE(tests::Eventually(
        [&] { return has_entry_of("config-configmap", kWebBinding.name.c_str()); }));
    CHECK(has_entry_of("config-configmap", "later"));
    CHECK(Now("config-configmap").Get({"spec", "requiredBy"}).size() == 2);
    // When it goes after it has come, so does its entry.
    kube::Object later = BindingOfWeb("later", true);
    later.Set({"spec", "resource", "name"}, "later");
    server->Put(api::ResourceBindings(), later);
    REQUIRE(tests::Eventually(
        [&] { return cluster.Find(api::ResourceBindings(), later.key()) != nullptr; }));
    server->Erase(api::ResourceBindings(), later.key());
    CHECK(tests::Eventually([&] { return !has_entry_of("config-configmap", "later"); }));
    CHECK(has_entry_of("config-configmap", kWebBinding.name.c_str()));
  }
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
