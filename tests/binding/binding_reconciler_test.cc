#include "binding/binding_reconciler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"
#include "works/standing_binding.h"

namespace {

using Scope = api::scope::Namespaced;

const kube::ObjectKey kKey = {"ns", "web-deployment"};
const std::string kWorkName = api::WorkName("Deployment", "web", "ns");
const kube::ObjectKey kWork = {"karmada-es-m1", kWorkName};

// A binding that is being deleted, and a Work that is not in the cache.
struct Fixture : tests::MembersFixture {
  std::optional<binding::BindingReconciler<Scope>> reconciler;
  json::Value spec = tests::Json(R"({
      "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"},
      "clusters": [{"name": "m1"}]})");
  json::Value status = json::Value::Object();

  Fixture() {
    kube::InformerSet& caches = informers;
    caches.Get(api::Works())->AddIndex(Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel));
    for (const kube::Resource& kind : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      caches.Get(kind)->AddIndex(works::kBindingsByObject, works::ObjectNamedBy);
    }
    Sync({api::Works(), api::ResourceBindings()});
    reconciler.emplace(Make(), *chain);
  }
  void PutDeletedBinding(const std::string& id) {
    kube::Object object = kube::Object::Make(api::ResourceBindings().gvk, kKey);
    object.SetLabel(Scope::kIdLabel, id);
    object.AddFinalizer(Scope::kFinalizer);
    // Keeps the object, so that the test can look at it.
    object.AddFinalizer("example.com/observer");
    object.Set({"spec"}, spec);
    object.Set({"status"}, status);
    object.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::ResourceBindings(), object);
  }
  kube::Object WorkOf(const kube::ObjectKey& key, const std::string& id,
                      const std::string& binding = kKey.name) {
    kube::Object work = kube::Object::Make(api::Works().gvk, key);
    work.SetLabel(Scope::kIdLabel, id);
    for (const auto& [name, value] : Scope::NamingAnnotations({kKey.ns, binding})) {
      work.SetAnnotation(name, value);
    }
    return work;
  }
  // Stops the watches, so that the cache does not see the Work.
  void PutUnseenWork(const kube::ObjectKey& key, const std::string& id,
                     const std::string& binding = kKey.name) {
    server->Block("WATCH");
    server->EndWatches(absl::OkStatus());
    server->Put(api::Works(), WorkOf(key, id, binding));
    REQUIRE(cluster.Find(api::Works(), key) == nullptr);
  }
  // Returns how many requests so far have listed Works.
  int64_t Lists() const {
    const auto requests = server->Requests("GET");
    return std::count_if(requests.begin(), requests.end(), [](const std::string& request) {
      return absl::StrContains(request, "/works") && !absl::StrContains(request, "/works/");
    });
  }
  void Reconcile() {
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    server->Unblock();
  }
  bool IsFinalized() const {
    return !server->Find(api::ResourceBindings(), kKey).HasFinalizer(Scope::kFinalizer);
  }
};

TEST_CASE_METHOD(Fixture, "a Work that the cache does not show yet goes with its binding") {
  PutDeletedBinding("mine");
  PutUnseenWork(kWork, "mine");
  PutUnseenWork({"karmada-es-m1", "other"}, "theirs");
  const int64_t lists = Lists();
  Reconcile();
  CHECK(server->Find(api::Works(), kWork).empty());
  CHECK_FALSE(server->Find(api::Works(), {"karmada-es-m1", "other"}).empty());
  CHECK(IsFinalized());
  CHECK(Lists() == lists);
}

TEST_CASE_METHOD(Fixture, "unseen Works go in all clusters that the deleted binding names") {
  spec.Set("gracefulEvictionTasks", tests::Json(R"([{"fromCluster": "m2"},
      {"fromCluster": "m3", "purgeMode": "Directly"}])"));
  spec.Set("requiredBy", tests::Json(R"([{"namespace": "ns", "name": "a",
                                          "clusters": [{"name": "m4"}]}])"));
  status.Set("aggregatedStatus", tests::Json(R"([{"clusterName": "m5"}])"));
  PutDeletedBinding("mine");
  for (const char* cluster : {"m1", "m2", "m3", "m4", "m5"}) {
    PutUnseenWork({api::ExecutionNamespace(cluster), kWorkName}, "mine");
  }
  // A Work of that name may belong to another binding.
  PutUnseenWork({"karmada-es-m6", kWorkName}, "theirs");
  Reconcile();
  CHECK(server->All(api::Works()).size() == 1);
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "Works that the cache shows go with their binding without being read") {
  PutCached(api::Works(), WorkOf(kWork, "mine"));
  PutCached(api::Works(), WorkOf({"karmada-es-m2", kWorkName}, "mine"));
  PutDeletedBinding("mine");
  const size_t reads = server->Requests("GET").size();
  Reconcile();
  CHECK(server->All(api::Works()).empty());
  CHECK(IsFinalized());
  CHECK(server->Requests("GET").size() == reads);
}

TEST_CASE_METHOD(Fixture, "a Work that comes after its binding's last pass goes with it") {
  PutDeletedBinding("mine");
  Reconcile();
  REQUIRE(IsFinalized());
  REQUIRE(tests::Eventually([&] {
    return !cluster.Find(api::ResourceBindings(), kKey)->HasFinalizer(Scope::kFinalizer);
  }));
  PutCached(api::Works(), WorkOf(kWork, "mine"));
  Reconcile();
  CHECK(server->All(api::Works()).empty());
}

TEST_CASE_METHOD(Fixture,
                 "while the cache of Works is cut off, the server is asked for all of them") {
  PutDeletedBinding("mine");
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("the connection broke"));
  const auto informer = informers.Get(api::Works());
  REQUIRE(tests::Eventually([&] { return !informer->last_error().ok(); }));
  const kube::ObjectKey elsewhere = {"karmada-es-m9", kWorkName};
  PutUnseenWork(elsewhere, "mine");
  Reconcile();
  CHECK(server->Find(api::Works(), elsewhere).empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a binding that has lost its id finds its Works by its name") {
  PutDeletedBinding("");
  PutUnseenWork(kWork, "mine");
  PutUnseenWork({"karmada-es-m1", "other"}, "", "other-deployment");
  Reconcile();
  CHECK(server->Find(api::Works(), kWork).empty());
  CHECK_FALSE(server->Find(api::Works(), {"karmada-es-m1", "other"}).empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a binding stays as long as its Works cannot be read") {
  PutDeletedBinding("mine");
  server->FailNext("GET", 403, "Forbidden");
  CHECK_FALSE(reconciler->Reconcile({.key = kKey}, {}).ok());
  CHECK_FALSE(IsFinalized());
}

// A template that is propagated to three clusters, or to as many as a test says.
struct SpreadFixture : tests::MembersFixture {
  std::optional<binding::BindingReconciler<Scope>> reconciler;

  SpreadFixture() {
    informers.Get(api::Works())->AddIndex(Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel));
    for (const kube::Resource& kind : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      informers.Get(kind)->AddIndex(works::kBindingsByObject, works::ObjectNamedBy);
    }
    Sync({api::Works(), api::ResourceBindings(), api::Clusters()});
    reconciler.emplace(Make(), *chain);
    PutTemplate("first");
    PutBinding(3);
  }
  void PutBinding(int clusters) {
    kube::Object object = tests::Parse(R"({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": "app-configmap", "namespace": "ns",
                     "labels": {"resourcebinding.karmada.io/permanent-id": "mine"}},
        "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
                              "name": "app"}}})");
    json::Value targets = json::Value::Array();
    for (int i = 1; i <= clusters; ++i) {
      const std::string cluster = absl::StrCat("m", i);
      targets.Append(json::Value::Object({{"name", cluster}}));
      PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", cluster}));
    }
    object.Set({"spec", "clusters"}, std::move(targets));
    PutCached(api::ResourceBindings(), object);
  }
  void PutTemplate(const std::string& value) {
    kube::Object object = kube::Object::Make(tests::kConfigMaps.gvk, {"ns", "app"});
    object.Set({"data", "k"}, value);
    server->Put(tests::kConfigMaps, object);
  }
  absl::Status Reconcile() {
    return reconciler->Reconcile({.key = {"ns", "app-configmap"}}, {}).status();
  }
  // Returns how many clusters have a Work with this value that is not being deleted.
  int WorksWith(const std::string& value) const {
    int count = 0;
    for (const kube::Object& work : server->All(api::Works())) {
      if (work.IsDeleting()) continue;
      const json::Value& manifest = work.Get({"spec", "workload", "manifests"}).At(0);
      count += manifest["data"]["k"].AsString() == value;
    }
    return count;
  }
};

TEST_CASE_METHOD(SpreadFixture,
                 "a conflict in one cluster keeps no Work from the clusters behind") {
  SECTION("when it is made") {
    server->FailNext("POST", 409, "Conflict");
    const absl::Status failed = Reconcile();
    CHECK(kube::IsConflict(failed));
    CHECK(WorksWith("first") == 2);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 3);
  }
  SECTION("when it is changed") {
    REQUIRE(Reconcile().ok());
    PutTemplate("second");
    server->FailNext("PATCH", 409, "Conflict", 2);  // The first one is tried again at once.
    CHECK(kube::IsConflict(Reconcile()));
    CHECK(WorksWith("second") == 2);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("second") == 3);
  }
}

TEST_CASE_METHOD(SpreadFixture, "Works stay while the scheduler decides, but not long") {
  REQUIRE(Reconcile().ok());
  REQUIRE(WorksWith("first") == 3);
  kube::Object binding = server->Find(api::ResourceBindings(), {"ns", "app-configmap"});
  binding.Set({"spec", "clusters"}, json::Value());
  binding.Set({"metadata", "generation"}, 5);
  SECTION("it has not looked at the binding since the last task ended") {
    binding.Set({"status", "schedulerObservedGeneration"}, 4);
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 3);
    SECTION("and chooses a cluster") {
      binding.Set({"metadata", "generation"}, 6);
      binding.Set({"spec", "clusters"}, tests::Json(R"([{"name": "m2"}])"));
      PutCached(api::ResourceBindings(), binding);
      REQUIRE(Reconcile().ok());
      CHECK(WorksWith("first") == 1);
    }
    SECTION("and finds no cluster") {
      clock.Advance(works::PlacementWait::kPatience);
      REQUIRE(Reconcile().ok());
      CHECK(WorksWith("first") == 0);
    }
  }
  SECTION("no task has ended: the scheduler itself has found no cluster any more") {
    clock.Advance(works::PlacementWait::kFirstLook);
    binding.Set({"status", "schedulerObservedGeneration"}, 4);
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 0);
  }
  SECTION("a task was seen") {
    clock.Advance(works::PlacementWait::kFirstLook);
    binding.Set({"status", "schedulerObservedGeneration"}, 4);
    binding.Set(
        {"spec", "gracefulEvictionTasks"},
        tests::Json(R"([{"fromCluster": "m1"}, {"fromCluster": "m2"}, {"fromCluster": "m3"}])"));
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    clock.Advance(10 * works::PlacementWait::kPatience);
    binding.Set({"spec", "gracefulEvictionTasks"}, json::Value());
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 3);
  }
  SECTION("it has decided") {
    binding.Set({"status", "schedulerObservedGeneration"}, 5);
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 0);
  }
  SECTION("no scheduler looks at the binding") {
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 0);
  }
  SECTION("what must be gone before it runs elsewhere does not wait") {
    binding.Set({"status", "schedulerObservedGeneration"}, 4);
    binding.Set({"spec", "gracefulEvictionTasks"},
                tests::Json(R"([{"fromCluster": "m1", "purgeMode": "Directly"}])"));
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(WorksWith("first") == 2);
  }
}

TEST_CASE_METHOD(SpreadFixture, "written Works are a routine success on binding and template") {
  recorded->WantRoutine();
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());  // It writes nothing.
  const std::string message = "Sync work of ResourceBinding(ns/app-configmap) successful.";
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal SyncWorkSucceed ResourceBinding: " + message,
                                 "Normal SyncWorkSucceed ConfigMap: " + message});
}

TEST_CASE_METHOD(SpreadFixture, "Works for many clusters are written several at a time") {
  PutBinding(100);
  constexpr int kAtOnce = kube::FanOut::kMaxThreads + 1;
  SECTION("as many at once as there are threads") {
    server->Block("POST");
    absl::Status result = absl::UnknownError("not finished");
    std::thread pass([&] { result = Reconcile(); });
    CHECK(server->AwaitRequests("POST", kAtOnce));
    CHECK(server->Requests("POST").size() == kAtOnce);
    server->Unblock();
    pass.join();
    CHECK(result.ok());
    CHECK(WorksWith("first") == 100);
    CHECK(Reconcile().ok());
    CHECK(server->Requests("POST").size() == 100);
    CHECK(server->Requests("PATCH").empty());
    PutBinding(2);
    CHECK(Reconcile().ok());
    CHECK(WorksWith("first") == 2);
  }
  SECTION("and errors in some clusters keep no Work from the others") {
    server->FailNext("POST", 403, "Forbidden", 3);
    const absl::Status failed = Reconcile();
    CHECK(absl::IsPermissionDenied(failed));
    CHECK(WorksWith("first") == 97);
    CHECK(Reconcile().ok());
    CHECK(WorksWith("first") == 100);
  }
}

}  // namespace
