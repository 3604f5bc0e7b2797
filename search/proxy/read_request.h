// What a get, list or watch of the cache asks for, and the forms of its answers.
#ifndef SEARCH_PROXY_READ_REQUEST_H_
#define SEARCH_PROXY_READ_REQUEST_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/aggregation/api_handler.h"
#include "kube/meta/names.h"
#include "kube/server/list_options.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"
#include "search/cache/cluster_choice.h"
#include "search/cache/list_answer.h"
#include "search/cache/object_filter.h"
#include "search/cache/sorted_list.h"
#include "search/proxy/custom_kinds.h"

namespace search {

struct ReadRequest {
  kube::Resource resource;
  kube::ObjectKey key;  // The name is "" for all objects.
  // Of a list or watch it is what the selectors leave of the caller's choice.
  ClusterChoice cluster;
  kube::server::AnswerForm form;
  kube::server::IncludeObject include = kube::server::IncludeObject::kMetadata;
  // The columns of Tables: the kind's own ones, and the cluster. Null for other forms.
  std::shared_ptr<const kube::server::TablePrinter> printer;
  // Stands for the columns that a definition has, and is the same in all requests as long as it has
  // them. Null for other kinds and forms.
  std::shared_ptr<const void> columns;
  kube::server::ListOptions options;
  ObjectFilter filter;
  kube::SortOrder sort;  // Of a list.
  // Whether the client accepts long lists compressed (APIResponseCompression). Watches are not
  // compressed, as kube-apiserver's are not.
  bool gzip = false;

  // Reads the parameters of a request. 400, 406 and 422 with the API server's messages.
  static absl::StatusOr<ReadRequest> Read(const kube::aggregation::ApiRequest& request,
                                          const kube::Resource& resource,
                                          const std::string& cluster, const CustomKinds& kinds);
};

// Returns the fields that objects of the resource have to keep as values, so that every selector
// that the API server knows for a built-in kind can be evaluated
// (MultiClusterCache::Options::fields). Those that the definition of a custom kind declares may
// change at any time; they are read from the text of the objects.
std::vector<std::string> SelectableFields(const kube::Resource& resource);

// Returns the columns of Tables of the resource: its own, and the cluster after the name.
std::shared_ptr<const kube::server::TablePrinter> PrinterWithCluster(
    const CustomKinds& kinds, const kube::Resource& resource);

// Returns the object with its origin and the version, as values, for forms that need these.
kube::ObjectPtr DecodedObject(const kube::Object& cached, const std::string& cluster,
                              const std::string& version);

// Returns what a 404 says, after "not found", about the clusters that may have the object all the
// same: "; cluster member3 has not been read: <reason>".
std::string UnreadText(const std::vector<MissingCluster>& unread);

// Returns what an error says about clusters whose objects are missing, or may be old: "; cluster
// member3 is missing: <reason>".
std::string MissingText(const std::vector<MissingCluster>& missing);

// Adds a header Warning for each cluster that has not been read, so that it may have an object of
// the name that the request is for, too; as AddWarnings.
void AddUnreadWarnings(const std::vector<MissingCluster>& unread, base::HttpResponse& response);

// Adds a header Warning for each cluster that is missing or stale: the missing ones first, ten by
// name and the rest by number. Adds headers for programs, too: api::kMissingClustersHeader and
// api::kStaleClustersHeader with up to 200 names each; "*" at the end stands for further ones.
void AddWarnings(const std::vector<MissingCluster>& missing, base::HttpResponse& response);

}  // namespace search

#endif  // SEARCH_PROXY_READ_REQUEST_H_
