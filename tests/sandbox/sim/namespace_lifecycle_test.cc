#include "sandbox/sim/namespace_lifecycle.h"

#include <catch2/catch.hpp>

#include "sandbox/sim/garbage_collector.h"
#include "sandbox/sim/service_accounts.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

struct Fixture : SimCluster {
  NamespaceLifecycle namespaces{backend, loop};
  const kube::Resource maps = backend.Find({"", "v1", "ConfigMap"});

  Fixture() {
    Create(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo"}})");
  }
  kube::ObjectPtr Demo() { return Get(kinds::Namespaces(), "", "demo"); }
};

TEST_CASE_METHOD(Fixture, "a deleted namespace takes everything in it along") {
  Create(
      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "demo"}})");
  Create(
      R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "demo"}})");
  Create(
      R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}})");
  Delete(kinds::Namespaces(), "", "demo");
  Settle();
  CHECK(Demo() == nullptr);
  CHECK(Get(maps, "demo", "m") == nullptr);
  CHECK(Get(kinds::Secrets(), "demo", "s") == nullptr);
  CHECK(Get(kinds::Secrets(), "default", "s") != nullptr);
}

TEST_CASE_METHOD(Fixture, "a namespace waits for objects that finalizers hold, and says so") {
  Create(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
      {"name": "m", "namespace": "demo", "finalizers": ["example.io/hold"]}})");
  Delete(kinds::Namespaces(), "", "demo");
  Settle();
  REQUIRE(Demo() != nullptr);
  CHECK(Demo()->status()["phase"] == json::Value("Terminating"));
  const json::Value* why =
      kube::FindCondition(Demo()->status()["conditions"], "NamespaceFinalizersRemaining");
  REQUIRE(why != nullptr);
  CHECK((*why)["message"].ToString() ==
        "Some content in the namespace has finalizers remaining: example.io/hold in 1 resource "
        "instances");
  Patch(maps, "demo", "m", R"({"metadata": {"finalizers": null}})");
  Settle();
  CHECK(Demo() == nullptr);
}

TEST_CASE_METHOD(Fixture, "what a namespace says of its contents follows them") {
  const auto said = [&](const char* type) {
    const json::Value* found = kube::FindCondition(Demo()->status()["conditions"], type);
    return found == nullptr ? "" : (*found)["message"].ToString();
  };
  Create(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
      {"name": "m", "namespace": "demo", "finalizers": ["example.io/hold"]}})");
  Create(R"({"apiVersion": "v1", "kind": "Secret", "metadata":
      {"name": "s", "namespace": "demo", "finalizers": ["example.io/other"]}})");
  Patch(kinds::Namespaces(), "", "demo", R"({"metadata": {"finalizers": ["example.io/space"]}})");
  Delete(kinds::Namespaces(), "", "demo");
  Settle();
  CHECK(said("NamespaceFinalizersRemaining") ==
        "Some content in the namespace has finalizers remaining: example.io/hold in 1 resource "
        "instances, example.io/other in 1 resource instances");
  Patch(maps, "demo", "m", R"({"metadata": {"finalizers": null}})");
  Settle();
  CHECK(said("NamespaceFinalizersRemaining") ==
        "Some content in the namespace has finalizers remaining: example.io/other in 1 resource "
        "instances");
  Patch(kinds::Secrets(), "demo", "s", R"({"metadata": {"finalizers": null}})");
  Settle();
  REQUIRE(Demo() != nullptr);
  CHECK(Demo()->spec()["finalizers"].empty());
  CHECK(said("NamespaceContentRemaining") == "All content successfully removed");
  CHECK_FALSE(
      kube::IsConditionTrue(Demo()->status()["conditions"], "NamespaceFinalizersRemaining"));
}

TEST_CASE_METHOD(Fixture, "a refused deletion is tried again until it is allowed") {
  bool refuse = true;
  backend.AddAdmission([&](const AdmissionRequest& request, kube::Object&) {
    const bool mine = request.verb == Verbs::kDelete && request.resource.plural == "configmaps";
    return mine && refuse ? absl::PermissionDeniedError("protected") : absl::OkStatus();
  });
  Create(
      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "demo"}})");
  Delete(kinds::Namespaces(), "", "demo");
  Settle();
  CHECK(Demo() != nullptr);
  refuse = false;
  Advance(absl::Seconds(2));
  CHECK(Demo() == nullptr);
}

TEST_CASE_METHOD(Fixture, "a namespace keeps its default service account while it lives") {
  ServiceAccounts accounts(backend, loop);
  Settle();
  CHECK(Get(kinds::ServiceAccounts(), "demo", "default") != nullptr);
  CHECK(Get(kinds::ServiceAccounts(), "kube-system", "default") != nullptr);
  Delete(kinds::ServiceAccounts(), "demo", "default");
  Settle();
  CHECK(Get(kinds::ServiceAccounts(), "demo", "default") != nullptr);
  Delete(kinds::Namespaces(), "", "demo");
  Settle();
  CHECK(Demo() == nullptr);
}

}  // namespace
}  // namespace sandbox
