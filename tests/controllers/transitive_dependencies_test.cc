// Dependencies of dependencies, behind their gate.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "base/status.h"
#include "controllers/dependencies/register.h"
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
  bool IsReported(const std::string& event) const {
    const std::vector<std::string> events = recorded->All();
    return std::find(events.begin(), events.end(), event) != events.end();
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

// The rule for "config" fails, and "web" needs "other", too.
struct Failing : Transitive {
  Failing() {
    Renew(/*transitive=*/true);
    PutConfig("other");
    scripted.dependencies_of["other"] = json::Value();
  }
  absl::Status ReconcileFailing() {
    scripted.dependencies_of["web"] = Json(R"([
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"},
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "other"}])");
    scripted.dependencies_of.erase("config");
    scripted.dependencies = absl::UnavailableError("hook is down");
    return Reconcile();
  }
};

TEST_CASE_METHOD(Failing, "an error about a dependency names it, and lets go of nothing") {
  REQUIRE(Reconcile().ok());
  const std::string message =
      "asking for the dependencies of ConfigMap ns/config, on which Deployment ns/web depends: "
      "hook is down";
  CHECK(ReconcileFailing().message() ==
        "asking for the dependencies of Deployment ns/web: " + message);
  CHECK(IsAttached("deep"));
  CHECK(IsAttached("other"));  // The rest of the search goes on.
  CHECK(Recorded().find("deep") != std::string::npos);
  CHECK(IsReported("Warning GetDependenciesFailed Deployment: " + message));
  const size_t writes = Writes();
  Renew(/*transitive=*/true);
  CHECK_FALSE(ReconcileFailing().ok());
  CHECK(Writes() == writes);
  // Once the rule is mended, what is not needed goes.
  scripted.dependencies_of["config"] = json::Value();
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(IsAttached("deep"));
  CHECK(IsAttached("other"));
}

TEST_CASE_METHOD(Failing, "what was found is recorded and attached although a rule fails") {
  CHECK_FALSE(ReconcileFailing().ok());
  CHECK(IsAttached("config"));
  CHECK(IsAttached("other"));
  CHECK_FALSE(IsAttached("deep"));
  CHECK(Recorded().find("config") != std::string::npos);
}

TEST_CASE_METHOD(Failing, "a rule for a dependency that is mended is followed at once") {
  CHECK(flags.gates.Set("TransitiveDependencies=true").ok());
  scripted.dependencies_of["deep"] = json::Value();
  scripted.dependencies_of.erase("config");
  scripted.dependencies = base::Terminal(absl::InvalidArgumentError("it does not fit"));
  SECTION("after it has failed from the beginning") {}
  SECTION("after it was right") {
    scripted.dependencies_of["config"] = To("deep");
    REQUIRE(Reconcile().ok());
    scripted.dependencies_of.erase("config");
  }
  REQUIRE(controllers::RegisterDependencies(ContextWith(scripted), 1).ok());
  Start();
  const std::string failure =
      "Warning GetDependenciesFailed Deployment: asking for the dependencies of ConfigMap "
      "ns/config, on which Deployment ns/web depends: it does not fit";
  REQUIRE(tests::Eventually([&] { return IsAttached("config") && IsReported(failure); }));
  scripted.dependencies_of["config"] = To("deep");
  const auto mended = [](const kube::Gvk& gvk, interpreter::Operation op) {
    return gvk == kConfigMaps.gvk && op == interpreter::Operation::kInterpretDependency;
  };
  // The pass that was reported may still be running, and then it counts as looked at.
  CHECK(tests::Eventually([&] {
    scripted.changes.Publish(mended);
    return IsAttached("deep");
  }));
}

TEST_CASE_METHOD(Transitive, "too many objects: what the template names follows, and no more") {
  Renew(/*transitive=*/true);
  REQUIRE(Reconcile().ok());
  SECTION("named one by one") {
    json::Value many = json::Value::Array();
    for (int i = 0; i < 1001; ++i) many.Append(To("many-" + std::to_string(i)).At(0));
    scripted.dependencies_of["config"] = many;
  }
  SECTION("selected by one reference") {
    for (int i = 0; i < 1001; ++i) {
      kube::Object config =
          kube::Object::Make(kConfigMaps.gvk, {"ns", "many-" + std::to_string(i)});
      config.SetLabel("app", "many");
      server->Put(kConfigMaps, config);
    }
    REQUIRE(tests::Eventually([&] { return cluster.List(kConfigMaps, "ns").size() > 1001; }));
    scripted.dependencies_of["config"] = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap",
        "namespace": "ns", "labelSelector": {"matchLabels": {"app": "many"}}}])");
  }
  const size_t asked = scripted.AskedForDependencies().size();
  const absl::Status refused = Reconcile();
  CHECK(absl::IsResourceExhausted(refused));
  CHECK(base::IsTerminal(refused));
  CHECK(IsReported(
      "Warning GetDependenciesFailed Deployment: Deployment ns/web depends on more than 1000 "
      "objects, with what these need in turn: of what it does not name itself nothing more "
      "follows"));
  CHECK(IsAttached("config"));
  CHECK(IsAttached("deep"));  // What has followed before stays.
  CHECK_FALSE(IsAttached("many-7"));
  CHECK(scripted.AskedForDependencies().size() < asked + 10);
}

}  // namespace
