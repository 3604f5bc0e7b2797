#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "api/names.h"
#include "api/work.h"
#include "base/byte_budget.h"
#include "controllers/work_status/work_status_reconciler.h"
#include "interpreter/customized/lua_backend.h"
#include "tests/controllers/work_status_fixture.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/work_writer.h"

namespace {

namespace customized = interpreter::customized;

using tests::Eventually;
using tests::Json;
using tests::kApp;
using tests::kConfigMaps;
using tests::kDeployments;
using tests::Parse;
using tests::Template;

using Fixture = tests::WorkStatusFixture;

TEST_CASE_METHOD(Fixture, "finalizers in the member that keep an object are reported, once") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"metadata", "deletionTimestamp"}, kube::FormatTime(clock.Now()));
  ChangeThere(kConfigMaps, {"metadata", "finalizers"}, Json(R"(["example.com/never"])"));
  const kube::Request request{.key = kApp, .gvk = kConfigMaps.gvk, .cluster = "m1"};
  CHECK(reconciler->Reconcile(request, {})->delay() > absl::Minutes(4));
  CHECK(recorded->All().empty());
  clock.Advance(absl::Minutes(5));
  REQUIRE(Reconcile(kConfigMaps).ok());
  REQUIRE(Reconcile(kConfigMaps).ok());
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(
      absl::StartsWith(events[0], "Warning DeletionBlocked Work: ConfigMap ns/app in cluster m1"));
  CHECK(absl::StrContains(events[0], "metadata.finalizers keeps it: example.com/never. "));
  CHECK(absl::StartsWith(events[1], "Warning DeletionBlocked ConfigMap: "));

  DeleteThere(kConfigMaps);
  REQUIRE(Reconcile(kConfigMaps).ok());
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"metadata", "deletionTimestamp"},
              kube::FormatTime(clock.Now() - absl::Minutes(6)));
  ChangeThere(kConfigMaps, {"metadata", "finalizers"}, Json(R"(["example.com/never"])"));
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All().size() == 4);
}

TEST_CASE_METHOD(Fixture, "status and health of the member's object go into its Work") {
  PutApplied(kDeployments);
  ChangeThere(kDeployments, {"status"},
              Json(R"({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1})"));
  REQUIRE(Reconcile(kDeployments).ok());
  const json::Value item = Written(kDeployments)["manifestStatuses"].At(0);
  CHECK(item["identifier"] == Json(R"({"ordinal": 0, "group": "apps", "version": "v1",
      "kind": "Deployment", "resource": "", "namespace": "ns", "name": "app"})"));
  CHECK(item["status"]["replicas"].AsInt() == 1);
  CHECK(item["health"].AsString() == "Healthy");
}

TEST_CASE_METHOD(Fixture, "so do those of an object for which the cache has no room") {
  kube::InformerSet& cache = (*members.Get("m1"))->client().informers();
  cache.SetBudget(std::make_shared<base::ByteBudget>(64 << 10), [] {});
  const kube::Object work = PutCached(api::Works(), works::NewWork(Template(kDeployments)));
  kube::Object object(work.Get({"spec", "workload", "manifests"}).At(0));
  REQUIRE(*objects.Find("m1", object, {}) == nullptr);  // It is listed.
  object.SetLabel(api::kManagedLabel, api::kManagedValue);
  object.SetAnnotation("large", std::string(100 << 10, 'x'));
  object.Set({"status"}, Json(R"({"replicas": 1, "updatedReplicas": 1})"));
  m1.Put(kDeployments, object);
  REQUIRE(Eventually([&] { return cache.Find(kDeployments)->LeavesOut(); }));
  CHECK(cache.Find(kDeployments)->store().size() == 0);
  REQUIRE(Reconcile(kDeployments).ok());
  CHECK(Written(kDeployments)["manifestStatuses"].At(0)["status"]["replicas"].AsInt() == 1);
}

TEST_CASE_METHOD(Fixture, "a workload that is not up is unhealthy") {
  PutApplied(kDeployments);
  ChangeThere(kDeployments, {"status"}, Json(R"({"replicas": 1, "unavailableReplicas": 1})"));
  REQUIRE(Reconcile(kDeployments).ok());
  CHECK(Written(kDeployments)["manifestStatuses"].At(0)["health"].AsString() == "Unhealthy");
}

TEST_CASE_METHOD(Fixture, "a kind without a health rule is healthy as soon as it is there") {
  PutApplied(kConfigMaps);
  REQUIRE(Reconcile(kConfigMaps).ok());
  const json::Value item = Written(kConfigMaps)["manifestStatuses"].At(0);
  CHECK(item["health"].AsString() == "Healthy");
  CHECK(item["status"].is_null());
}

TEST_CASE_METHOD(Fixture, "objects of pull clusters and of clusters that left are not touched") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"data", "k"}, "theirs");
  const size_t before = m1.Calls();
  SECTION("pull") { PutCluster("Pull"); }
  SECTION("left") {
    server->Erase(api::Clusters(), {"", "m1"});
    REQUIRE(Eventually([&] { return cluster.Find(api::Clusters(), {"", "m1"}) == nullptr; }));
  }
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Calls() == before);
}

TEST_CASE_METHOD(Fixture, "what somebody changed in the member is put back") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"spec", "replicas"}, 7);
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).spec()["replicas"].AsInt() == 1);
  const size_t writes = m1.Requests("PATCH").size();
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Requests("PATCH").size() == writes);
}

TEST_CASE_METHOD(Fixture, "a Work that changes while drift is put back is applied once more") {
  tests::ScriptedInterpreter rules;
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"spec", "replicas"}, 7);
  works::MemberObjects scripted({mapper, members, rules, clock, registry});
  reconciler.emplace(controllers::WorkStatusDeps{*manager, scripted, *status, rechecks, rules});
  rules.Enable(interpreter::Operation::kRetain);
  rules.retain = [&](const kube::Object& desired, const kube::Object&) {
    works::WantedWork wanted = Template(kConfigMaps);
    wanted.manifest.Set({"spec", "replicas"}, 3);
    PutCached(api::Works(), works::NewWork(wanted));
    return desired;
  };
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(execution.size() == 1);
}

TEST_CASE_METHOD(Fixture, "status comes back although the member refuses to have drift put back") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"spec", "replicas"}, 7);
  ChangeThere(kConfigMaps, {"status"}, Json(R"({"seen": true})"));
  m1.FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile(kConfigMaps)));
  CHECK(Written(kConfigMaps)["manifestStatuses"].At(0)["status"]["seen"].AsBool());
}

TEST_CASE_METHOD(Fixture, "a suspended Work reports but changes nothing") {
  works::WantedWork wanted = Template(kConfigMaps);
  wanted.suspend_dispatching = true;
  PutApplied(kConfigMaps, wanted);
  ChangeThere(kConfigMaps, {"spec", "replicas"}, 7);
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).spec()["replicas"].AsInt() == 7);
  CHECK(Written(kConfigMaps)["manifestStatuses"].size() == 1);
  DeleteThere(kConfigMaps);
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).empty());
}

TEST_CASE_METHOD(Fixture,
                 "an object that was deleted in the member is made again, and that is reported") {
  PutApplied(kConfigMaps);
  DeleteThere(kConfigMaps);
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).spec()["replicas"].AsInt() == 1);
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal SyncSucceed ConfigMap: Successfully applied "
                                 "resource(ns/app) to cluster m1"});
  const json::Value applied = Written(kConfigMaps)["conditions"].At(0);
  CHECK(applied["type"].AsString() == "Applied");
  CHECK(applied["status"].AsString() == "True");
  CHECK(applied["reason"].AsString() == "ReCreateSuccessful");
  CHECK(applied["message"].AsString() == "Manifest has been successfully applied");
}

TEST_CASE_METHOD(Fixture, "an object that cannot be made again is reported and tried again") {
  PutApplied(kConfigMaps);
  kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  api::ManifestStatus healthy{api::ManifestIdentifier::Of(manifest, 0), Json("{}"), "Healthy"};
  work.Set({"status", "manifestStatuses"}, json::Value::Array({healthy.ToJson()}));
  PutCached(api::Works(), work);
  DeleteThere(kConfigMaps);
  m1.FailNext("POST", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(ReconcileDeleted(kConfigMaps)));
  Start();
  REQUIRE(Eventually([&] {
    clock.Advance(works::kProgressHold);
    return server->Find(api::Works(), Template(kConfigMaps).key).status().Has("conditions");
  }));
  CHECK_FALSE(Written(kConfigMaps).Has("manifestStatuses"));
  const json::Value applied = Written(kConfigMaps)["conditions"].At(0);
  CHECK(applied["status"].AsString() == "False");
  CHECK(applied["reason"].AsString() == "ReCreateFailed");
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning SyncFailed ConfigMap: Failed to create or "
                         "update resource(ns/app) in member cluster(m1): "));
}

TEST_CASE_METHOD(Fixture, "an object keeps its status when Karmada's label is removed from it") {
  PutApplied(kConfigMaps);
  kube::Object there = m1.Find(kConfigMaps, kApp);
  there.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, there);
  // To a watch of labelled objects it looks deleted.
  REQUIRE(Eventually([&] { return *objects.Find("m1", there, {}) == nullptr; }));
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).Label(api::kManagedLabel) == "true");
  CHECK(m1.Find(kConfigMaps, kApp).uid() == there.uid());
  CHECK(recorded->All().empty());
  CHECK(execution.size() == 1);  // It finds the object as the Work wants it.
}

// The Work ends while the request to create its object is under way, after its end has looked for
// the object.
TEST_CASE_METHOD(Fixture, "an object made again for a Work that has ended meanwhile is deleted") {
  PutApplied(kConfigMaps);
  DeleteThere(kConfigMaps);
  m1.Block("POST");
  absl::Status done;
  std::thread worker([&] { done = ReconcileDeleted(kConfigMaps); });
  CHECK(m1.AwaitRequests("POST", 2));
  const kube::ObjectKey key = Template(kConfigMaps).key;
  const int how = GENERATE(0, 1, 2);
  kube::Object work = server->Find(api::Works(), key);
  if (how == 0) {
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
  } else {
    server->Erase(api::Works(), key);
    CHECK(Eventually([&] { return cluster.Find(api::Works(), key) == nullptr; }));
  }
  if (how == 2) PutCached(api::Works(), works::NewWork(Template(kConfigMaps)));
  m1.Unblock();
  worker.join();
  CHECK(done.ok());
  // A new Work of the same name gets to look at it.
  CHECK(m1.Find(kConfigMaps, kApp).empty() == (how != 2));
  CHECK(execution.size() == (how == 2 ? 1 : 0));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture,
                 "what was made for a Work that has ended is deleted until that succeeds") {
  PutApplied(kConfigMaps);
  DeleteThere(kConfigMaps);
  m1.Block("POST");
  absl::Status done;
  std::thread worker([&] { done = ReconcileDeleted(kConfigMaps); });
  CHECK(m1.AwaitRequests("POST", 2));
  server->Erase(api::Works(), Template(kConfigMaps).key);
  CHECK(
      Eventually([&] { return cluster.Find(api::Works(), Template(kConfigMaps).key) == nullptr; }));
  m1.FailNext("DELETE", 403, "Forbidden");
  m1.Unblock();
  worker.join();
  CHECK(absl::IsPermissionDenied(done));
  CHECK_FALSE(m1.Find(kConfigMaps, kApp).empty());
  CHECK(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).empty());
}

// Somebody removes the label, and the Work ends while the request to put it back is under way.
TEST_CASE_METHOD(Fixture, "an object that had its label back for a Work that has ended is let go") {
  const bool preserve = GENERATE(false, true);
  works::WantedWork wanted = Template(kConfigMaps);
  wanted.preserve_resources_on_deletion = preserve;
  PutApplied(kConfigMaps, wanted);
  kube::Object there = m1.Find(kConfigMaps, kApp);
  there.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, there);
  REQUIRE(Eventually([&] { return *objects.Find("m1", there, {}) == nullptr; }));
  m1.Block("PATCH");
  absl::Status done;
  std::thread worker([&] { done = ReconcileDeleted(kConfigMaps); });
  CHECK(m1.AwaitRequests("PATCH", 1));
  server->Erase(api::Works(), wanted.key);
  CHECK(Eventually([&] { return cluster.Find(api::Works(), wanted.key) == nullptr; }));
  m1.Unblock();
  worker.join();
  CHECK(done.ok());
  const kube::Object after = m1.Find(kConfigMaps, kApp);
  CHECK(after.empty() == !preserve);
  CHECK(after.Label(api::kManagedLabel).empty());
  CHECK(after.Annotation(api::kWorkNameAnnotation).empty());
}

TEST_CASE_METHOD(Fixture, "an object that was never applied is the execution loop's to create") {
  PutCached(api::Works(), works::NewWork(Template(kConfigMaps)));
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).empty());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture,
                 "an object whose Work could not be applied is left to the execution loop") {
  PutApplied(kConfigMaps);
  kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
  work.Set({"status", "conditions"},
           Json(R"([{"type": "Applied", "status": "False", "reason": "AppliedFailed"}])"));
  PutCached(api::Works(), work);
  DeleteThere(kConfigMaps);
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).empty());
  CHECK(recorded->All().empty());
  CHECK(execution.size() == 1);
}

TEST_CASE_METHOD(Fixture, "an object that is back before its deletion is handled is not reported") {
  PutApplied(kConfigMaps);
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(recorded->All().empty());
  CHECK(m1.Requests("POST").size() == 1);  // The one of the first application.
  CHECK(execution.size() == 1);
}

TEST_CASE_METHOD(Fixture, "the object of a Work that goes or is gone is not made again") {
  PutApplied(kConfigMaps);
  DeleteThere(kConfigMaps);
  const kube::ObjectKey key = Template(kConfigMaps).key;
  if (GENERATE(false, true)) {
    server->Erase(api::Works(), key);
    REQUIRE(Eventually([&] { return cluster.Find(api::Works(), key) == nullptr; }));
  } else {
    kube::Object work = server->Find(api::Works(), key);
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
  }
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, kApp).empty());
}

TEST_CASE_METHOD(Fixture, "an object is not taken for deleted while its informer starts again") {
  PutApplied(kConfigMaps);
  members.Remove("m1");  // As after a change of the credentials.
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All().empty());
  CHECK(Written(kConfigMaps)["conditions"].is_null());
}

TEST_CASE_METHOD(Fixture, "an object that names another cluster's Work is left alone") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"metadata", "annotations", api::kWorkNamespaceAnnotation},
              "karmada-es-m2");
  const size_t writes = m1.Requests("PATCH").size();
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(m1.Requests("PATCH").size() == writes);
}

TEST_CASE_METHOD(Fixture, "an object that its Work does not have is an error that no retry mends") {
  PutApplied(kConfigMaps);
  kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
  work.Set({"spec", "workload", "manifests"},
           json::Value::Array({kube::Object::Make(kConfigMaps.gvk, {"ns", "other"}).root()}));
  PutCached(api::Works(), work);
  const absl::Status failed = Reconcile(kConfigMaps);
  CHECK(base::IsTerminal(failed));
  CHECK(absl::StrContains(failed.message(), "no such manifest exist"));
}

TEST_CASE_METHOD(Fixture, "an object that its Work has in another version is left to that one") {
  PutApplied(kDeployments);
  kube::Object work = server->Find(api::Works(), Template(kDeployments).key);
  kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  manifest.Set({"apiVersion"}, "apps/v1beta1");
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
  PutCached(api::Works(), work);
  const size_t requests = m1.Calls();
  CHECK(Reconcile(kDeployments).ok());
  CHECK(m1.Calls() == requests);
}

// Returns an interpreter that determines a ConfigMap's health with these Lua statements.
std::unique_ptr<interpreter::Interpreter> HealthOfConfigMaps(const std::string& statements) {
  kube::Object object = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", "maps"});
  object.Set({"spec"}, Json(R"({"target": {"apiVersion": "v1", "kind": "ConfigMap"}})"));
  object.Set({"spec", "customizations", "healthInterpretation", "luaScript"},
             "function InterpretHealth(obj) " + statements + " end");
  customized::LuaBackendOptions options;
  options.budget.time = absl::Milliseconds(10);
  auto layer = std::make_unique<customized::LuaBackend>(options);
  layer->Replace(customized::CustomizationSet::Merge(
      {std::make_shared<customized::Customization>(customized::ParseCustomization(object))}));
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(std::move(layer));
  layers.push_back(interpreter::NewNativeBackend());
  return interpreter::NewChain(std::move(layers));
}

// A Work of a ConfigMap, whose recorded health is unhealthy, and of an app, whose recorded health
// is healthy.
struct TwoManifests : Fixture {
  TwoManifests() {
    PutApplied(kConfigMaps);
    kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
    const kube::Object first = kube::Object::Make(kConfigMaps.gvk, {"ns", "first"});
    const kube::Object second(work.Get({"spec", "workload", "manifests"}).At(0));
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({first.root(), second.root()}));
    work.Set({"status", "manifestStatuses"},
             json::Value::Array({Item(first, 0, "Unhealthy"), Item(second, 1, "Healthy")}));
    PutCached(api::Works(), work);
    scripted.Enable(interpreter::Operation::kInterpretHealth);
    Use(scripted);
  }
  static json::Value Item(const kube::Object& manifest, int64_t ordinal, const char* health) {
    return api::ManifestStatus{api::ManifestIdentifier::Of(manifest, ordinal), {}, health}.ToJson();
  }
  tests::ScriptedInterpreter scripted;
};

TEST_CASE_METHOD(Fixture, "a new status and a new health are routine successes on the Work") {
  tests::ScriptedInterpreter scripted;
  scripted.Enable(interpreter::Operation::kInterpretHealth);
  Use(scripted);
  PutApplied(kConfigMaps);
  recorded->WantRoutine();
  REQUIRE(Reconcile(kConfigMaps).ok());
  const std::vector<std::string> events = {
      "Normal ReflectStatusSucceed Work: Reflect status for object(ConfigMap/ns/app) succeed.",
      "Normal InterpretHealthSucceed Work: Interpret health of object(ConfigMap/ns/app) as "
      "healthy."};
  CHECK(recorded->All() == events);
  Written(kConfigMaps);
  REQUIRE(Shows(api::Works(), server->Find(api::Works(), Template(kConfigMaps).key)));
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All() == events);
}

TEST_CASE_METHOD(TwoManifests,
                 "health that stays as it was is not reported, whatever other manifests' is") {
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(TwoManifests,
                 "health that flips is reported though it now is another manifest's") {
  scripted.healthy = false;
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal InterpretHealthSucceed Work: Interpret health of "
                                 "object(ConfigMap/ns/app) as unhealthy."});
  if (!runner.joinable()) Start();
  CHECK(Eventually([&] {
    clock.Advance(works::kProgressHold);
    const json::Value now =
        server->Find(api::Works(), Template(kConfigMaps).key).status()["manifestStatuses"];
    return now.size() == 2 && now.At(0)["health"].AsString() == "Unhealthy" &&
           now.At(1)["health"].AsString() == "Unhealthy";
  }));
}

TEST_CASE_METHOD(Fixture,
                 "health that nobody could determine now is unknown, and asked for again") {
  PutApplied(kConfigMaps);
  const auto endless = HealthOfConfigMaps("while true do end");
  Use(*endless);
  const absl::Status failed = Reconcile(kConfigMaps);
  CHECK_THAT(std::string(failed.message()), Catch::StartsWith("interpreting health of ConfigMap"));
  CHECK_FALSE(base::IsTerminal(failed));
  CHECK(Written(kConfigMaps)["manifestStatuses"].At(0)["health"].AsString() == "Unknown");

  const auto working = HealthOfConfigMaps("return true");
  Use(*working);
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(Eventually([&] {
    clock.Advance(works::kProgressHold);
    const kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
    return work.status()["manifestStatuses"].At(0)["health"].AsString() == "Healthy";
  }));
}

TEST_CASE_METHOD(Fixture, "a message of the health that changes is not written") {
  tests::ScriptedInterpreter scripted;
  scripted.Enable(interpreter::Operation::kInterpretHealth);
  scripted.healthy = interpreter::Health(false, "0 of 2");
  Use(scripted);
  PutApplied(kConfigMaps);
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(Written(kConfigMaps)["manifestStatuses"].At(0)["health"].AsString() == "Unhealthy");
  const kube::Object work = server->Find(api::Works(), Template(kConfigMaps).key);
  REQUIRE(Shows(api::Works(), work));
  scripted.healthy = interpreter::Health(false, "1 of 2");
  REQUIRE(Reconcile(kConfigMaps).ok());
  scripted.healthy = interpreter::Health(true);
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(Eventually([&] {
    clock.Advance(works::kProgressHold);
    const kube::Object now = server->Find(api::Works(), work.key());
    return now.status()["manifestStatuses"].At(0)["health"].AsString() == "Healthy";
  }));
  CHECK(server->Requests("PATCH").size() == 2);
}

struct FailingReflection : tests::ScriptedInterpreter {
  bool fails = true;
  absl::StatusOr<interpreter::Answer> Ask(const interpreter::Question& question) const override {
    const bool reflects = question.operation == interpreter::Operation::kInterpretStatus;
    if (fails && reflects) return absl::InternalError("broken");
    return ScriptedInterpreter::Ask(question);
  }
};

TEST_CASE_METHOD(Fixture, "failures in a cluster are forgotten after it has left") {
  PutApplied(kConfigMaps);
  FailingReflection rules;
  Use(rules);
  CHECK_FALSE(Reconcile(kConfigMaps).ok());
  REQUIRE(recorded->All().size() == 1);
  kube::Object there = server->Find(api::Clusters(), {"", "m1"});
  server->Erase(api::Clusters(), {"", "m1"});
  REQUIRE(Eventually([&] { return cluster.Find(api::Clusters(), {"", "m1"}) == nullptr; }));
  REQUIRE(reconciler
              ->Reconcile(
                  {.key = {}, .gvk = {}, .cluster = "m1", .reason = controllers::kClusterLeft}, {})
              .ok());
  PutCached(api::Clusters(), there);
  rules.fails = false;
  CHECK(Reconcile(kConfigMaps).ok());
  CHECK(recorded->All().size() == 1);  // No recovery is reported.
}

TEST_CASE_METHOD(Fixture, "health by a script that is wrong is unknown until the script changes") {
  PutApplied(kConfigMaps);
  const auto broken = HealthOfConfigMaps("error('no such field')");
  Use(*broken);
  CHECK(Reconcile(kConfigMaps).ok());
  CHECK(Written(kConfigMaps)["manifestStatuses"].At(0)["health"].AsString() == "Unknown");
  CHECK(absl::StrContains(recorded->All().at(0), "InterpretHealthFailed"));
}

}  // namespace
