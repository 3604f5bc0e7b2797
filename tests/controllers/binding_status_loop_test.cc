// What has the status of a binding and of its template looked at: what was there at the start, and
// which changes.
#include <catch2/catch.hpp>
#include <string>

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "controllers/binding_status/register.h"
#include "tests/support/eventually.h"
#include "tests/support/loops_fixture.h"
#include "works/work_status_writer.h"

namespace {

using tests::Json;
using tests::kDeployments;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kBinding = {"ns", "web-deployment"};

// The loop with its watches, and one Work, of whatever binding.
struct LoopFixture : tests::LoopsFixture {
  using Scope = api::scope::Namespaced;
  const kube::Object web = kube::Object::Make(kDeployments.gvk, kWeb);

  LoopFixture() {
    Make();
    REQUIRE(controllers::RegisterBindingStatus<Scope>(Context(), 1).ok());
    Sync({api::ResourceBindings(), api::Works()});
    server->Put(kDeployments, web);
  }
  // Puts the Work, in which one replica is ready. An empty id: it is no binding's.
  void PutWork(const kube::ObjectKey& binding, const std::string& id) {
    kube::Object work =
        kube::Object::Make(api::Works().gvk, {api::ExecutionNamespace("m1"), "web-1"});
    if (!id.empty()) {
      work.SetLabel(Scope::kIdLabel, id);
      for (const auto& [name, value] : Scope::NamingAnnotations(binding)) {
        work.SetAnnotation(name, value);
      }
    }
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({web.root()}));
    work.Set({"status", "conditions"}, Json(R"([{"type": "Applied", "status": "True"}])"));
    api::ManifestStatus status;
    status.identifier = api::ManifestIdentifier::Of(web, 0);
    status.status = Json(R"({"replicas": 1, "readyReplicas": 1})");
    status.health = api::kHealthy;
    work.Set({"status", "manifestStatuses"}, json::Value::Array({status.ToJson()}));
    PutCached(api::Works(), work);
  }
  // Puts an attached binding, which expects a Work in m1.
  void PutBinding(const kube::ObjectKey& key, const std::string& id) {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, key);
    binding.SetLabel(Scope::kIdLabel, id);
    binding.Set(
        {"spec"},
        json::Value::Object({{"resource", api::ObjectReference::Of(web).ToJson()},
                             {"requiredBy", Json(R"([{"namespace": "ns", "name": "front-deployment",
                                                        "clusters": [{"name": "m1"}]}])")}}));
    PutCached(api::ResourceBindings(), binding);
  }
  json::Value StatusOf(const kube::ObjectKey& binding) const {
    return server->Find(api::ResourceBindings(), binding).status();
  }
  bool ShowsWork(const kube::ObjectKey& binding) const {
    return tests::Eventually(
        [&] { return StatusOf(binding)["aggregatedStatus"].items().size() == 1; });
  }
};

// The daemon ended after the Work had got its status and before the binding had.
TEST_CASE_METHOD(LoopFixture,
                 "an attached binding gets its status after a start, though nothing schedules it") {
  PutWork(kBinding, "id");
  PutBinding(kBinding, "id");
  Start();
  CHECK(ShowsWork(kBinding));
}

// The daemon ended after the binding had lost the last one that requires it, and before the Works
// were gone.
TEST_CASE_METHOD(LoopFixture,
                 "a binding that lost its clusters while nobody watched shows none after a start") {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBinding);
  binding.SetLabel(Scope::kIdLabel, "id");
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(web).ToJson());
  binding.Set({"status", "aggregatedStatus"}, Json(R"([{"clusterName": "m1", "applied": true}])"));
  PutCached(api::ResourceBindings(), binding);
  Start();
  CHECK(tests::Eventually([&] { return StatusOf(kBinding)["aggregatedStatus"].empty(); }));
}

// The daemon ended after the binding had lost what its clusters said, and before its template had.
TEST_CASE_METHOD(LoopFixture,
                 "the template of a binding that lost its clusters shows none after a start") {
  kube::Object shown = web;
  shown.Set({"status"}, Json(R"({"replicas": 1, "readyReplicas": 1})"));
  server->Put(kDeployments, shown);
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBinding);
  binding.SetLabel(Scope::kIdLabel, "id");
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(web).ToJson());
  binding.Set(
      {"status", "conditions"},
      Json(R"([{"type": "FullyApplied", "status": "False", "reason": "FullyAppliedFailed"}])"));
  PutCached(api::ResourceBindings(), binding);
  Start();
  CHECK(tests::Eventually(
      [&] { return server->Find(kDeployments, kWeb).status()["readyReplicas"].AsInt() == 0; }));
}

TEST_CASE_METHOD(LoopFixture, "a Work that becomes a binding's is counted, its status unchanged") {
  SECTION("it was another binding's") { PutWork({"ns", "another"}, "id-of-another"); }
  SECTION("it was no binding's, as that of a Namespace") { PutWork({}, ""); }
  SECTION("it had the label of another one") { PutWork(kBinding, "id-of-another"); }
  PutBinding(kBinding, "id");
  Start();
  // The pass of the start has counted nothing.
  REQUIRE(tests::Eventually([&] { return !StatusOf(kBinding)["conditions"].empty(); }));
  CHECK(StatusOf(kBinding)["aggregatedStatus"].empty());
  PutWork(kBinding, "id");
  clock.Advance(works::kSettledHold);
  CHECK(ShowsWork(kBinding));
}

TEST_CASE_METHOD(LoopFixture, "a copy that takes over from a binding writes no status between") {
  const kube::ObjectKey copy = {"ns", "copy"};
  PutWork(kBinding, "id");
  PutBinding(kBinding, "id");
  PutBinding(copy, "id-of-copy");
  Start();
  const auto ready = [&] {
    return server->Find(kDeployments, kWeb).status()["readyReplicas"].AsInt();
  };
  REQUIRE(tests::Eventually(
      [&] { return ready() == 1 && !StatusOf(copy)["conditions"].empty() && manager->IsIdle(); }));
  kube::Object binding = server->Find(api::ResourceBindings(), kBinding);
  binding.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::ResourceBindings(), binding);
  // The binding loop has not made the Work the copy's yet.
  REQUIRE(tests::Eventually([&] { return manager->IsIdle(); }));
  CHECK(ready() == 1);
  PutWork(copy, "id-of-copy");
  clock.Advance(works::kSettledHold);
  CHECK(ShowsWork(copy));
  CHECK(ready() == 1);
}

}  // namespace
