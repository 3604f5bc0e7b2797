#include "search/documents/search_documents.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/resource_registry.h"
#include "kube/server/negotiation.h"
#include "search/documents/schemas.h"

namespace search {
namespace {

using kube::server::OpenApiContents;
using kube::server::ServedResource;

// A resource that only leads elsewhere ("connect").
ServedResource Connecting(const char* name, const char* kind, std::vector<std::string> verbs) {
  ServedResource out;
  const kube::Gvk& group = api::ResourceRegistryResource().gvk;
  out.resource = {{group.group, group.version, kind}, name, false};
  out.singular = name;
  out.verbs = std::move(verbs);
  return out;
}

ServedResource Registries() {
  ServedResource out;
  out.resource = api::ResourceRegistryResource();
  out.singular = "resourceregistry";
  out.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  // What upstream answers, so that clients that compare it see no change of storage.
  out.storage_version_hash = "fCsl2+C1ckI=";
  out.subresources = {{"status", out.resource.gvk, {"get", "patch", "update"}}};
  return out;
}

OpenApiContents Contents() {
  OpenApiContents contents;
  contents.title = "karmada-search";
  contents.version = "1.35";
  contents.schemas = SearchSchemas();
  const ServedResource registries = Registries();
  contents.resources.push_back(
      {registries.resource, registries.verbs, SearchSchemaName(registries.resource.gvk.kind)});
  return contents;
}

json::Value RootPaths(const kube::Gvk& gvk) {
  const std::string group = absl::StrCat("/apis/", gvk.group);
  const std::string version = absl::StrCat(group, "/", gvk.version);
  return json::Value::Object(
      {{"paths",
        json::Value::Array({"/apis", group, version, "/healthz", "/livez", "/metrics",
                            "/openapi/v2", "/openapi/v3", absl::StrCat("/openapi/v3", version),
                            "/readyz", "/version"})}});
}

}  // namespace

kube::server::ServedResources SearchResources() {
  return {Connecting("proxying", "Proxying", {"create", "delete", "get", "patch", "update"}),
          Registries(), Connecting("search", "Search", {"get"})};
}

SearchDocuments::SearchDocuments() : served_(SearchResources()) {
  const OpenApiContents contents = Contents();
  const kube::Gvk& gvk = api::ResourceRegistryResource().gvk;
  openapi_v2_ = json::Write(kube::server::OpenApiV2Document(contents));
  openapi_v3_ = {kube::server::OpenApiPath(gvk.group, gvk.version),
                 json::Write(kube::server::OpenApiV3Document(contents))};
}

std::optional<base::HttpResponse> SearchDocuments::Answer(const base::HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  if (request.path == "/openapi/v2") return kube::server::OpenApiV2Answer(request, openapi_v2_);
  if (request.path == "/openapi/v3") {
    return kube::server::OpenApiIndexAnswer(request, {openapi_v3_});
  }
  absl::string_view path = request.path;
  if (absl::ConsumePrefix(&path, "/openapi/v3/")) {
    if (path != openapi_v3_.first) return std::nullopt;
    return kube::server::OpenApiV3Answer(request, openapi_v3_);
  }
  if (path == "/") {
    return kube::server::AnswerOf(200, RootPaths(api::ResourceRegistryResource().gvk), {});
  }
  return kube::server::DiscoveryAnswer(request, served_);
}

}  // namespace search
