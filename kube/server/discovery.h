// Makes discovery documents: what is served, in the legacy form per group and in the aggregated
// form (v2), and answers the requests for them.
#ifndef KUBE_SERVER_DISCOVERY_H_
#define KUBE_SERVER_DISCOVERY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace kube::server {

// A subresource of a resource: its name, the kind of its documents, its verbs.
struct Subresource {
  std::string name;
  kube::Gvk kind;
  std::vector<std::string> verbs;
};

// One resource as clients discover it.
struct ServedResource {
  kube::Resource resource;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;  // Sorted.
  std::string storage_version_hash;
  std::vector<Subresource> subresources;
};
// In the order in which clients see them; groups and versions in the order of their first resource.
using ServedResources = std::vector<ServedResource>;

// Answers GET of /api, /apis and what is below them, but for resources. nullopt when the path is
// none of those, or its group or version is not served. The aggregated form has an ETag, and 304
// for a client that has it.
std::optional<base::HttpResponse> DiscoveryAnswer(const base::HttpRequest& request,
                                                  const ServedResources& served);

json::Value ApiVersionsDocument(absl::string_view server_address);  // GET /api
// Answers GET /apis. Clients of old versions look at the server address.
json::Value GroupListDocument(const ServedResources& served, absl::string_view server_address);
// Answers GET /apis/GROUP; null when there is no such group.
json::Value GroupDocument(const ServedResources& served, absl::string_view group);
// Answers GET /api/v1 and /apis/GROUP/VERSION; null when there is no such version.
json::Value ResourceListDocument(const ServedResources& served, absl::string_view group,
                                 absl::string_view version);
// Answers GET /api or /apis with as=APIGroupDiscoveryList.
json::Value AggregatedDocument(const ServedResources& served, bool core, absl::string_view version);

// Returns a quoted hash of a document, by which a client can ask whether it has changed.
std::string EtagOf(absl::string_view document);
// Adds the ETag of the body; makes the answer a 304 without a body if the client has it.
void AddEtag(const base::HttpRequest& request, base::HttpResponse& answer);

}  // namespace kube::server

#endif  // KUBE_SERVER_DISCOVERY_H_
