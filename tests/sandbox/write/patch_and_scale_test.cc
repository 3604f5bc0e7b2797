#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

using Type = PatchRequest::Type;

const kube::ObjectKey kWeb{"default", "web"};

absl::StatusOr<kube::ObjectPtr> Patch(ServerBackend& backend, Type type, absl::string_view text,
                                      const std::string& subresource = "") {
  PatchRequest request;
  request.type = type;
  request.patch = *json::Parse(text);
  request.subresource = subresource;
  return backend.Patch(kDeployments, kWeb, request);
}

TEST_CASE("each patch format changes the object") {
  ServerBackend backend(100);
  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());
  CHECK((*Patch(backend, Type::kMerge, R"({"spec":{"replicas":2}})"))->spec()["replicas"].AsInt() ==
        2);
  CHECK((*Patch(backend, Type::kJson, R"([{"op":"replace","path":"/spec/replicas","value":3}])"))
            ->spec()["replicas"]
            .AsInt() == 3);
  const auto strategic = Patch(
      backend, Type::kStrategic,
      R"({"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":"1"}]}]}}}})");
  REQUIRE(strategic.ok());
  const json::Value& container = (*strategic)->spec()["template"]["spec"]["containers"].At(0);
  CHECK(container["image"].AsString() == "nginx:1.27");
  CHECK(container["env"].size() == 1);
  CHECK((*strategic)->generation() == 4);
}

TEST_CASE("a patch may carry a resourceVersion as precondition") {
  ServerBackend backend(100);
  const auto created = backend.Create(kDeployments, Deployment("web"), false);
  REQUIRE(created.ok());
  const auto stale = Patch(backend, Type::kMerge, R"({"metadata":{"resourceVersion":"1"}})");
  CHECK(ErrorOf(stale.status()).reason == "Conflict");
}

TEST_CASE("bad patches are refused") {
  ServerBackend backend(100);
  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());
  CHECK(ErrorOf(Patch(backend, Type::kJson, R"([{"op":"test","path":"/spec/replicas","value":9}])")
                    .status())
            .code == 422);
  CHECK(ErrorOf(Patch(backend, Type::kMerge, "[]").status()).code == 400);
  CHECK(ErrorOf(Patch(backend, Type::kMerge, R"({"spec":{"replicas":"two"}})").status()).code ==
        400);
  CHECK(ErrorOf(Patch(backend, Type::kMerge, R"({"metadata":{"name":"other"}})").status()).code ==
        422);
  REQUIRE(backend.Create(kDefinitions, WidgetDefinition(), false).ok());
  REQUIRE(backend.Create(kWidgets, Widget("w"), false).ok());
  PatchRequest strategic;
  strategic.type = Type::kStrategic;
  strategic.patch = json::Value::Object();
  CHECK(ErrorOf(backend.Patch(kWidgets, {"default", "w"}, strategic).status()).code == 415);
}

TEST_CASE("patches of the status subresource leave the spec alone") {
  ServerBackend backend(100);
  REQUIRE(backend.Create(kDeployments, Deployment("web"), false).ok());
  const auto patched =
      Patch(backend, Type::kMerge, R"({"spec":{"replicas":9},"status":{"replicas":1}})", "status");
  REQUIRE(patched.ok());
  CHECK((*patched)->spec()["replicas"].AsInt() == 1);
  CHECK((*patched)->status()["replicas"].AsInt() == 1);
}

TEST_CASE("scale shows and changes the replicas of built-in and custom kinds") {
  ServerBackend backend(100);
  REQUIRE(backend.Create(kDeployments, Deployment("web", 2), false).ok());
  const ResourceInfoPtr deployments = backend.registry().Find(kDeployments);
  const auto scale = backend.GetOf(*deployments, kWeb, "scale");
  REQUIRE(scale.ok());
  CHECK((*scale)->kind() == "Scale");
  CHECK((*scale)->spec()["replicas"].AsInt() == 2);
  CHECK((*scale)->status()["selector"].AsString() == "app=web");

  const auto patched = Patch(backend, Type::kMerge, R"({"spec":{"replicas":5}})", "scale");
  REQUIRE(patched.ok());
  CHECK((*patched)->spec()["replicas"].AsInt() == 5);
  const auto object = backend.Get(kDeployments, kWeb);
  CHECK((*object)->spec()["replicas"].AsInt() == 5);
  CHECK((*object)->generation() == 2);
  CHECK(
      ErrorOf(Patch(backend, Type::kMerge, R"({"spec":{"replicas":-1}})", "scale").status()).code ==
      422);

  REQUIRE(backend.Create(kDefinitions, WidgetDefinition(), false).ok());
  REQUIRE(backend.Create(kWidgets, Widget("w"), false).ok());
  kube::Object wanted = FromYaml(R"(
apiVersion: autoscaling/v1
kind: Scale
metadata: {name: w, namespace: default}
spec: {replicas: 7}
)");
  const auto scaled = backend.Update(kWidgets, wanted, "scale", false);
  REQUIRE(scaled.ok());
  CHECK((*backend.Get(kWidgets, {"default", "w"}))->spec()["replicas"].AsInt() == 7);
  CHECK(ErrorOf(backend.Update(kConfigMaps, wanted, "scale", false).status()).code == 404);
}

class Applier {
 public:
  explicit Applier(ServerBackend& backend) : backend_(backend) {}
  absl::StatusOr<kube::ObjectPtr> As(const std::string& manager, absl::string_view config,
                                     bool force = false) {
    PatchRequest request;
    request.type = Type::kApply;
    request.patch = *yaml::Parse(config);
    request.field_manager = manager;
    request.force = force;
    return backend_.Patch(kDeployments, kWeb, request);
  }

 private:
  ServerBackend& backend_;
};

constexpr char kApplied[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front, old: "yes"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
)";

constexpr char kAppliedLess[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1", env: [{name: B, value: "2"}]}
)";

TEST_CASE("server-side apply creates, merges, and removes fields that are no longer given") {
  ServerBackend backend(100);
  Applier apply(backend);
  const auto created = apply.As("me", kApplied);
  REQUIRE(created.ok());
  CHECK((*created)->generation() == 1);
  // Another client adds a label and an environment variable.
  REQUIRE(Patch(backend, Type::kStrategic,
                R"({"metadata":{"labels":{"theirs":"x"}},"spec":{"template":{"spec":{"containers":
                   [{"name":"web","env":[{"name":"C","value":"3"}]}]}}}})")
              .ok());
  const auto applied = apply.As("me", kAppliedLess);
  REQUIRE(applied.ok());
  CHECK((*applied)->labels() == json::Value::Object({{"tier", "front"}, {"theirs", "x"}}));
  std::string names;
  for (const json::Value& e :
       (*applied)->spec()["template"]["spec"]["containers"].At(0)["env"].items()) {
    names += e["name"].ToString();
  }
  std::sort(names.begin(), names.end());
  CHECK(names == "BC");
  const auto again = apply.As("me", kAppliedLess);
  CHECK((*again)->resource_version() == (*applied)->resource_version());
}

TEST_CASE("server-side apply reports what another manager has applied") {
  ServerBackend backend(100);
  Applier apply(backend);
  REQUIRE(apply.As("first", kApplied).ok());
  constexpr char kOther[] =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 9}}";
  const auto conflict = apply.As("second", kOther);
  CHECK(ErrorOf(conflict.status()).code == 409);
  CHECK(Message(conflict.status()) ==
        "Apply failed with 1 conflict: conflict with \"first\": .spec.replicas");
  const auto forced = apply.As("second", kOther, true);
  REQUIRE(forced.ok());
  CHECK((*forced)->spec()["replicas"].AsInt() == 9);
  CHECK(ErrorOf(apply.As("", kOther).status()).code == 422);
}

TEST_CASE("racing writers lose no update") {
  ServerBackend backend(1000);
  REQUIRE(backend.Create(kConfigMaps, ConfigMap("shared"), false).ok());
  constexpr int kWriters = 4, kRounds = 25;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&backend, w] {
      for (int i = 0; i < kRounds; ++i) {
        PatchRequest request;
        request.patch.Set({"data", std::to_string(w) + "-" + std::to_string(i)}, "x");
        while (!backend.Patch(kConfigMaps, {"default", "shared"}, request).ok()) {
        }
      }
    });
  }
  for (std::thread& t : writers) t.join();
  CHECK((*backend.Get(kConfigMaps, {"default", "shared"}))->root()["data"].size() ==
        1 + kWriters * kRounds);
}

}  // namespace
}  // namespace sandbox
