// Makes discovery documents: what is served, in the legacy form per group and in the aggregated
// form (v2).
#ifndef SANDBOX_HTTP_DISCOVERY_H_
#define SANDBOX_HTTP_DISCOVERY_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

using ServedResources = std::vector<ResourceInfoPtr>;

json::Value ApiVersionsDocument(absl::string_view server_address);  // GET /api
json::Value GroupListDocument(const ServedResources& served);       // GET /apis
// Answers GET /apis/GROUP; null when there is no such group.
json::Value GroupDocument(const ServedResources& served, const std::string& group);
// Answers GET /api/v1 and /apis/GROUP/VERSION; null when there is no such version.
json::Value ResourceListDocument(const ServedResources& served, const std::string& group,
                                 const std::string& version);
// Answers GET /api or /apis with as=APIGroupDiscoveryList.
json::Value AggregatedDocument(const ServedResources& served, bool core, absl::string_view version);

// A subresource of a resource: its name, the kind of its documents, its verbs.
struct Subresource {
  std::string name;
  kube::Gvk kind;
  std::vector<std::string> verbs;
};
std::vector<Subresource> SubresourcesOf(const ResourceInfo& info);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_DISCOVERY_H_
