#include "controllers/execution/execution_reconciler.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/client/errors.h"
#include "kube/runtime/outcomes.h"
#include "tests/controllers/execution_fixture.h"
#include "works/edit_times.h"
#include "works/related.h"
#include "works/work_writer.h"

namespace {

using tests::Eventually;
using tests::kApp;
using tests::kConfigMaps;
using tests::kWork;
using tests::Parse;
using tests::Template;
using Fixture = tests::ExecutionFixture;

TEST_CASE_METHOD(Fixture, "a Work is applied, with conditions and an event that say so") {
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK(Held().Get({"data", "k"}).AsString() == "v");
  CHECK(recorded->All() ==
        std::vector<std::string>{
            "Normal SyncSucceed ConfigMap: Successfully applied resource(ns/app) to cluster m1"});
  const json::Value applied = Condition("Applied");
  CHECK(applied["status"].AsString() == "True");
  CHECK(applied["reason"].AsString() == "AppliedSuccessful");
  CHECK(applied["message"].AsString() == "Manifest has been successfully applied");
}

TEST_CASE_METHOD(Fixture, "a Work whose object was created again stays reported as such") {
  PutWork(Template());
  kube::Object work = server->Find(api::Works(), kWork);
  work.Set({"status", "conditions"}, tests::Json(R"([
      {"type": "Dispatching", "status": "True", "reason": "Dispatching",
       "message": "Work is being dispatched to member clusters."},
      {"type": "Applied", "status": "True", "reason": "ReCreateSuccessful",
       "message": "Manifest has been successfully applied"}])"));
  PutCached(api::Works(), work);
  const std::string before(server->Find(api::Works(), kWork).resource_version());
  REQUIRE(Reconcile().ok());
  REQUIRE(Held().Get({"data", "k"}).AsString() == "v");
  CHECK(Condition("Applied")["reason"].AsString() == "ReCreateSuccessful");
  CHECK(server->Find(api::Works(), kWork).resource_version() == before);
}

TEST_CASE_METHOD(Fixture,
                 "a manifest that the member refuses is reported in condition and events") {
  kube::Object theirs = Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
      "metadata": {"name": "app", "namespace": "ns"}, "data": {"their": "data"}})");
  m1.Put(kConfigMaps, theirs);
  PutWork(Template());
  CHECK_FALSE(Reconcile().ok());  // An error, so that the queue retries.
  const json::Value applied = Condition("Applied");
  CHECK(applied["status"].AsString() == "False");
  CHECK(applied["reason"].AsString() == "AppliedFailed");
  CHECK(applied["message"].AsString() ==
        "Failed to apply all manifests (0/1): " +
            api::message::ObjectExistsUnmanaged("ConfigMap", kApp, "m1"));
  const auto events = recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(absl::StartsWith(events[0],
                         "Warning SyncFailed ConfigMap: Failed to create or update "
                         "resource(ns/app) in member cluster(m1): resource(kind="));
  CHECK(absl::StartsWith(events[1],
                         "Warning SyncFailed Work: Failed to sync work(karmada-es-m1/app-1) to "
                         "cluster(m1), err: "));
  const std::string advice = api::message::TakeOverAdvice("ConfigMap");
  CHECK(absl::StrContains(advice, "work.karmada.io/conflict-resolution: overwrite"));
  for (const std::string& event : events) CHECK(absl::EndsWith(event, advice));
}

TEST_CASE_METHOD(Fixture, "a template is not taken over as its own copy, nor deleted as one") {
  works::WantedWork wanted = Template();
  wanted.annotations.Set(api::kConflictResolutionAnnotation, "overwrite");
  kube::Object itself = wanted.manifest;
  SECTION("not taken over") {
    m1.Put(kConfigMaps, itself);
    PutWork(wanted);
    CHECK_FALSE(Reconcile().ok());
    CHECK(absl::StrContains(Condition("Applied")["message"].AsString(), "the template itself"));
    CHECK(m1.Requests("PUT").size() + m1.Requests("PATCH").size() == 0);
  }
  SECTION("not deleted, though it was taken over") {
    itself.SetLabel(api::kManagedLabel, api::kManagedValue);
    m1.Put(kConfigMaps, itself);
    PutDeletedWork(wanted);
    CHECK(Reconcile().ok());
    CHECK_FALSE(Held().empty());
  }
}

TEST_CASE_METHOD(Fixture, "success is reported again only after a failure") {
  const auto successes = [this] {
    int64_t n = 0;
    for (const std::string& event : recorded->All()) n += absl::StrContains(event, "SyncSucceed");
    return n;
  };
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(successes() == 1);  // The second pass applied nothing.

  works::WantedWork changed = Template();
  changed.manifest.Set({"data", "k"}, "w");
  PutWork(changed);
  m1.FailNext("PATCH", 500, "InternalError");
  CHECK_FALSE(Reconcile().ok());
  CHECK(successes() == 1);
  REQUIRE(Reconcile().ok());
  CHECK(successes() == 3);  // One event on the template and one on the Work.
}

TEST_CASE_METHOD(Fixture, "a suspended Work is not applied and says so") {
  works::WantedWork wanted = Template();
  wanted.suspend_dispatching = true;
  PutWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(Held().empty());
  const json::Value dispatching = Condition("Dispatching");
  CHECK(dispatching["status"].AsString() == "False");
  CHECK(dispatching["reason"].AsString() == "SuspendDispatching");
  // Whoever waits for the state of a suspended Work matches upstream's words.
  CHECK(dispatching["message"].AsString() == "Work dispatching is in a suspended state.");
  CHECK(recorded->All() == std::vector<std::string>{"Normal WorkDispatching Work: Work dispatching "
                                                    "is in a suspended state."});
}

TEST_CASE_METHOD(Fixture, "an edit has arrived when the member has it; a suspension is not timed") {
  works::EditTimes times(cluster, clock, registry);
  Sync({api::ResourceBindings()});
  PutCached(api::ResourceBindings(), Parse(R"({"apiVersion": "work.karmada.io/v1alpha2",
      "kind": "ResourceBinding", "metadata": {"name": "app-configmap", "namespace": "ns"},
      "spec": {"clusters": [{"name": "m1"}]}})"));
  reconciler.emplace(controllers::ExecutionDeps{*manager, objects, *status, rechecks, {}, &times});
  kube::Object edited = kube::Object::Make(kConfigMaps.gvk, kApp);
  edited.Set({"metadata", "generation"}, 2);
  works::WantedWork wanted = Template();
  wanted.manifest.SetAnnotation(api::kTemplateGenerationAnnotation, "2");
  wanted.suspend_dispatching = true;
  times.Seen(edited);
  PutWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(registry.Expose(), "reason=\"no_cluster\"} 1\n"));
  CHECK_FALSE(absl::StrContains(registry.Expose(), "karmada_edit_to_applied_seconds_count"));

  wanted.suspend_dispatching = false;
  times.Seen(edited);
  clock.Advance(absl::Seconds(2));
  PutWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(registry.Expose(),
                          "karmada_edit_to_applied_seconds_sum{kind=\"ConfigMap\"} 2\n"));
}

TEST_CASE_METHOD(Fixture, "a suspended Work that upstream has left keeps its condition's text") {
  works::WantedWork wanted = Template();
  wanted.suspend_dispatching = true;
  kube::Object work = works::NewWork(wanted);
  const json::Value conditions = tests::Json(R"([
      {"type": "Dispatching", "status": "False", "reason": "SuspendDispatching",
       "message": "Work dispatching is in a suspended state.",
       "lastTransitionTime": "2024-01-01T00:00:00Z"}])");
  work.Set({"status", "conditions"}, conditions);
  const kube::Object before = PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  // The writer sends what comes later not before what waits already.
  const kube::ObjectKey later = {kWork.ns, "later-1"};
  kube::Object other = works::NewWork(wanted);
  other.Set({"metadata", "name"}, later.name);
  PutCached(api::Works(), other);
  REQUIRE(reconciler->Reconcile({.key = later}, {}).ok());
  Start();
  REQUIRE(Eventually([&] {
    clock.Advance(works::kProgressHold);
    return !server->Find(api::Works(), later).status()["conditions"].empty();
  }));
  CHECK(server->Find(api::Works(), kWork).status()["conditions"] == conditions);
  CHECK(server->Find(api::Works(), kWork).resource_version() == before.resource_version());
}

TEST_CASE_METHOD(Fixture, "Works of other clusters than ready push clusters wait") {
  SECTION("not ready") { PutCluster("Push", "False"); }
  SECTION("pull") { PutCluster("Pull", "True"); }
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK(Held().empty());
  CHECK(m1.Requests().empty());
}

TEST_CASE_METHOD(
    Fixture,
    "a Work of an unknown cluster waits for it, a Work outside execution namespaces is ignored") {
  CHECK(reconciler->Reconcile({.key = {"default", "w"}}, {}).ok());
  CHECK(reconciler->Reconcile({.key = {"karmada-es-m1", "never"}}, {}).ok());
  PutCached(api::Works(), kube::Object::Make(api::Works().gvk, {"karmada-es-m9", "w"}));
  CHECK(reconciler->Reconcile({.key = {"karmada-es-m9", "w"}}, {}).ok());
}

TEST_CASE_METHOD(Fixture, "a Work that is suspended and resumed at once ends as dispatched") {
  works::WantedWork wanted = Template();
  kube::Object work = works::NewWork(wanted);
  work.Set({"status", "conditions"},
           Parse(R"({"c": [{"type": "Dispatching", "status": "True"}]})").Get({"c"}));
  for (const bool suspended : {true, false}) {
    work.Set({"spec", "suspendDispatching"}, suspended);
    PutCached(api::Works(), work);
    REQUIRE(Reconcile().ok());
  }
  CHECK(Condition("Applied")["status"].AsString() == "True");
  CHECK(Condition("Dispatching")["status"].AsString() == "True");
}

TEST_CASE_METHOD(Fixture, "dispatching and applying a Work are routine successes on it") {
  recorded->WantRoutine();
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  const std::vector<std::string> events = {
      "Normal WorkDispatching Work: Work is being dispatched to member clusters.",
      "Normal SyncSucceed ConfigMap: Successfully applied resource(ns/app) to cluster m1",
      absl::StrCat("Normal SyncSucceed Work: Sync work(", kWork.ToString(),
                   ") to cluster(m1) successful.")};
  CHECK(recorded->All() == events);
  Condition("Applied");
  REQUIRE(Shows(api::Works(), server->Find(api::Works(), kWork)));
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All() == events);
}

TEST_CASE_METHOD(Fixture, "a Work of a cluster that is not ready says whether it is dispatched") {
  PutCluster("Push", "False");
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK(Condition("Dispatching")["status"].AsString() == "True");
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "a failure is forgotten when its Work is deleted") {
  PutWork(Template());
  m1.FailNext("POST", 500, "InternalError");
  CHECK_FALSE(Reconcile().ok());
  server->Erase(api::Works(), kWork);
  REQUIRE(Eventually([&] { return cluster.Find(api::Works(), kWork) == nullptr; }));
  REQUIRE(Reconcile().ok());
  const size_t before = recorded->All().size();
  m1.Put(kConfigMaps,
         kube::Object(works::NewWork(Template()).Get({"spec", "workload", "manifests"}).At(0)));
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  // Without a failure of this Work before, no success is reported.
  CHECK(recorded->All().size() == before);
}

TEST_CASE("Works are looked at again when their cluster becomes ready, leaves, or fails leaving") {
  const auto in_state = [](bool ready, bool leaving) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"status", "conditions"},
          json::Value::Array(
              {json::Value::Object({{"type", "Ready"}, {"status", ready ? "True" : "False"}})}));
    if (leaving) c.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    return c;
  };
  using controllers::WorksChangeTheirCourse;
  CHECK(WorksChangeTheirCourse(in_state(false, false), in_state(true, false)));
  CHECK(WorksChangeTheirCourse(in_state(true, false), in_state(true, true)));
  CHECK(WorksChangeTheirCourse(in_state(true, true), in_state(false, true)));
  CHECK_FALSE(WorksChangeTheirCourse(in_state(true, false), in_state(false, false)));
  CHECK_FALSE(WorksChangeTheirCourse(in_state(false, true), in_state(false, true)));
}

TEST_CASE_METHOD(Fixture, "a conflict over one manifest does not keep back those behind it") {
  kube::Object work = works::NewWork(Template());
  json::Value manifests = work.Get({"spec", "workload", "manifests"});
  kube::Object other(manifests.At(0));
  other.Set({"metadata", "name"}, "other");
  manifests.Append(other.root());
  work.Set({"spec", "workload", "manifests"}, manifests);
  PutCached(api::Works(), work);
  m1.FailNext("POST", 409, "Conflict");
  CHECK(kube::IsConflict(Reconcile()));
  CHECK(Held().empty());
  CHECK_FALSE(m1.Find(kConfigMaps, {"ns", "other"}).empty());
  CHECK(recorded->All().size() == 1);  // The event is about the other manifest alone.
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Held().empty());
}

// Returns the Work of the template with these manifests behind its own.
kube::Object WorkWithMore(std::vector<json::Value> more) {
  kube::Object work = works::NewWork(Template());
  json::Value manifests = work.Get({"spec", "workload", "manifests"});
  for (json::Value& manifest : more) manifests.Insert(0, std::move(manifest));
  work.Set({"spec", "workload", "manifests"}, manifests);
  return work;
}

TEST_CASE_METHOD(Fixture,
                 "manifests of no object are named, and keep back neither others nor the end") {
  kube::Object work = WorkWithMore({tests::Json("{}"), json::Value("text"), json::Value(),
                                    tests::Json(R"({"apiVersion": "v1", "kind": "ConfigMap"})")});
  SECTION("applied") {
    PutCached(api::Works(), work);
    CHECK(base::IsTerminal(Reconcile()));
    CHECK_FALSE(Held().empty());
    const std::string message = Condition("Applied")["message"].ToString();
    CHECK(absl::StartsWith(message,
                           "Failed to apply all manifests (1/5): "
                           "[spec.workload.manifests[0] of the Work (ConfigMap) has no "
                           "metadata.name, "));
    CHECK(
        absl::StrContains(message, "spec.workload.manifests[2] of the Work () has no apiVersion"));
  }
  SECTION("deleted") {
    Apply(Template());
    work.AddFinalizer("example.com/observer");
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
    CHECK(Reconcile().ok());
    CHECK(Held().empty());
    CHECK(IsFinalized());
  }
}

TEST_CASE_METHOD(Fixture,
                 "one manifest of several that the member denies is named, the others land") {
  kube::Object other(works::NewWork(Template()).Get({"spec", "workload", "manifests"}).At(0));
  other.Set({"metadata", "name"}, "other");
  PutCached(api::Works(), WorkWithMore({other.root()}));
  m1.FailNext("POST", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile()));
  CHECK_FALSE(Held().empty());
  const std::string message = Condition("Applied")["message"].ToString();
  // The server's answer alone, which names the object if it was asked for one.
  CHECK(absl::StartsWith(message, "Failed to apply all manifests (1/2): "));
  CHECK_FALSE(absl::StrContains(message, "create ConfigMap"));
  CHECK_FALSE(absl::StrContains(message, "does not allow it"));
}

TEST_CASE_METHOD(Fixture, "a status stays while its object cannot be changed, and goes with it") {
  Apply(Template());
  kube::Object work = works::NewWork(Template());
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  api::ManifestStatus healthy{api::ManifestIdentifier::Of(manifest, 0), {}, "Healthy"};
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({[&] {
             kube::Object changed = manifest;
             changed.Set({"data", "k"}, "other");
             return changed.root();
           }()}));
  work.Set({"status", "manifestStatuses"}, json::Value::Array({healthy.ToJson()}));
  PutCached(api::Works(), work);
  const bool gone = GENERATE(false, true);
  if (gone) {
    m1.Erase(kConfigMaps, kApp);
    REQUIRE(Eventually([&] { return *objects.Find("m1", manifest, {}) == nullptr; }));
  }
  m1.FailNext(gone ? "POST" : "PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile()));
  CHECK(Condition("Applied")["status"].AsString() == "False");
  CHECK(server->Find(api::Works(), kWork).status().Has("manifestStatuses") == !gone);
}

TEST_CASE_METHOD(Fixture, "Works of a kind that their cluster begins to serve are looked at") {
  PutWork(Template());
  const auto serving = [](const char* version) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set(
        {"status", "apiEnablements"},
        json::Value::Array({json::Value::Object(
            {{"groupVersion", version},
             {"resources", json::Value::Array({json::Value::Object({{"kind", "ConfigMap"}})})}})}));
    return c;
  };
  const kube::UpdateMapFn works_of = works::WorksOfNewKinds(informers.Get(api::Works()));
  CHECK(works::ServesOtherKinds(serving("v2"), serving("v1")));
  CHECK_FALSE(works::ServesOtherKinds(serving("v1"), serving("v1")));
  REQUIRE(works_of(serving("v2"), serving("v1")).size() == 1);
  CHECK(works_of(serving("v2"), serving("v1"))[0].key == kWork);
  CHECK(works_of(serving("v1"), serving("v2")).empty());
}

TEST_CASE("an object whose namespace is not in the member yet is no failure for a few tries") {
  const absl::Status missing = kube::GoneError(api::Namespaces(), {"", "ns"});
  kube::Outcomes outcomes;
  for (int i = 0; i < kube::Outcomes::kSilentConflicts; ++i) {
    CHECK(kube::IsNoOutcome(outcomes.Judge({kWork}, "", controllers::ConflictIfGone(missing))));
  }
  const absl::Status failed = outcomes.Judge({kWork}, "", controllers::ConflictIfGone(missing));
  CHECK_FALSE(kube::IsNoOutcome(failed));
  CHECK(absl::StartsWith(failed.message(), "namespaces \"ns\" not found"));
  const absl::Status unserved = kube::NoSuchKindError({"example.io", "v1", "Foo"});
  CHECK(controllers::ConflictIfGone(unserved) == unserved);
  CHECK(controllers::ConflictIfGone(absl::OkStatus()).ok());
}

}  // namespace
