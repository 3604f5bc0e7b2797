// The documents that clients read first: discovery, OpenAPI and the version.
#include <catch2/catch.hpp>

#include "tests/sandbox/http/front_end_fixture.h"

namespace sandbox {
namespace {

const json::Value* Named(const json::Value& list, absl::string_view field, absl::string_view name) {
  for (const json::Value& item : list.items()) {
    if (item[field].AsString() == name) return &item;
  }
  return nullptr;
}

TEST_CASE("aggregated discovery lists groups, kinds and subresources") {
  FrontEndFixture f;
  const Reply apis =
      f.Get("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  CHECK(apis.raw.content_type ==
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  CHECK(apis.body["apiVersion"].AsString() == "apidiscovery.k8s.io/v2");
  const json::Value* apps = nullptr;
  for (const json::Value& group : apis.body["items"].items()) {
    if (group["metadata"]["name"].AsString() == "apps") apps = &group;
  }
  REQUIRE(apps != nullptr);
  const json::Value* deployments =
      Named((*apps)["versions"].At(0)["resources"], "resource", "deployments");
  REQUIRE(deployments != nullptr);
  CHECK((*deployments)["shortNames"] == json::Value::Array({"deploy"}));
  CHECK((*deployments)["categories"] == json::Value::Array({"all"}));
  CHECK((*deployments)["scope"].AsString() == "Namespaced");
  CHECK(Named((*deployments)["subresources"], "subresource", "scale") != nullptr);
}

TEST_CASE("aggregated discovery is not sent again to a client that has it") {
  FrontEndFixture f;
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const auto ask = [&](const std::string& path, const std::string& etag) {
    return f.Send({.target = path, .headers = {{"accept", accept}, {"if-none-match", etag}}});
  };
  for (const std::string path : {"/api", "/apis"}) {
    CAPTURE(path);
    const std::string etag = f.Get(path, accept).Header("Etag");
    CHECK_THAT(etag, Catch::StartsWith("\"") && Catch::EndsWith("\""));
    CHECK(f.Get(path, accept).Header("Etag") == etag);
    const Reply unchanged = ask(path, etag);
    CHECK(unchanged.code == 304);
    CHECK(unchanged.raw.body.empty());
    CHECK(unchanged.Header("Etag") == etag);
    CHECK(ask(path, "\"another\"").code == 200);
  }
  // The lists of groups have none, as a kube-apiserver's.
  CHECK(f.Get("/apis").Header("Etag").empty());

  const std::string before = f.Get("/apis", accept).Header("Etag");
  REQUIRE(
      f.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WidgetDefinition()).code ==
      201);
  CHECK(ask("/apis", before).code == 200);
}

TEST_CASE("legacy discovery lists the same resources") {
  FrontEndFixture f;
  CHECK(f.Get("/api").body["versions"] == json::Value::Array({"v1"}));
  CHECK(Named(f.Get("/apis").body["groups"], "name", "batch") != nullptr);
  const Reply core = f.Get("/api/v1");
  CHECK(core.body["groupVersion"].AsString() == "v1");
  const json::Value* pods = Named(core.body["resources"], "name", "pods");
  REQUIRE(pods != nullptr);
  CHECK((*pods)["namespaced"] == json::Value(true));
  CHECK(Named(core.body["resources"], "name", "pods/status") != nullptr);
  const Reply apps = f.Get("/apis/apps/v1");
  const json::Value* scale = Named(apps.body["resources"], "name", "deployments/scale");
  REQUIRE(scale != nullptr);
  CHECK((*scale)["group"].AsString() == "autoscaling");
  CHECK(f.Get("/apis/apps").body["preferredVersion"]["version"].AsString() == "v1");
  CHECK(f.Get("/apis/nobody.io").code == 404);
}

TEST_CASE("custom resources appear in discovery and OpenAPI as soon as they are defined") {
  FrontEndFixture f;
  CHECK(f.Get("/apis/example.com/v1").code == 404);
  f.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WidgetDefinition());
  const Reply list = f.Get("/apis/example.com/v1");
  CHECK(Named(list.body["resources"], "name", "widgets/status") != nullptr);
  const Reply group = f.Get("/apis/example.com");
  CHECK(group.body["preferredVersion"]["version"].AsString() == "v1");
  CHECK(group.body["versions"].size() == 2);
  const Reply openapi = f.Get("/openapi/v3/apis/example.com/v1");
  CHECK(openapi.body["components"]["schemas"]["com.example.v1.Widget"]["properties"].Has("spec"));
}

TEST_CASE("OpenAPI says that patches take fieldValidation") {
  FrontEndFixture f;
  const Reply index = f.Get("/openapi/v3");
  const std::string url = index.body["paths"]["apis/apps/v1"]["serverRelativeURL"].ToString();
  CHECK(url.substr(0, 25) == "/openapi/v3/apis/apps/v1?");
  const Reply apps = f.Get(url);
  const json::Value& patch =
      apps.body["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  CHECK(patch["x-kubernetes-group-version-kind"]["kind"].AsString() == "Deployment");
  CHECK(Named(patch["parameters"], "name", "fieldValidation") != nullptr);
}

TEST_CASE("old clients get OpenAPI v2 as protobuf") {
  FrontEndFixture f;
  const Reply v2 =
      f.Get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  CHECK(v2.raw.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  CHECK(v2.raw.body == std::string("\x0a\x03"
                                   "2.0\x12\x19\x0a\x0aKubernetes\x12\x0bunversioned\x42\x00",
                                   34));
  CHECK(f.Get("/openapi/v2").body["swagger"].AsString() == "2.0");
}

TEST_CASE("the version document is that of the configured release") {
  FrontEndFixture f;
  const Reply version = f.Get("/version");
  CHECK(version.body["gitVersion"].AsString() == "v1.35.3");
  CHECK(version.body["major"].AsString() == "1");
  CHECK(version.body["minor"].AsString() == "35");
}

}  // namespace
}  // namespace sandbox
