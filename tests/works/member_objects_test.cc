#include "works/member_objects.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/byte_budget.h"
#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/member_errors.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::kConfigMaps;
using tests::kDeployments;
using tests::kServices;
using tests::Parse;
using works::ApplyResult;

const kube::ObjectKey kKey = {"ns", "app"};

// Returns a ConfigMap as it is in a Work.
kube::Object ConfigMap(const char* data = R"({"k": "v"})") {
  kube::Object object = Parse(R"({
    "apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "app", "namespace": "ns",
      "labels": {"karmada.io/managed": "true", "app": "x"},
      "annotations": {"note": "n",
        "resourcetemplate.karmada.io/managed-labels": "app,karmada.io/managed",
        "resourcetemplate.karmada.io/managed-annotations": "note,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels"}}})");
  object.Set({"data"}, Json(data));
  return object;
}

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");

  kube::Object Held(const kube::Resource& r = kConfigMaps) const { return m1.Find(r, kKey); }
  // Changes the object as a client in the member would, and waits until our cache has the change.
  kube::Object ChangeThere(const kube::Resource& r, kube::Object object) {
    const kube::Object stored = m1.Put(r, std::move(object));
    REQUIRE(Eventually([&] {
      const auto found = objects.Find("m1", stored, {});
      return found.ok() && *found != nullptr &&
             (*found)->resource_version() == stored.resource_version();
    }));
    return stored;
  }
  ApplyResult Apply(const kube::Object& manifest) {
    const auto result = objects.Apply("m1", manifest, {});
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    return *result;
  }
  // Puts an object into the member while its watch is cut off, so that the cache does not show it:
  // as a creation that was never answered.
  void PutUnseen(const kube::Object& object) {
    REQUIRE(*objects.Find("m1", ConfigMap(), {}) == nullptr);
    m1.Block("WATCH");
    m1.EndWatches(absl::OkStatus());
    m1.Put(kConfigMaps, object);
    REQUIRE(*objects.Find("m1", ConfigMap(), {}) == nullptr);
  }
  double Count(const char* name, metrics::Labels labels) {
    labels.insert({{"result", "success"},
                   {"apiversion", "v1"},
                   {"kind", "ConfigMap"},
                   {"member_cluster", "m1"}});
    return registry.GetCounter(name, "", labels).Value();
  }
};

TEST_CASE_METHOD(Fixture, "an object for which the cache has no room is looked for at the server") {
  const auto cluster = *members.Get("m1");
  cluster->client().informers().SetBudget(std::make_shared<base::ByteBudget>(64 << 10), [] {});
  REQUIRE(*objects.Find("m1", ConfigMap(), {}) == nullptr);
  kube::Object large = ConfigMap();
  large.Set({"data", "text"}, std::string(100 << 10, 'x'));
  m1.Put(kConfigMaps, large);
  const auto informer = cluster->client().informers().Find(kConfigMaps);
  REQUIRE(Eventually([&] { return informer->LeavesOut(); }));
  CHECK(informer->store().Find(kKey) == nullptr);
  const auto found = objects.Find("m1", ConfigMap(), {});
  REQUIRE(found.ok());
  CHECK(*found != nullptr);
  CHECK(objects.Recreate("m1", ConfigMap(), {}).value() == ApplyResult::kNone);
  m1.Erase(kConfigMaps, kKey);
  CHECK(*objects.Find("m1", ConfigMap(), {}) == nullptr);
}

TEST_CASE_METHOD(Fixture, "an object that is not there is created as the manifest says") {
  CHECK(Apply(ConfigMap()) == ApplyResult::kCreated);
  CHECK(Held().Get({"data"}) == ConfigMap().Get({"data"}));
  CHECK(Held().labels() == ConfigMap().labels());
  CHECK(Count("create_resource_to_cluster", {{"recreate", "false"}}) == 1);
}

TEST_CASE_METHOD(Fixture, "an object that is as it should be is not written") {
  Apply(ConfigMap());
  CHECK(Apply(ConfigMap()) == ApplyResult::kNone);
  CHECK(m1.Requests("PATCH").empty());
  CHECK(Count("update_resource_to_cluster", {{"operationResult", "none"}}) == 1);
}

TEST_CASE_METHOD(Fixture, "what differs is changed, what the manifest no longer has is removed") {
  Apply(ConfigMap(R"({"a": "1", "b": "2"})"));
  CHECK(Apply(ConfigMap(R"({"b": "3", "c": "4"})")) == ApplyResult::kUpdated);
  CHECK(Held().Get({"data"}) == Json(R"({"b": "3", "c": "4"})"));
  CHECK(Count("update_resource_to_cluster", {{"operationResult", "updated"}}) == 1);
}

TEST_CASE_METHOD(Fixture, "what the member added to the metadata stays") {
  Apply(ConfigMap());
  kube::Object theirs = Held();
  theirs.SetLabel("their-label", "x");
  theirs.SetAnnotation("their-annotation", "y");
  theirs.SetLabel("app", "changed there");
  theirs.AddFinalizer("example.com/theirs");
  theirs.Set({"metadata", "ownerReferences"}, Json(R"([{"name": "o", "uid": "u"}])"));
  ChangeThere(kConfigMaps, theirs);
  CHECK(Apply(ConfigMap(R"({"k": "w"})")) == ApplyResult::kUpdated);
  CHECK(Held().Label("their-label") == "x");
  CHECK(Held().Annotation("their-annotation") == "y");
  CHECK(Held().Label("app") == "x");  // The template's value wins.
  CHECK(Held().HasFinalizer("example.com/theirs"));
  CHECK(Held().metadata()["ownerReferences"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "labels and annotations that the template has lost are removed") {
  Apply(ConfigMap());
  kube::Object manifest = ConfigMap();
  manifest.EraseLabel("app");
  manifest.EraseAnnotation("note");
  manifest.SetAnnotation(api::kManagedLabelsAnnotation, "karmada.io/managed");
  CHECK(Apply(manifest) == ApplyResult::kUpdated);
  CHECK_FALSE(Held().labels().Has("app"));
  CHECK_FALSE(Held().annotations().Has("note"));
}

TEST_CASE_METHOD(Fixture, "fields that a member assigns to its Service are retained") {
  kube::Object manifest = Parse(R"({"apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "app", "namespace": "ns", "labels": {"karmada.io/managed": "true"}},
    "spec": {"ports": [{"port": 80}]}})");
  Apply(manifest);
  kube::Object assigned = Held(kServices);
  assigned.Set({"spec", "clusterIP"}, "10.0.0.7");
  assigned.Set({"status"}, Json(R"({"loadBalancer": {}})"));
  ChangeThere(kServices, assigned);
  CHECK(Apply(manifest) == ApplyResult::kNone);
  CHECK(Held(kServices).spec()["clusterIP"].AsString() == "10.0.0.7");
  CHECK(Held(kServices).status() == assigned.status());
}

// The order of upstream's objectwatcher: first what the member owns in the metadata, then the hook.
TEST_CASE_METHOD(Fixture,
                 "a Retain hook sees the finalizers and owners that the member's object has") {
  tests::ScriptedInterpreter scripted;
  scripted.Enable(interpreter::Operation::kRetain);
  scripted.retain = [](const kube::Object& desired, const kube::Object& observed) {
    CHECK(desired.resource_version() == observed.resource_version());
    CHECK(desired.metadata()["ownerReferences"] == observed.metadata()["ownerReferences"]);
    CHECK(desired.Label("theirs") == "x");
    kube::Object after = desired;
    after.RemoveFinalizer("example.com/drop");
    return after;
  };
  works::MemberObjects hooked({mapper, members, scripted, clock, registry});
  REQUIRE(Apply(ConfigMap()) == ApplyResult::kCreated);
  kube::Object theirs = Held();
  theirs.AddFinalizer("example.com/keep");
  theirs.SetLabel("theirs", "x");
  theirs.Set({"metadata", "ownerReferences"}, Json(R"([{"kind": "Owner", "name": "o"}])"));
  ChangeThere(kConfigMaps, theirs);
  CHECK(*hooked.Apply("m1", ConfigMap(), {}) == ApplyResult::kNone);

  kube::Object more = Held();
  more.AddFinalizer("example.com/drop");
  ChangeThere(kConfigMaps, more);
  CHECK(*hooked.Apply("m1", ConfigMap(), {}) == ApplyResult::kUpdated);
  CHECK(Held().metadata()["finalizers"] == Json(R"(["example.com/keep"])"));
  CHECK(Held().metadata()["ownerReferences"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "a right that is missing is reported with the cluster") {
  const std::string prefix = "cluster m1 does not allow it: ";
  m1.FailNext("POST", 403, "Forbidden");
  const absl::Status created = objects.Apply("m1", ConfigMap(), {}).status();
  CHECK(absl::IsPermissionDenied(created));
  CHECK(absl::StartsWith(created.message(), prefix));
  REQUIRE(Apply(ConfigMap()) == ApplyResult::kCreated);
  kube::Object other = ConfigMap();
  other.Set({"data", "more"}, "text");
  m1.FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::StartsWith(objects.Apply("m1", other, {}).status().message(), prefix));
  m1.FailNext("DELETE", 403, "Forbidden");
  CHECK(absl::StartsWith(objects.Delete("m1", ConfigMap(), {}).message(), prefix));
}

// The clock stands still, so that the informer does not look again.
TEST_CASE_METHOD(Fixture, "an object is applied as soon as its kind is served") {
  m1.FailNext("GET", 404, "NotFound", 2);
  REQUIRE(Eventually([&] {
    const auto informer = objects.InformerFor("m1", kConfigMaps.gvk, {});
    return informer.ok() && !(*informer)->last_error().ok();
  }));
  kube::Object manifest = ConfigMap();
  m1.FailNext("POST", 404, "NotFound");
  const absl::Status failed = objects.Apply("m1", manifest, {}).status();
  CHECK(kube::IsNoSuchKind(failed));
  const std::string answer(works::ForCondition(failed).message());
  CHECK_FALSE(absl::StrContains(answer, "does not serve"));
  CHECK(works::ForEvent(failed).message() ==
        answer +
            ". Cluster m1 does not serve ConfigMap in v1; apply or propagate its "
            "CustomResourceDefinition there, and ns/app follows");
  CHECK(kube::IsNoSuchKind(works::ForEvent(failed)));
  CHECK(Apply(manifest) == ApplyResult::kCreated);
  CHECK(Apply(manifest) == ApplyResult::kNone);
}

TEST_CASE_METHOD(Fixture, "somebody else's object is refused in upstream's words and left alone") {
  kube::Object theirs = ConfigMap(R"({"their": "data"})");
  theirs.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, theirs);
  kube::Object manifest = ConfigMap();
  if (GENERATE(false, true)) manifest.SetAnnotation(api::kConflictResolutionAnnotation, "abort");
  const auto result = objects.Apply("m1", manifest, {});
  CHECK(absl::IsAlreadyExists(result.status()));
  const std::string upstreams =
      "resource(kind=ConfigMap, ns/app) already exists in the cluster m1 and the "
      "work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this "
      "resource";
  CHECK(works::ForCondition(result.status()).message() == upstreams);
  CHECK(works::ForEvent(result.status()).message() ==
        upstreams +
            ". To let Karmada take it over, annotate its template with "
            "work.karmada.io/conflict-resolution: overwrite, or set conflictResolution: Overwrite "
            "in the policy; its content there is then replaced by the template's and lost (keep a "
            "copy of it first), and from then on it is deleted there when the template is");
  CHECK(Held().Get({"data"}) == Json(R"({"their": "data"})"));
}

TEST_CASE_METHOD(Fixture, "somebody else's object is taken over when the manifest says overwrite") {
  kube::Object theirs = ConfigMap(R"({"their": "data"})");
  theirs.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, theirs);
  kube::Object manifest = ConfigMap();
  manifest.SetAnnotation(api::kConflictResolutionAnnotation, "overwrite");
  CHECK(Apply(manifest) == ApplyResult::kUpdated);
  CHECK(Held().Label(api::kManagedLabel) == "true");
  CHECK(Held().Get({"data"}) == Json(R"({"k": "v"})"));
  // From now on the object is managed by Karmada.
  CHECK(Apply(ConfigMap(R"({"k": "2"})")) == ApplyResult::kUpdated);
}

// Returns the ConfigMap with the annotations that name its Work.
kube::Object OfWork(const char* work) {
  kube::Object object = ConfigMap();
  object.SetAnnotation(api::kWorkNamespaceAnnotation, "karmada-es-m1");
  object.SetAnnotation(api::kWorkNameAnnotation, work);
  return object;
}

TEST_CASE_METHOD(Fixture, "a label of Karmada that was removed in the member is put back") {
  kube::Object changed = OfWork("app-1");
  changed.EraseLabel(api::kManagedLabel);
  changed.SetLabel("theirs", "x");
  m1.Put(kConfigMaps, changed);
  SECTION("when the object is applied") { CHECK(Apply(OfWork("app-1")) == ApplyResult::kUpdated); }
  SECTION("when it is taken for deleted") {
    const auto made = objects.Recreate("m1", OfWork("app-1"), {});
    REQUIRE(made.ok());
    CHECK(*made == ApplyResult::kUpdated);
    CHECK(Count("create_resource_to_cluster", {{"recreate", "true"}}) == 0);
  }
  SECTION("not when the object names another Work") {
    CHECK(kube::AlreadyExists(objects.Apply("m1", OfWork("other-1"), {}).status()));
    CHECK(Held().Label(api::kManagedLabel).empty());
    return;
  }
  CHECK(Held().Label(api::kManagedLabel) == "true");
  CHECK(Held().Label("theirs") == "x");
  CHECK(*objects.Find("m1", OfWork("app-1"), {}) != nullptr);
}

TEST_CASE_METHOD(Fixture,
                 "an object without Karmada's label is there as long as it names its Work") {
  kube::Object changed = OfWork("app-1");
  changed.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, changed);
  CHECK(*objects.FindOfServedKind("m1", OfWork("app-1"), {}) != nullptr);
  CHECK(*objects.FindOfServedKind("m1", OfWork("other-1"), {}) == nullptr);
  CHECK(objects.Delete("m1", OfWork("app-1"), {}).ok());
  CHECK_FALSE(Held().empty());  // Whoever has removed the label wants to keep it.
}

TEST_CASE_METHOD(Fixture, "an update from an outdated view is refused by the server") {
  Apply(ConfigMap());
  const kube::ObjectPtr seen = *objects.Find("m1", ConfigMap(), {});
  kube::Object theirs = *seen;
  theirs.SetLabel("x", "y");
  m1.Put(kConfigMaps, theirs);
  const auto result = objects.Update("m1", ConfigMap(R"({"k": "2"})"), seen, {});
  CHECK(absl::IsAborted(result.status()));
}

TEST_CASE_METHOD(Fixture, "an object is found only if it is there and labelled as ours") {
  CHECK(*objects.Find("m1", ConfigMap(), {}) == nullptr);
  kube::Object theirs = ConfigMap();
  theirs.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, theirs);
  m1.Put(kConfigMaps, [] {
    kube::Object other = ConfigMap();
    other.Set({"metadata", "name"}, "other");
    return other;
  }());
  kube::Object other = ConfigMap();
  other.Set({"metadata", "name"}, "other");
  REQUIRE(Eventually([&] { return *objects.Find("m1", other, {}) != nullptr; }));
  CHECK(*objects.Find("m1", ConfigMap(), {}) == nullptr);
}

TEST_CASE_METHOD(Fixture, "unknown kinds and clusters are errors that say so") {
  kube::Object unknown = ConfigMap();
  unknown.Set({"kind"}, "Gadget");
  CHECK(absl::StrContains(objects.Apply("m1", unknown, {}).status().message(), "Gadget"));
  CHECK(absl::IsNotFound(objects.Apply("m9", ConfigMap(), {}).status()));
}

TEST_CASE_METHOD(Fixture, "a member whose lists fail is reported, not waited for") {
  m1.FailNext("GET", 403, "Forbidden", 100);
  REQUIRE(Eventually([&] {
    const auto informer = objects.InformerFor("m1", kConfigMaps.gvk, {});
    return informer.ok() && !(*informer)->last_error().ok();
  }));
  const absl::Status failed = objects.Apply("m1", ConfigMap(), {}).status();
  CHECK(absl::IsPermissionDenied(failed));
  CHECK(absl::StrContains(failed.message(), "in cluster m1"));
}

TEST_CASE_METHOD(Fixture, "a list that fails ends the wait for it") {
  m1.FailNext("GET", 403, "Forbidden", 100);
  std::future<absl::Status> applied =
      std::async(std::launch::async, [&] { return objects.Apply("m1", ConfigMap(), {}).status(); });
  REQUIRE(Eventually([&] {
    const auto informer = objects.InformerFor("m1", kConfigMaps.gvk, {});
    return informer.ok() && !(*informer)->last_error().ok();
  }));
  const base::SteadyTime begun = clock.SteadyNow();
  CHECK(Eventually([&] {
    if (clock.SteadyNow() < begun + absl::Seconds(5)) clock.Advance(absl::Milliseconds(200));
    return applied.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  clock.Advance(absl::Seconds(10));
  CHECK(absl::IsPermissionDenied(applied.get()));
}

TEST_CASE_METHOD(Fixture, "our own write needs no repair, somebody else's change does") {
  Apply(ConfigMap());
  CHECK_FALSE(objects.NeedsUpdate("m1", ConfigMap(), **objects.Find("m1", ConfigMap(), {})));
  kube::Object changed = Held();
  changed.Set({"data", "k"}, "drifted");
  const kube::Object now = ChangeThere(kConfigMaps, changed);
  CHECK(objects.NeedsUpdate("m1", ConfigMap(), now));
  Apply(ConfigMap());
  CHECK_FALSE(objects.NeedsUpdate("m1", ConfigMap(), Held()));
  CHECK(Held().Get({"data", "k"}).AsString() == "v");
}

TEST_CASE_METHOD(Fixture,
                 "with a generation, only a moved generation or other labels need repair") {
  kube::Object manifest = Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "app", "namespace": "ns", "generation": 3,
                 "labels": {"karmada.io/managed": "true"}},
    "spec": {"replicas": 1}})");
  CHECK(objects.NeedsUpdate("m1", manifest, manifest));  // No write of ours is known.
  Apply(manifest);
  kube::Object now = Held(kDeployments);
  now.Set({"status"}, Json(R"({"replicas": 1})"));
  now.Set({"metadata", "resourceVersion"}, "999");
  CHECK_FALSE(objects.NeedsUpdate("m1", manifest, now));
  now.SetLabel("their-label", "x");
  CHECK(objects.NeedsUpdate("m1", manifest, now));
  now = Held(kDeployments);
  now.Set({"metadata", "generation"}, 4);
  CHECK(objects.NeedsUpdate("m1", manifest, now));
}

TEST_CASE_METHOD(Fixture, "what is known of a cluster's objects is forgotten with it") {
  Apply(ConfigMap());
  objects.Forget("other");
  CHECK_FALSE(objects.NeedsUpdate("m1", ConfigMap(), Held()));
  objects.Forget("m1");
  CHECK(objects.NeedsUpdate("m1", ConfigMap(), Held()));
}

TEST_CASE_METHOD(Fixture, "deleting removes what is ours, in the background") {
  Apply(ConfigMap());
  REQUIRE(objects.Delete("m1", ConfigMap(), {}).ok());
  CHECK(Held().empty());
  CHECK(absl::StrContains(m1.last_body(), R"("propagationPolicy":"Background")"));
  CHECK(Count("delete_resource_from_cluster", {}) == 1);
  CHECK(objects.Delete("m1", ConfigMap(), {}).ok());
  CHECK(m1.Requests("DELETE").size() == 1);
}

TEST_CASE_METHOD(Fixture, "an object that the cache does not show yet is deleted, too") {
  kube::Object object = ConfigMap();
  const bool is_ours = GENERATE(true, false);
  if (!is_ours) object.EraseLabel(api::kManagedLabel);
  PutUnseen(object);
  const size_t calls = m1.Calls();
  REQUIRE(objects.Delete("m1", ConfigMap(), {}).ok());
  CHECK(Held().empty() == is_ours);
  CHECK(m1.Calls() - calls == (is_ours ? 2 : 1));  // A GET, and the DELETE.
  m1.Unblock();
}

TEST_CASE_METHOD(Fixture, "an object that cannot be asked for is not taken for deleted") {
  REQUIRE(*objects.Find("m1", ConfigMap(), {}) == nullptr);
  m1.FailNext("GET", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(objects.Delete("m1", ConfigMap(), {})));
  CHECK(objects.Delete("m1", ConfigMap(), {}).ok());
}

TEST_CASE_METHOD(Fixture, "deleting leaves alone what is not ours") {
  kube::Object theirs = ConfigMap();
  theirs.SetLabel(api::kManagedLabel, "false");
  m1.Put(kConfigMaps, theirs);
  CHECK(objects.Delete("m1", ConfigMap(), {}).ok());
  CHECK_FALSE(Held().empty());
  CHECK(m1.Requests("DELETE").empty());
}

TEST_CASE_METHOD(
    Fixture, "an object deleted in the member is made again, one that is there is not touched") {
  CHECK(objects.Recreate("m1", ConfigMap(), {}).ok());
  CHECK_FALSE(Held().empty());
  CHECK(Count("create_resource_to_cluster", {{"recreate", "true"}}) == 1);
  CHECK(objects.Recreate("m1", ConfigMap(R"({"k": "other"})"), {}).ok());
  CHECK(Held().Get({"data", "k"}).AsString() == "v");
  CHECK(Count("create_resource_to_cluster", {{"recreate", "true"}}) == 1);
}

TEST_CASE_METHOD(Fixture, "a change that the member refuses is sent again after growing pauses") {
  REQUIRE(Apply(ConfigMap()) == ApplyResult::kCreated);
  const auto sent = [&] {
    const std::vector<std::string> requests = m1.Requests();
    return std::count_if(requests.begin(), requests.end(), [](const std::string& request) {
      return absl::StartsWith(request, "PATCH");
    });
  };
  m1.FailNext("PATCH", 422, "Invalid", 3);
  const kube::Object changed = ConfigMap(R"({"k": "w"})");
  const auto refused = [&] { return objects.Apply("m1", changed, {}).status(); };
  const absl::Status first = refused();
  CHECK(absl::IsInvalidArgument(first));
  CHECK(refused() == first);
  CHECK(sent() == 1);
  clock.Advance(works::Refusals::kFirstPause);
  CHECK(absl::IsInvalidArgument(refused()));
  clock.Advance(works::Refusals::kFirstPause);
  CHECK(absl::IsInvalidArgument(refused()));
  CHECK(sent() == 2);
  clock.Advance(works::Refusals::kFirstPause);
  CHECK(absl::IsInvalidArgument(refused()));
  CHECK(sent() == 3);
  // Another change is worth a try at once, and a success ends it.
  CHECK(Apply(ConfigMap(R"({"k": "x"})")) == ApplyResult::kUpdated);
  CHECK(Apply(changed) == ApplyResult::kUpdated);
}

TEST_CASE_METHOD(Fixture, "a change that is denied for another reason is sent again at once") {
  REQUIRE(Apply(ConfigMap()) == ApplyResult::kCreated);
  const kube::Object changed = ConfigMap(R"({"k": "w"})");
  m1.FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(objects.Apply("m1", changed, {}).ok());
  CHECK(Apply(changed) == ApplyResult::kUpdated);
}

}  // namespace
