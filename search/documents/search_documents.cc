#include "search/documents/search_documents.h"

#include <string>
#include <utility>
#include <vector>

#include "api/resource_registry.h"
#include "kube/server/openapi.h"
#include "search/documents/schemas.h"

namespace search {
namespace {

using kube::server::OpenApiContents;
using kube::server::ServedResource;

ServedResource Connecting(const char* name, const char* kind, std::vector<std::string> verbs) {
  const kube::Gvk& group = api::ResourceRegistryResource().gvk;
  return kube::server::ConnectingResource({group.group, group.version, kind}, name,
                                          std::move(verbs));
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

}  // namespace

kube::server::ServedResources SearchResources() {
  return {Connecting("proxying", "Proxying", {"create", "delete", "get", "patch", "update"}),
          Registries(), Connecting("search", "Search", {"get"})};
}

SearchDocuments::SearchDocuments() : ApiDocuments(SearchResources(), Contents()) {}

}  // namespace search
