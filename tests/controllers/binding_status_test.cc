// How the status of a template is written, for kinds with and without a status subresource, and how
// often that of a binding over many clusters is written.
#include "controllers/binding_status/binding_status_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/work.h"
#include "kube/client/errors.h"
#include "tests/support/eventually.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/standing_binding.h"

namespace {

using tests::Json;
using tests::kDeployments;
using Server = tests::FakeApiServer;
using Strings = std::vector<std::string>;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kBinding = {"ns", "web-deployment"};

struct Fixture : tests::MembersFixture {
  tests::ScriptedInterpreter scripted;
  std::optional<controllers::BindingStatusReconciler<api::scope::Namespaced>> reconciler;

  Fixture() {
    Sync({kDeployments, api::ResourceBindings(), api::Works(), api::Clusters()});
    informers.Get(api::Works())
        ->AddIndex(api::kResourceBindingIdLabel, kube::IndexByLabel(api::kResourceBindingIdLabel));
    informers.Get(api::ResourceBindings())
        ->AddIndex(works::kBindingsByObject, works::ObjectNamedBy);
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBinding);
    binding.SetLabel(api::kResourceBindingIdLabel, "id");
    binding.Set({"spec", "resource"},
                api::ObjectReference::Of(kube::Object::Make(kDeployments.gvk, kWeb)).ToJson());
    PutCached(api::ResourceBindings(), binding);
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    reconciler.emplace(Make(), scripted);
    scripted.Enable(interpreter::Operation::kAggregateStatus);
    scripted.aggregated = Json(R"({"ready": 1})");
  }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = kBinding}, {}).status(); }
  json::Value Status() const { return server->Find(kDeployments, kWeb).status(); }
  // Returns all requests about the template so far.
  Strings Sent() const {
    Strings sent;
    for (const std::string& line : server->Requests()) {
      if (absl::StrContains(line, "/deployments/web"))
        sent.push_back(line.substr(0, line.find(' ')) +
                       (absl::EndsWith(line, "/status") ? " status" : " object"));
    }
    return sent;
  }
};

TEST_CASE_METHOD(Fixture, "the aggregated status goes to the subresource, once") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 1})"));
  REQUIRE(Reconcile().ok());
  CHECK(Sent() == Strings{"PATCH status"});
}

// As when it is the last write of a leader that was cut off.
TEST_CASE_METHOD(Fixture, "a status that the server gets late does not replace a newer one") {
  if (GENERATE(true, false)) server->KeepStatus(kDeployments, Server::Status::kSubresource);
  server->FailNext("PATCH apps/v1/deployments", 504, "Timeout");
  CHECK_FALSE(Reconcile().ok());
  const std::string late = server->last_body();
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(Reconcile().ok());
  const std::string path = server->Requests("PATCH").back();
  REQUIRE(server
              ->Send({.method = "PATCH",
                      .path = path.substr(path.find(' ') + 1),
                      .content_type = "application/merge-patch+json",
                      .body = late},
                     {})
              .ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
}

TEST_CASE_METHOD(Fixture, "only the binding that stands for a template writes its status") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  kube::Object other = server->Find(api::ResourceBindings(), kBinding);
  other.Set({"metadata", "name"}, "another");
  other.Set({"metadata", "creationTimestamp"}, "2000-01-01T00:00:00Z");
  other.SetLabel(api::kResourceBindingIdLabel, "id-of-another");
  PutCached(api::ResourceBindings(), other);
  const kube::Request request = {.key = other.key()};
  REQUIRE(reconciler->Reconcile(request, {}).ok());
  CHECK(Sent().empty());
  REQUIRE(Reconcile().ok());
  CHECK(Sent() == Strings{"PATCH status"});

  // A binding of another group's kind has the name; and one that is alone stands.
  kube::Object first = server->Find(api::ResourceBindings(), kBinding);
  if (GENERATE(true, false)) {
    first.Set({"spec", "resource", "apiVersion"}, "example.com/v1");
  } else {
    first.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  }
  PutCached(api::ResourceBindings(), first);
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(reconciler->Reconcile(request, {}).ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
}

TEST_CASE_METHOD(Fixture, "a new status is a routine success on binding and template") {
  recorded->WantRoutine();
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All() ==
        Strings{"Normal AggregateStatusSucceed ResourceBinding: Update "
                "ResourceBinding(ns/web-deployment) with AggregatedStatus successfully.",
                "Normal AggregateStatusSucceed Deployment: Update Resource with AggregatedStatus "
                "successfully."});
}

// Kubernetes v1.30.
TEST_CASE_METHOD(Fixture, "a server that refuses SuccessCriteriaMet gets the rest of the status") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  scripted.aggregated = Json(R"({"succeeded": 1, "conditions": [
      {"type": "Complete", "status": "True"}, {"type": "SuccessCriteriaMet", "status": "True"}]})");
  server->FailNext(
      "PATCH apps/v1/deployments", 422,
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet to NonIndexed Job");
  REQUIRE(Reconcile().ok());
  CHECK(Status() ==
        Json(R"({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]})"));
  CHECK(Sent() == Strings{"PATCH status", "PATCH status"});
}

TEST_CASE_METHOD(Fixture, "a status that is refused for another reason is an error") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  scripted.aggregated =
      Json(R"({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]})");
  server->FailNext("PATCH apps/v1/deployments", 422, "status.active: Invalid value");
  CHECK(kube::IsInvalid(Reconcile()));
  CHECK(Sent() == Strings{"PATCH status"});
}

TEST_CASE_METHOD(Fixture,
                 "a kind without status subresource has its status patched on the object") {
  server->KeepStatus(kDeployments, Server::Status::kOnObject);
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 1})"));
  CHECK(Sent() == Strings{"PATCH status", "GET object", "PATCH object"});
  CHECK(Json(server->last_body())["status"] == Json(R"({"ready": 1})"));
  CHECK(recorded->All().empty());
  REQUIRE(Reconcile().ok());
  CHECK(Sent().size() == 3);
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
  CHECK(Sent().size() == 4);  // The loop knows now where the kind keeps its status.
}

TEST_CASE_METHOD(Fixture, "a kind that gets the subresource later is written there from then on") {
  server->KeepStatus(kDeployments, Server::Status::kOnObject);
  REQUIRE(Reconcile().ok());
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
  scripted.aggregated = Json(R"({"ready": 3})");
  REQUIRE(Reconcile().ok());
  CHECK(Sent().back() == "PATCH status");
  CHECK(Status() == Json(R"({"ready": 3})"));
}

TEST_CASE_METHOD(Fixture,
                 "a kind whose status the server does not keep is reported, without retries") {
  server->KeepStatus(kDeployments, Server::Status::kNone);
  CHECK(base::IsTerminal(Reconcile()));
  CHECK(recorded->All() == Strings{"Warning AggregateStatusFailed Deployment: the server keeps no "
                                   "status of Deployment (apps/v1)"});
}

TEST_CASE_METHOD(Fixture, "an interpreter's error is never taken for a template that went") {
  // The chain does not return this code, but the loop does not rely on that.
  scripted.aggregated = absl::NotFoundError("not found function AggregateStatus");
  CHECK_FALSE(Reconcile().ok());
  CHECK(recorded->All() == Strings{"Warning AggregateStatusFailed Deployment: not found function "
                                   "AggregateStatus"});
}

TEST_CASE_METHOD(Fixture, "a template that went meanwhile is not a failure") {
  server->Erase(kDeployments, kWeb);  // The cache may still have it.
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().empty());
}

// A binding over kClusters clusters, in each of which its object is healthy.
struct WideFixture : Fixture {
  static constexpr int kClusters = 100;

  WideFixture() {
    kube::Object binding = server->Find(api::ResourceBindings(), kBinding);
    json::Value clusters = json::Value::Array();
    for (int i = 0; i < kClusters; ++i) {
      clusters.Append(json::Value::Object({{"name", absl::StrCat("m", i)}}));
      PutWork(i, 1);
      PutCluster(i, "True");
    }
    binding.Set({"spec", "clusters"}, clusters);
    PutCached(api::ResourceBindings(), binding);
    // The template has its status already, and it does not change.
    kube::Object web = server->Find(kDeployments, kWeb);
    web.Set({"status"}, *scripted.aggregated);
    PutCached(kDeployments, web);
  }
  void PutCluster(int cluster, const char* ready) {
    kube::Object object = kube::Object::Make(api::Clusters().gvk, {"", absl::StrCat("m", cluster)});
    object.Set({"status", "conditions"},
               json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
    PutCached(api::Clusters(), object);
  }
  void PutWork(int cluster, int64_t replicas) {
    const std::string name = absl::StrCat("m", cluster);
    kube::Object work =
        kube::Object::Make(api::Works().gvk, {api::ExecutionNamespace(name), "web"});
    work.SetLabel(api::kResourceBindingIdLabel, "id");
    for (const auto& [name, value] : api::scope::Namespaced::NamingAnnotations(kBinding)) {
      work.SetAnnotation(name, value);
    }
    const kube::Object manifest = kube::Object::Make(kDeployments.gvk, kWeb);
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    work.Set({"status", "conditions"}, Json(R"([{"type": "Applied", "status": "True"}])"));
    api::ManifestStatus status;
    status.identifier = api::ManifestIdentifier::Of(manifest, 0);
    status.status = json::Value::Object({{"replicas", replicas}});
    status.health = api::kHealthy;
    work.Set({"status", "manifestStatuses"}, json::Value::Array({status.ToJson()}));
    PutCached(api::Works(), work);
  }
  // Returns the sum of the replicas that the binding's status shows for all clusters.
  int64_t Replicas() const {
    int64_t sum = 0;
    const kube::Object binding = server->Find(api::ResourceBindings(), kBinding);
    for (const json::Value& item : binding.status()["aggregatedStatus"].items()) {
      sum += item.Get({"status", "replicas"}).AsInt();
    }
    return sum;
  }
  // The size of what a reconcile sent for the binding, and how long it asked to wait.
  struct Round {
    size_t bytes = 0;
    absl::Duration wait;
  };
  Round Look() {
    const size_t before = server->Requests("PATCH").size();
    const auto action = reconciler->Reconcile({.key = kBinding}, {});
    REQUIRE(action.ok());
    const bool wrote = server->Requests("PATCH").size() > before;
    return {wrote ? server->last_body().size() : 0, action->delay()};
  }
};

TEST_CASE_METHOD(WideFixture, "a status that is already written is not held back") {
  kube::Object binding = server->Find(api::ResourceBindings(), kBinding);
  json::Value clusters = binding.spec()["clusters"];
  PutCluster(kClusters, "True");  // It has not answered.
  clusters.Append(json::Value::Object({{"name", absl::StrCat("m", kClusters)}}));
  binding.Set({"spec", "clusters"}, clusters);
  PutCached(api::ResourceBindings(), binding);
  CHECK(Look().wait == works::kProgressHold);
  clock.Advance(works::kProgressHold);
  CHECK(Look().bytes > 0);
  clock.Advance(absl::Seconds(2));  // The pause after the write is over.
  const Round same = Look();
  CHECK(same.bytes == 0);
  CHECK(same.wait == absl::ZeroDuration());
}

TEST_CASE_METHOD(WideFixture,
                 "many changes, each in another cluster, cost bytes by time and not by change") {
  const size_t whole = Look().bytes;
  REQUIRE(whole > 50 * kClusters);
  size_t bytes = 0;
  for (int i = 0; i < kClusters; ++i) {
    PutWork(i, 2);
    clock.Advance(absl::Milliseconds(100));
    bytes += Look().bytes;
  }
  CHECK(bytes <= 11 * whole);  // Ten seconds have passed.
  // An unwritten change is written when the pause is over, whatever happens until then.
  PutWork(0, 3);
  const absl::Duration wait = Look().wait;
  CHECK(wait > absl::ZeroDuration());
  CHECK(wait <= absl::Seconds(1));
  clock.Advance(wait);
  CHECK(Look().bytes > 0);
  CHECK(Replicas() == 2 * kClusters + 1);
  clock.Advance(absl::Seconds(1));
  CHECK(Look().wait == absl::ZeroDuration());
}

TEST_CASE_METHOD(WideFixture, "a change after a quiet time is written at once") {
  Look();
  clock.Advance(absl::Seconds(1));
  PutWork(3, 2);
  CHECK(Look().bytes > 0);
  CHECK(Replicas() == kClusters + 1);
}

TEST_CASE_METHOD(WideFixture, "a change whose write failed is not held again") {
  const kube::ObjectKey work = {api::ExecutionNamespace("m0"), "web"};
  server->Erase(api::Works(), work);
  REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), work) == nullptr; }));
  REQUIRE(Look().wait == works::kProgressHold);
  clock.Advance(works::kProgressHold);
  server->FailNext("PATCH", 500, "InternalError", 3);
  // Each try is an error, so that the queue's back-off grows.
  for (int i = 0; i < 3; ++i) CHECK_FALSE(Reconcile().ok());
  CHECK(Look().bytes > 0);
  // The next change is held.
  clock.Advance(absl::Seconds(2));  // The pause after the write is over.
  PutWork(1, 2);
  CHECK(Look().wait == works::kProgressHold);
}

TEST_CASE_METHOD(Fixture, "a binding that went meanwhile does not write its template's status") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  server->FailNext("PATCH work.karmada.io/v1alpha2/resourcebindings", 404, "NotFound");
  REQUIRE(Reconcile().ok());
  CHECK(Sent().empty());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(WideFixture, "a result does not wait for a cluster that cannot answer") {
  kube::Object work = kube::Object::Make(api::Works().gvk, {api::ExecutionNamespace("m0"), "web"});
  SECTION("because its Work is suspended") {
    work = server->Find(api::Works(), work.key());
    work.Erase({"status"});
    work.Set({"spec", "suspendDispatching"}, true);
    PutCached(api::Works(), work);
    CHECK(Look().bytes > 0);
  }
  SECTION("because it is not ready") {
    PutCluster(0, "False");
    server->Erase(api::Works(), work.key());
    REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), work.key()) == nullptr; }));
    CHECK(Look().bytes > 0);
  }
  SECTION("because it does not exist") {
    server->Erase(api::Clusters(), {"", "m0"});
    server->Erase(api::Works(), work.key());
    REQUIRE(tests::Eventually([&] {
      return cluster.Find(api::Works(), work.key()) == nullptr &&
             cluster.Find(api::Clusters(), {"", "m0"}) == nullptr;
    }));
    CHECK(Look().bytes > 0);
  }
  SECTION("but for one that has only not answered yet") {
    server->Erase(api::Works(), work.key());
    REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), work.key()) == nullptr; }));
    const Round round = Look();
    CHECK(round.bytes == 0);
    CHECK(round.wait == works::kProgressHold);
  }
}

}  // namespace
