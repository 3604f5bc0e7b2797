#include "controllers/work_status/member_watches.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "controllers/work_status/register.h"
#include "controllers/work_status/work_status_reconciler.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using tests::Eventually;
using tests::kConfigMaps;
using tests::Parse;

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  kube::WorkQueue queue{{.name = "objects"}, clock};
  kube::WorkQueue executions{{.name = "executions"}, clock};
  works::Rechecks rechecks;
  std::optional<controllers::MemberWatches> watches;

  Fixture() {
    rechecks.Subscribe(api::Works(), executions);
    watches.emplace(controllers::MemberWatchesDeps{Make(), objects, rechecks}, queue);
    Sync({api::Works(), api::Clusters()});
    PutCluster("Push", "True");
    kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "w"});
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({ConfigMap("a").root()}));
    PutCached(api::Works(), work);
  }
  // The members' handlers use the queue, so they go first.
  ~Fixture() override { members.Remove("m1"); }

  void PutCluster(const char* mode, const char* ready) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"spec", "syncMode"}, mode);
    c.Set({"status", "conditions"},
          json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
    PutCached(api::Clusters(), c);
  }
  static kube::Object ConfigMap(const std::string& name) {
    kube::Object object = kube::Object::Make(kConfigMaps.gvk, {"ns", name});
    object.SetLabel(api::kManagedLabel, api::kManagedValue);
    return object;
  }
  absl::Status Reconcile() {
    return watches->Reconcile({.key = {"karmada-es-m1", "w"}}, {}).status();
  }
  // Returns the next object in the queue, as text.
  std::string Next() {
    if (!Eventually([&] { return queue.size() > 0; })) return "nothing";
    const auto taken = queue.Get();
    queue.Done(taken->request);
    return taken->request.ToString();
  }
};

TEST_CASE_METHOD(Fixture,
                 "changes of a Work's kind in its cluster are queued with cluster and kind") {
  REQUIRE(Reconcile().ok());
  m1.Put(kConfigMaps, ConfigMap("a"));
  CHECK(Next() == "m1/ConfigMap ns/a");
  kube::Object changed = ConfigMap("a");
  changed.Set({"data", "k"}, "v");
  m1.Put(kConfigMaps, changed);
  CHECK(Next() == "m1/ConfigMap ns/a");
  m1.Erase(kConfigMaps, {"ns", "a"});
  CHECK(Next() == "m1/ConfigMap ns/a");
}

TEST_CASE_METHOD(Fixture, "what cannot be drift is queued a moment later, with what follows it") {
  REQUIRE(Reconcile().ok());
  kube::Object object = ConfigMap("a");
  object.Set({"metadata", "generation"}, 1);
  m1.Put(kConfigMaps, object);
  CHECK(Next() == "m1/ConfigMap ns/a");
  for (const int step : {1, 2}) {
    object.Set({"status", "step"}, step);
    m1.Put(kConfigMaps, object);
  }
  REQUIRE(Eventually([&] { return queue.size() > 0; }));
  CHECK(queue.Idle());
  object.Set({"metadata", "generation"}, 2);
  m1.Put(kConfigMaps, object);
  REQUIRE(Eventually([&] { return !queue.Idle(); }));
  CHECK(Next() == "m1/ConfigMap ns/a");
  CHECK(queue.size() == 0);
}

TEST_CASE_METHOD(Fixture, "a manifest whose kind nobody serves keeps no other from being watched") {
  kube::Object work = server->Find(api::Works(), {"karmada-es-m1", "w"});
  work.Set({"spec", "workload", "manifests"},
           json::Value::Array(
               {Parse(R"({"apiVersion": "v1", "kind": "Gadget"})").root(), ConfigMap("a").root()}));
  PutCached(api::Works(), work);
  server->Serve({kConfigMaps});
  CHECK(absl::StrContains(Reconcile().message(), "Gadget"));
  m1.Put(kConfigMaps, ConfigMap("a"));
  CHECK(Next() == "m1/ConfigMap ns/a");
}

TEST_CASE_METHOD(Fixture, "an object that was deleted before its kind was watched is made again") {
  // The execution loop is there first.
  m1.Put(kConfigMaps, ConfigMap("a"));
  const auto seen = objects.Find("m1", ConfigMap("a"), {});
  REQUIRE(seen.ok());
  REQUIRE(*seen != nullptr);
  SECTION("deleted") {
    REQUIRE(m1.AwaitWatches(1));
    m1.Erase(kConfigMaps, {"ns", "a"});
    REQUIRE(Eventually([&] { return *objects.Find("m1", ConfigMap("a"), {}) == nullptr; }));
    REQUIRE(Reconcile().ok());
    CHECK(executions.size() == 1);
  }
  SECTION("still there") {
    REQUIRE(Reconcile().ok());
    CHECK(executions.size() == 0);
    CHECK(Next() == "m1/ConfigMap ns/a");
  }
}

TEST_CASE_METHOD(Fixture, "objects that are not Karmada's are not looked at") {
  REQUIRE(Reconcile().ok());
  kube::Object theirs = ConfigMap("theirs");
  theirs.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, theirs);
  m1.Put(kConfigMaps, ConfigMap("ours"));
  CHECK(Next() == "m1/ConfigMap ns/ours");
  CHECK(queue.size() == 0);
}

TEST_CASE_METHOD(Fixture, "a kind is watched once however many Works have it") {
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  m1.Put(kConfigMaps, ConfigMap("a"));
  CHECK(Next() == "m1/ConfigMap ns/a");
  CHECK(m1.AwaitWatches(1));
  CHECK(m1.Requests("WATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "after the cluster was connected again its changes are queued again") {
  REQUIRE(Reconcile().ok());
  m1.Put(kConfigMaps, ConfigMap("a"));
  CHECK(Next() == "m1/ConfigMap ns/a");
  members.Remove("m1");
  REQUIRE(Reconcile().ok());
  CHECK(Next() == "m1/ConfigMap ns/a");  // The new informer's first list contains it.
  m1.Put(kConfigMaps, ConfigMap("b"));
  CHECK(Next() == "m1/ConfigMap ns/b");
}

TEST_CASE_METHOD(Fixture, "nothing is watched in clusters that are not ready or have an agent") {
  SECTION("not ready") { PutCluster("Push", "Unknown"); }
  SECTION("pull") { PutCluster("Pull", "True"); }
  REQUIRE(Reconcile().ok());
  CHECK(m1.Requests().empty());
}

TEST_CASE_METHOD(Fixture, "nothing is watched for a Work on its way out") {
  kube::Object work = server->Find(api::Works(), {"karmada-es-m1", "w"});
  work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  CHECK(m1.Requests().empty());
}

TEST_CASE_METHOD(Fixture, "nothing is watched for a Work that has put nothing into its cluster") {
  kube::Object work = server->Find(api::Works(), {"karmada-es-m1", "w"});
  work.Set({"spec", "suspendDispatching"}, true);
  PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  CHECK(m1.Requests().empty());
  // What was applied before the suspension still has a status.
  work.Set({"status", "conditions"}, tests::Json(R"([{"type": "Applied", "status": "True"}])"));
  PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  CHECK(m1.AwaitWatches(1));
}

TEST_CASE_METHOD(tests::LoopsFixture,
                 "a cluster that comes back ready has its objects watched as before") {
  tests::FakeApiServer& m1 = member("m1");
  Sync({api::Works(), api::Clusters(), api::Secrets()});
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "w"});
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({Fixture::ConfigMap("a").root()}));
  PutCached(api::Works(), work);
  const kube::Object ready = Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1",
      "kind": "Cluster", "metadata": {"name": "m1"}, "spec": {"syncMode": "Push"},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
  PutCached(api::Clusters(), ready);
  Make();
  REQUIRE(controllers::RegisterWorkStatus(Context(), {2, 2}).ok());
  Start();
  REQUIRE(m1.AwaitWatches(1));

  server->Erase(api::Clusters(), {"", "m1"});
  REQUIRE(Eventually([&] { return cluster.Find(api::Clusters(), {"", "m1"}) == nullptr; }));
  members.Remove("m1");
  const size_t before = m1.Requests("WATCH").size();
  PutCached(api::Clusters(), ready);
  CHECK(Eventually([&] { return m1.Requests("WATCH").size() > before; }));
}

// A member does not serve MultiClusterServices, which the Works of its providers carry. It would be
// asked for them for ever.
TEST_CASE_METHOD(tests::LoopsFixture, "a member is not asked for what a Work only carries") {
  tests::FakeApiServer& m1 = member("m1");
  Sync({api::Works(), api::Clusters(), api::Secrets()});
  tests::ScriptedInterpreter scripted;
  const auto put_work = [&](const char* name, const kube::Object& manifest, bool suspended) {
    kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", name});
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    work.Set({"spec", "suspendDispatching"}, suspended);
    PutCached(api::Works(), work);
  };
  kube::Object there = Fixture::ConfigMap("a");
  there.SetAnnotation(api::kWorkNamespaceAnnotation, "karmada-es-m1");
  there.SetAnnotation(api::kWorkNameAnnotation, "applied");
  put_work("applied", there, false);
  put_work("carries", kube::Object::Make(tests::kDeployments.gvk, {"ns", "carried"}), true);
  kube::Object m1_object = Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1",
      "kind": "Cluster", "metadata": {"name": "m1"}, "spec": {"syncMode": "Push"},
      "status": {"conditions": [{"type": "Ready", "status": "False"}]}})");
  PutCached(api::Clusters(), m1_object);
  Make();
  REQUIRE(controllers::RegisterWorkStatus(ContextWith(scripted), {1, 1}).ok());
  Start();
  SECTION("when it becomes ready") {}
  SECTION("when a rule for the kind changes") {
    scripted.changes.Publish([](const kube::Gvk&, interpreter::Operation) { return true; });
  }
  m1_object.Set({"status", "conditions"}, tests::Json(R"([{"type": "Ready", "status": "True"}])"));
  PutCached(api::Clusters(), m1_object);
  // The one worker has seen what was queued before this object.
  REQUIRE(m1.AwaitWatches(1));
  m1.Put(kConfigMaps, there);
  CHECK(Eventually([&] {
    clock.Advance(works::kProgressHold);
    return !server->Find(api::Works(), {"karmada-es-m1", "applied"}).status().is_null();
  }));
  for (const std::string& request : m1.Requests()) {
    CHECK_FALSE(absl::StrContains(request, "deployments"));
  }
}

}  // namespace
