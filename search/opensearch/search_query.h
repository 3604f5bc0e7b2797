// Lists Kubernetes objects from the documents, for the parameters that a list of the Kubernetes API
// has.
#ifndef SEARCH_OPENSEARCH_SEARCH_QUERY_H_
#define SEARCH_OPENSEARCH_SEARCH_QUERY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"
#include "kube/meta/sort_order.h"
#include "search/opensearch/document_hits.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

struct DocumentQuery {
  kube::Gvk kind;
  std::vector<std::string> clusters;  // Empty: all.
  std::string ns, name;               // "": all.
  kube::LabelSelector labels;
  // metadata.name, metadata.namespace, api::kClusterField, and any path below spec or status.
  std::vector<kube::FieldSelector::Term> fields;
  // A further condition, which OpenSearch does not know. Optional.
  std::function<bool(const kube::Object& object)> also;
  int64_t limit = 0;  // 0: all.
  std::string continue_token;
  kube::SortOrder sort;  // Empty: by cluster, namespace and name.
  // kDeadlineExceeded when not everything is read by then; of the clients' clock.
  base::SteadyTime deadline = base::SteadyTime::InfiniteFuture();
  // For what is read and found. Optional.
  TakeMemoryFn take = nullptr;
};

struct DocumentPage {
  // The objects as compact JSON, each annotated with the cluster it was cached from. As values they
  // would take several times as much.
  std::vector<std::string> items;
  // Has the bytes of the items, for as long as it is kept.
  std::shared_ptr<AnswerSize> size;
  std::string continue_token;  // "" at the end.
  // How many objects follow: an estimate, at least 1 with a continue token and 0 without.
  int64_t remaining = 0;
};

// Returns the query (not the whole body) for everything but limit and continue token.
// kInvalidArgument for selectors that cannot be expressed.
absl::StatusOr<json::Value> QueryOf(const DocumentQuery& query);

// Returns whether the list has an object that OpenSearch has found.
bool Means(const DocumentQuery& query, const kube::Object& object);

// Asks all of several OpenSearches; what more than one has is listed once. An error of one is an
// error of the whole.
//
// Pages are not of one snapshot. An object that exists all the time is in exactly one page, unless
// the list is sorted by a field that changes meanwhile. kInvalidArgument also for a continue token
// that is not one of this list, and for a page of more than 64 MB of text; an index that does not
// exist has no objects.
//
// A sorted page reads everything that the query finds and keeps no more of it than the page has.
absl::StatusOr<DocumentPage> SearchDocuments(const std::vector<OpenSearchClient*>& clients,
                                             absl::string_view index_prefix,
                                             const DocumentQuery& query,
                                             const base::StopToken& stop);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_SEARCH_QUERY_H_
