// The documents about what is served, as an aggregated API server answers them.
#include <catch2/catch.hpp>

#include "kube/server/discovery.h"
#include "kube/server/openapi.h"

namespace kube::server {
namespace {

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const kube::Gvk kRegistry{"search.karmada.io", "v1alpha1", "ResourceRegistry"};

ServedResources Served() {
  const kube::Gvk proxying{"search.karmada.io", "v1alpha1", "Proxying"};
  return {{{proxying, "proxying", false}, "proxying", {}, {}, {"create", "get"}, "", {}},
          {{kRegistry, "resourceregistries", false},
           "resourceregistry",
           {},
           {},
           {"create", "get", "list", "patch", "update", "watch"},
           "fCsl2+C1ckI=",
           {{"status", kRegistry, {"get", "patch", "update"}}}}};
}

base::HttpRequest Get(const std::string& path, const std::string& accept = "") {
  base::HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.headers["host"] = "karmada-search:443";
  if (!accept.empty()) request.headers["accept"] = accept;
  return request;
}

json::Value Document(const std::string& path, const std::string& accept = "") {
  const auto answer = DiscoveryAnswer(Get(path, accept), Served());
  INFO(path);
  REQUIRE(answer.has_value());
  CHECK(answer->code == 200);
  return *json::Parse(answer->body);
}

std::string HeaderOf(const base::HttpResponse& answer, absl::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_CASE("the legacy documents of one group") {
  CHECK(Document("/apis") == *json::Parse(R"({"kind": "APIGroupList", "apiVersion": "v1",
      "groups": [{"name": "search.karmada.io",
        "versions": [{"groupVersion": "search.karmada.io/v1alpha1", "version": "v1alpha1"}],
        "preferredVersion": {"groupVersion": "search.karmada.io/v1alpha1", "version": "v1alpha1"},
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0",
          "serverAddress": "karmada-search:443"}]}]})"));
  CHECK(Document("/apis/search.karmada.io")["kind"].AsString() == "APIGroup");
  CHECK(Document("/apis/search.karmada.io/v1alpha1") ==
        *json::Parse(R"({"kind": "APIResourceList", "apiVersion": "v1",
      "groupVersion": "search.karmada.io/v1alpha1", "resources": [
        {"name": "proxying", "singularName": "proxying", "namespaced": false, "kind": "Proxying",
         "verbs": ["create", "get"]},
        {"name": "resourceregistries", "singularName": "resourceregistry", "namespaced": false,
         "kind": "ResourceRegistry", "storageVersionHash": "fCsl2+C1ckI=",
         "verbs": ["create", "get", "list", "patch", "update", "watch"]},
        {"name": "resourceregistries/status", "singularName": "", "namespaced": false,
         "kind": "ResourceRegistry", "verbs": ["get", "patch", "update"]}]})"));
}

TEST_CASE("paths that are not served are left to others") {
  for (const char* path : {"/api", "/api/v1", "/apis/other.io", "/apis/search.karmada.io/v1", "/",
                           "/version", "/apis/search.karmada.io/v1alpha1/x/y"}) {
    INFO(path);
    CHECK_FALSE(DiscoveryAnswer(Get(path), Served()).has_value());
  }
}

TEST_CASE("the aggregated document is sent once to each client") {
  const auto first = DiscoveryAnswer(Get("/apis", kAggregated), Served());
  REQUIRE(first.has_value());
  CHECK(first->content_type == kAggregated);
  CHECK(HeaderOf(*first, "Vary") == "Accept");
  CHECK(HeaderOf(*first, "Cache-Control") == "public");
  const json::Value version = json::Parse(first->body)->Get({"items"}).At(0)["versions"].At(0);
  CHECK(version["freshness"].AsString() == "Current");
  CHECK(version["resources"].At(1)["subresources"].At(0)["subresource"].AsString() == "status");
  base::HttpRequest again = Get("/apis", kAggregated);
  again.headers["if-none-match"] = HeaderOf(*first, "Etag");
  CHECK(DiscoveryAnswer(again, Served())->code == 304);
  CHECK(DiscoveryAnswer(Get("/apis", "application/vnd.kubernetes.protobuf"), Served())->code ==
        406);
}

OpenApiContents Contents() {
  OpenApiContents contents{"karmada-search", "1.35", {}};
  contents.resources.push_back({{kRegistry, "resourceregistries", false},
                                {"create", "delete", "get", "list", "patch", "update"},
                                "x.ResourceRegistry"});
  contents.schemas = *json::Parse(R"({
      "x.ResourceRegistry": {"type": "object", "properties": {"spec": {"default": {},
          "allOf": [{"$ref": "#/components/schemas/x.Spec"}]}}},
      "x.Spec": {"type": "object", "properties": {"items": {"type": "array",
          "items": {"$ref": "#/components/schemas/x.Item"}}, "n": {"nullable": true,
          "type": "integer"}}},
      "x.Item": {"type": "string"}})");
  return contents;
}

TEST_CASE("version 3 says which patches a kind takes") {
  const json::Value document = OpenApiV3Document(Contents());
  const json::Value& one =
      document["paths"]["/apis/search.karmada.io/v1alpha1/resourceregistries/{name}"];
  CHECK(one["patch"]["x-kubernetes-group-version-kind"] == KindExtension(kRegistry));
  CHECK(one["patch"]["requestBody"]["content"].Has("application/merge-patch+json"));
  CHECK(one["patch"]["parameters"].At(2)["name"].AsString() == "fieldValidation");
  CHECK(
      one["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].AsString() ==
      "#/components/schemas/x.ResourceRegistry");
  CHECK(document["components"]["schemas"] == Contents().schemas);
  const json::Value& many =
      document["paths"]["/apis/search.karmada.io/v1alpha1/resourceregistries"];
  CHECK(many.Has("post"));
  CHECK_FALSE(many.Has("delete"));
}

TEST_CASE("version 2 has the same schemas as definitions") {
  const json::Value document = OpenApiV2Document(Contents());
  CHECK(document["swagger"].AsString() == "2.0");
  CHECK(document["definitions"] == *json::Parse(R"({
      "x.ResourceRegistry": {"type": "object", "properties": {"spec": {"default": {},
          "$ref": "#/definitions/x.Spec"}}},
      "x.Spec": {"type": "object", "properties": {"items": {"type": "array",
          "items": {"$ref": "#/definitions/x.Item"}}, "n": {"type": "integer"}}},
      "x.Item": {"type": "string"}})"));
  const json::Value& patch =
      document["paths"]["/apis/search.karmada.io/v1alpha1/resourceregistries/{name}"]["patch"];
  CHECK(patch["consumes"].size() == 3);
  CHECK(patch["parameters"].At(0) == *json::Parse(R"({"name": "dryRun", "in": "query",
      "type": "string", "uniqueItems": true})"));
  CHECK(patch["parameters"].At(3)["in"].AsString() == "body");
}

TEST_CASE("documents of version 3 are found by hashes that change with them") {
  const OpenApiText document{"apis/search.karmada.io/v1alpha1", "{\"openapi\":\"3.0.0\"}"};
  const auto index = OpenApiIndexAnswer(Get("/openapi/v3"), {document});
  const std::string url =
      (*json::Parse(index.body))["paths"][document.first]["serverRelativeURL"].ToString();
  const std::string path = "/openapi/v3/apis/search.karmada.io/v1alpha1?hash=";
  REQUIRE(url.substr(0, path.size()) == path);
  base::HttpRequest request = Get("/openapi/v3/apis/search.karmada.io/v1alpha1");
  const auto plain = OpenApiV3Answer(request, document);
  CHECK(plain.body == document.second);
  CHECK(HeaderOf(plain, "Cache-Control").empty());
  request.query = {{"hash", url.substr(path.size())}};
  CHECK(HeaderOf(OpenApiV3Answer(request, document), "Cache-Control") == "public, immutable");
  request.query = {{"hash", "old"}};
  const auto moved = OpenApiV3Answer(request, document);
  CHECK(moved.code == 301);
  CHECK(HeaderOf(moved, "Location") == url);
}

TEST_CASE("OpenAPI is JSON only") {
  const std::string v2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  CHECK(OpenApiV2Answer(Get("/openapi/v2", v2), "{}").code == 406);
  CHECK(OpenApiV2Answer(Get("/openapi/v2", v2 + ",application/json"), "{}").code == 200);
  // What kube-aggregator asks for.
  const auto json = OpenApiV2Answer(Get("/openapi/v2", "application/json"), "{}");
  CHECK(json.code == 200);
  base::HttpRequest again = Get("/openapi/v2", "application/json");
  again.headers["if-none-match"] = HeaderOf(json, "Etag");
  CHECK(OpenApiV2Answer(again, "{}").code == 304);
}

}  // namespace
}  // namespace kube::server
