// Dependencies of dependencies, behind their gate.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/controllers/dependencies_fixture.h"

namespace {

using tests::Json;
using tests::kConfigMaps;

// Returns a list with a reference to this ConfigMap.
json::Value To(const std::string& name) {
  return Json(absl::Substitute(
      R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "$0"}])", name));
}

// The Deployment "web" needs "config", which needs "deep".
struct Transitive : tests::AttachingFixture {
  Transitive() {
    scripted.dependencies = json::Value();
    scripted.dependencies_of["web"] = To("config");
    scripted.dependencies_of["config"] = To("deep");
    PutConfig("deep");
  }
  bool IsAttached(const std::string& name) const {
    return !Now(name + "-configmap").Get({"spec", "requiredBy"}).empty();
  }
};

TEST_CASE_METHOD(Transitive, "without the gate, dependencies of dependencies stay") {
  REQUIRE(Reconcile().ok());
  CHECK(IsAttached("config"));
  CHECK_FALSE(IsAttached("deep"));
}

TEST_CASE_METHOD(Transitive, "with the gate they follow, and are let go with what needs them") {
  Renew(/*transitive=*/true);
  REQUIRE(Reconcile().ok());
  CHECK(IsAttached("config"));
  CHECK(IsAttached("deep"));
  CHECK(Now("deep-configmap").Get({"spec", "requiredBy"}) == Json(R"([
      {"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]}])"));
  const size_t writes = Writes();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == writes);
  scripted.dependencies_of["config"] = json::Value();
  REQUIRE(Reconcile().ok());
  CHECK(IsAttached("config"));
  CHECK_FALSE(IsAttached("deep"));
}

TEST_CASE_METHOD(Transitive, "cycles end") {
  Renew(/*transitive=*/true);
  scripted.dependencies_of["deep"] = Json(R"([
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "deep"},
      {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"}])");
  REQUIRE(Reconcile().ok());
  CHECK(IsAttached("config"));
  CHECK(IsAttached("deep"));
  CHECK(scripted.AskedForDependencies().size() == 3);
  CHECK(Now().Get({"spec", "requiredBy"}).is_null());  // It does not depend on itself.
}

TEST_CASE_METHOD(Transitive, "what does not exist yet is asked about when it has come") {
  server->Erase(kConfigMaps, {"ns", "config"});
  REQUIRE(tests::Eventually([&] {
    return cluster.Find(kConfigMaps, {"ns", "config"}) == nullptr;
  }));
  Renew(/*transitive=*/true);
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(IsAttached("deep"));
  PutConfig("config");
  REQUIRE(Reconcile().ok());
  CHECK(IsAttached("deep"));
}

TEST_CASE_METHOD(Transitive, "an error about a dependency names it, and lets go of nothing") {
  Renew(/*transitive=*/true);
  REQUIRE(Reconcile().ok());
  scripted.dependencies_of.erase("config");
  scripted.dependencies = absl::UnavailableError("hook is down");
  CHECK(
      Reconcile().message() ==
      "asking for the dependencies of Deployment ns/web: asking for the dependencies of ConfigMap "
      "ns/config, on which Deployment ns/web depends: hook is down");
  CHECK(IsAttached("deep"));
}

}  // namespace
