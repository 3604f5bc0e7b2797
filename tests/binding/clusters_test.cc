// Clusters that a binding names and that take no Works: what is reported, and when Works follow.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "binding/binding_reconciler.h"
#include "binding/register.h"
#include "tests/support/loops_fixture.h"

namespace {

using Scope = api::scope::Namespaced;

// A ConfigMap that is bound to the cluster m1.
struct Fixture : tests::LoopsFixture {
  Fixture() {
    Make();
    REQUIRE(binding::RegisterBinding<Scope>(Context(), 1).ok());
    Sync({api::Works(), api::ResourceBindings(), api::Clusters(), api::Namespaces()});
    server->Put(tests::kConfigMaps, kube::Object::Make(tests::kConfigMaps.gvk, {"ns", "app"}));
    kube::Object binding = tests::Parse(R"({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"namespace": "ns", "name": "app-configmap", "generation": 1},
        "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
                              "name": "app"},
                 "clusters": [{"name": "m1"}]}})");
    binding.SetLabel(Scope::kIdLabel, "id");
    PutCached(api::ResourceBindings(), binding);
    server->FailNext("POST", 403, "Forbidden", 1000);
  }
  void PutCluster(bool leaving) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    if (leaving) cluster.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Clusters(), cluster);
  }
  void PutNamespace(bool leaving) {
    kube::Object ns = kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"});
    if (leaving) ns.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Namespaces(), ns);
  }
  bool Reports(const std::string& text) {
    return tests::Eventually([&] {
      const std::vector<std::string> events = recorded->All();
      return events.size() >= 2 &&
             absl::StartsWith(events[0],
                              "Warning SyncWorkFailed ResourceBinding: cluster m1: " + text);
    });
  }
};

TEST_CASE_METHOD(Fixture, "a cluster that is named and does not exist is reported as such") {
  Start();
  CHECK(Reports("there is no such cluster; join it, or take it out of the placement: "));
}

TEST_CASE_METHOD(Fixture, "a cluster that is being removed is reported as such") {
  PutCluster(/*leaving=*/true);
  PutNamespace(/*leaving=*/true);
  Start();
  CHECK(Reports("the cluster is being removed; "));
}

TEST_CASE_METHOD(Fixture, "an execution namespace that is deleted half-way is reported as such") {
  PutCluster(/*leaving=*/false);
  PutNamespace(/*leaving=*/true);
  Start();
  CHECK(Reports("the cluster's execution namespace karmada-es-m1 is being deleted; "));
}

TEST_CASE_METHOD(Fixture, "a failure that is not the cluster's is reported as it is") {
  PutCluster(/*leaving=*/false);
  PutNamespace(/*leaving=*/false);
  Start();
  CHECK(Reports("create Work karmada-es-m1/"));
}

TEST_CASE_METHOD(Fixture, "a webhook's denial is not taken for an earlier Work in the way") {
  server->EndFailures();
  server->FailNext("POST", 409, "Denied", 1000);
  PutCluster(/*leaving=*/false);
  PutNamespace(/*leaving=*/false);
  Start();
  CHECK(Reports("create Work karmada-es-m1/"));
}

// The clock stands still, so that no back-off ends.
TEST_CASE_METHOD(Fixture,
                 "Works follow at once when the execution namespace of a cluster is made") {
  PutCluster(/*leaving=*/false);
  Start();
  REQUIRE(Reports("the cluster's execution namespace karmada-es-m1 is not there; "));
  CHECK(server->All(api::Works()).empty());
  server->EndFailures();
  PutNamespace(/*leaving=*/false);
  CHECK(tests::Eventually([&] { return server->All(api::Works()).size() == 1; }));
}

// The creation of the Work was not answered, and the scheduler took the cluster from the binding
// before the cache showed the Work.
TEST_CASE_METHOD(Fixture, "a Work that appears after its cluster has left the binding goes") {
  server->EndFailures();
  PutCluster(/*leaving=*/false);
  PutNamespace(/*leaving=*/false);
  Start();
  const auto has = [this](const kube::ObjectKey& key) {
    return !server->Find(api::Works(), key).empty();
  };
  const std::string name = api::WorkName("ConfigMap", "app", "ns");
  REQUIRE(tests::Eventually([&] { return has({"karmada-es-m1", name}); }));
  kube::Object work = server->Find(api::Works(), {"karmada-es-m1", name});
  const kube::ObjectKey late = {"karmada-es-m2", name};
  work.Set({"metadata", "namespace"}, late.ns);
  work.Set({"metadata", "finalizers"}, json::Value::Array());
  server->Put(api::Works(), work);
  CHECK(tests::Eventually([&] { return !has(late); }));
  CHECK(has({"karmada-es-m1", name}));
}

}  // namespace
