#include "api/resource_registry.h"

#include <utility>

#include "api/search_keys.h"

namespace api {

const kube::Resource& ResourceRegistryResource() {
  static const auto* const resource =
      new kube::Resource{{kSearchGroup, kSearchVersion, "ResourceRegistry"},
                         "resourceregistries",
                         /*namespaced=*/false};
  return *resource;
}

kube::Gvk RegistrySelector::gvk() const {
  if (api_version.empty() || kind.empty()) return {};
  absl::StatusOr<kube::Gvk> parsed = kube::ParseGvk(api_version, kind);
  return parsed.ok() ? *std::move(parsed) : kube::Gvk();
}

ClusterAffinity ResourceRegistryView::TargetCluster() const {
  return ClusterAffinity::FromJson(object_.spec()["targetCluster"]);
}

std::vector<RegistrySelector> ResourceRegistryView::Selectors() const {
  std::vector<RegistrySelector> out;
  for (const json::Value& item : object_.spec()["resourceSelectors"].items()) {
    out.push_back(
        {item["apiVersion"].ToString(), item["kind"].ToString(), item["namespace"].ToString()});
  }
  return out;
}

std::optional<OpenSearchTarget> ResourceRegistryView::OpenSearch() const {
  const json::Value& config = object_.spec().Get({"backendStore", "openSearch"});
  if (!config.is_object()) return std::nullopt;
  OpenSearchTarget target;
  for (const json::Value& address : config["addresses"].items()) {
    target.addresses.push_back(address.ToString());
  }
  target.secret = {config["secretRef"]["namespace"].ToString(),
                   config["secretRef"]["name"].ToString()};
  return target;
}

}  // namespace api
