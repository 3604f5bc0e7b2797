// What clients of karmada-search read first.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "search/documents/schemas.h"
#include "search/documents/search_documents.h"

namespace search {
namespace {

constexpr char kVersionPath[] = "/apis/search.karmada.io/v1alpha1";

base::HttpRequest Get(const std::string& path, const std::string& accept = "application/json") {
  base::HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.headers["accept"] = accept;
  return request;
}

json::Value Document(const std::string& path) {
  const auto answer = SearchDocuments().Answer(Get(path));
  INFO(path);
  REQUIRE(answer.has_value());
  REQUIRE(answer->code == 200);
  const auto parsed = json::Parse(answer->body);
  REQUIRE(parsed.ok());
  return *parsed;
}

TEST_CASE("discovery has the resources and verbs of upstream") {
  std::string summary;
  const json::Value list = Document(kVersionPath);
  for (const json::Value& r : list["resources"].items()) {
    summary += r["name"].ToString() + "|" + r["singularName"].ToString() + "|" +
               r["kind"].ToString() + "|" + json::Write(r["verbs"]) + "|" +
               r["storageVersionHash"].ToString() + "\n";
    CHECK(r["namespaced"] == json::Value(false));
  }
  CHECK(summary ==
        "proxying|proxying|Proxying|[\"create\",\"delete\",\"get\",\"patch\",\"update\"]|\n"
        "resourceregistries|resourceregistry|ResourceRegistry|[\"create\",\"delete\","
        "\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]|fCsl2+C1ckI=\n"
        "resourceregistries/status||ResourceRegistry|[\"get\",\"patch\",\"update\"]|\n"
        "search|search|Search|[\"get\"]|\n");
}

// Collects every reference in a document.
void CollectReferences(const json::Value& value, std::vector<std::string>& out) {
  for (const json::Member& member : value.members()) {
    if (member.name() == "$ref") out.push_back(member.value.ToString());
    CollectReferences(member.value, out);
  }
  for (const json::Value& item : value.items()) CollectReferences(item, out);
}

TEST_CASE("every reference of both versions of OpenAPI leads to a schema") {
  struct Case {
    std::string path, prefix;
    json::Value schemas;
  };
  const json::Value v2 = Document("/openapi/v2");
  const std::string v3_path = absl::StrCat("/openapi/v3", kVersionPath);
  const json::Value v3 = Document(v3_path);
  const Case cases[] = {{"/openapi/v2", "#/definitions/", v2["definitions"]},
                        {v3_path, "#/components/schemas/", v3["components"]["schemas"]}};
  for (const Case& c : cases) {
    CHECK(c.schemas.size() > 15);
    std::vector<std::string> references;
    CollectReferences(Document(c.path), references);
    CHECK(references.size() > 20);
    for (const std::string& reference : references) {
      INFO(reference);
      absl::string_view name = reference;
      CHECK(absl::ConsumePrefix(&name, c.prefix));
      CHECK(c.schemas.Has(name));
    }
  }
}

TEST_CASE("the schema of ResourceRegistry has upstream's name and fields") {
  const std::string name =
      "com.github.karmada-io.karmada.pkg.apis.search.v1alpha1.ResourceRegistry";
  CHECK(SearchSchemaName("ResourceRegistry") == name);
  const json::Value schemas = SearchSchemas();
  const json::Value& schema = schemas[name];
  CHECK(schema["x-kubernetes-group-version-kind"].At(0) ==
        *json::Parse(R"({"group": "search.karmada.io", "version": "v1alpha1",
                         "kind": "ResourceRegistry"})"));
  CHECK(schema["properties"].size() == 5);
  const json::Value& spec = schemas[name + "Spec"]["properties"];
  CHECK(spec["targetCluster"]["allOf"].At(0)["$ref"].AsString() ==
        "#/components/schemas/com.github.karmada-io.karmada.pkg.apis.policy.v1alpha1."
        "ClusterAffinity");
  CHECK(spec.Has("backendStore"));
}

TEST_CASE("patches of version 3 take fieldValidation, so that kubectl validates on the server") {
  const json::Value v3 = Document(absl::StrCat("/openapi/v3", kVersionPath));
  const json::Value& patch =
      v3["paths"][absl::StrCat(kVersionPath, "/resourceregistries/{name}")]["patch"];
  CHECK(patch["parameters"].At(2)["name"].AsString() == "fieldValidation");
  const json::Value index = Document("/openapi/v3");
  CHECK(absl::StartsWith(
      index["paths"]["apis/search.karmada.io/v1alpha1"]["serverRelativeURL"].AsString(),
      absl::StrCat("/openapi/v3", kVersionPath, "?hash=")));
}

TEST_CASE("other paths and methods are left to others") {
  const SearchDocuments documents;
  for (const char* path : {"/api", "/api/v1", "/version", "/apis/other", "/openapi/v3/api/v1"}) {
    INFO(path);
    CHECK_FALSE(documents.Answer(Get(path)).has_value());
  }
  base::HttpRequest post = Get("/apis");
  post.method = "POST";
  CHECK_FALSE(documents.Answer(post).has_value());
  CHECK(Document("/")["paths"].At(0).AsString() == "/apis");
}

}  // namespace
}  // namespace search
