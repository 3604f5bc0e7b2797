// When the replicas that members run are taken into a template.
#include "controllers/deployment_replicas/deployment_replicas_reconciler.h"
#include "controllers/deployment_replicas/register.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/loops_fixture.h"

namespace {

using controllers::WhyNotCollected;
using tests::Json;
using tests::Parse;

const kube::ObjectKey kWeb = {"ns", "web"};

// A template with three replicas whose members run five.
kube::Object Deployment() {
  return Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"namespace": "ns", "name": "web",
      "labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}},
    "spec": {"replicas": 3}, "status": {"replicas": 5}})");
}

kube::Object Binding() {
  return Parse(R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
    "metadata": {"namespace": "ns", "name": "web-deployment", "generation": 4},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"},
      "replicas": 3, "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided"}},
      "clusters": [{"name": "m1", "replicas": 1}, {"name": "m2", "replicas": 2}]},
    "status": {"schedulerObservedGeneration": 4, "aggregatedStatus": [
      {"clusterName": "m1", "status": {"replicas": 1}}, {"clusterName": "m2", "status": {"replicas": 4}}]}})");
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::DeploymentReplicasReconciler> reconciler;

  Fixture() {
    Sync({api::Deployments(), api::ResourceBindings()});
    reconciler.emplace(Make());
  }
  int64_t ReplicasAfter(const kube::Object& deployment, const kube::Object& binding) {
    PutCached(api::Deployments(), deployment);
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(reconciler->Reconcile({.key = kWeb}, {}).ok());
    return server->Find(api::Deployments(), kWeb).spec()["replicas"].AsInt();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "replicas that the members run come into the template, once") {
  CHECK(ReplicasAfter(Deployment(), Binding()) == 5);
  CHECK(server->Requests("PATCH").size() == 1);
  const kube::Object now = server->Find(api::Deployments(), kWeb);
  REQUIRE(Shows(api::Deployments(), now));
  REQUIRE(reconciler->Reconcile({.key = kWeb}, {}).ok());
  CHECK(server->Requests("PATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a template that determines its replicas itself keeps them") {
  kube::Object deployment = Deployment();
  kube::Object binding = Binding();
  SECTION("it has no label") { deployment.EraseLabel(api::kRetainReplicasLabel); }
  SECTION("its replicas are duplicated") {
    binding.Set({"spec", "placement"}, json::Value::Object());
  }
  SECTION("the binding is that of another kind") {
    binding.Set({"spec", "resource", "apiVersion"}, "example.io/v1");
  }
  SECTION("it is being deleted") {
    deployment.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    deployment.Set({"metadata", "finalizers"}, Json(R"(["a/b"])"));
  }
  CHECK(ReplicasAfter(deployment, binding) == 3);
}

TEST_CASE_METHOD(Fixture, "an edit that the cache does not show yet is not undone") {
  PutCached(api::Deployments(), Deployment());
  PutCached(api::ResourceBindings(), Binding());
  server->FailNext("PATCH", 409, "Conflict");
  CHECK(absl::IsAborted(reconciler->Reconcile({.key = kWeb}, {}).status()));
  CHECK(server->Find(api::Deployments(), kWeb).spec()["replicas"].AsInt() == 3);
}

TEST_CASE("a status that is not that of the present spec does not count") {
  kube::Object deployment = Deployment();
  kube::Object binding = Binding();
  REQUIRE(WhyNotCollected(deployment, binding).empty());
  std::string why;
  SECTION("the template was edited") {
    deployment.Set({"spec", "replicas"}, 4);
    why = "the binding does not have the template's replicas yet";
  }
  SECTION("the binding was edited") {
    binding.Set({"metadata", "generation"}, 5);
    why = "the scheduler has not seen the binding yet";
  }
  SECTION("a cluster has come") {
    binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}, {"name": "m2"}, {"name": "m3"}])"));
    why = "not all clusters have reported a status yet";
  }
  SECTION("a cluster has no status") {
    binding.Set(
        {"status", "aggregatedStatus"},
        Json(R"([{"clusterName": "m1", "status": {"replicas": 5}}, {"clusterName": "m2"}])"));
    why = "m2 has not reported replicas yet";
  }
  SECTION("the sum has not reached the template") {
    deployment.Set({"status", "replicas"}, 4);
    why = "the template's status does not have the sum of its clusters yet";
  }
  CHECK(WhyNotCollected(deployment, binding) == why);
}

TEST_CASE_METHOD(Fixture, "changes of template and binding wake the loop, and so does a start") {
  kube::Object binding = Binding();
  binding.Set({"status", "schedulerObservedGeneration"}, 3);
  PutCached(api::Deployments(), Deployment());
  PutCached(api::ResourceBindings(), binding);
  REQUIRE(controllers::RegisterDeploymentReplicas(Context(), 1).ok());
  Start();
  server->Put(api::ResourceBindings(), Binding());
  const auto replicas = [&] {
    return server->Find(api::Deployments(), kWeb).spec()["replicas"].AsInt();
  };
  CHECK(tests::Eventually([&] { return replicas() == 5; }));
}

TEST_CASE_METHOD(Fixture, "a binding that comes with everything at once wakes the loop") {
  PutCached(api::Deployments(), Deployment());
  REQUIRE(controllers::RegisterDeploymentReplicas(Context(), 1).ok());
  Start();
  // As after a gap of the watch, in which it was made, scheduled and aggregated.
  server->Put(api::ResourceBindings(), Binding());
  CHECK(tests::Eventually(
      [&] { return server->Find(api::Deployments(), kWeb).spec()["replicas"].AsInt() == 5; }));
}
