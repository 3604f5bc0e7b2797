// Selectors of lists and watches that select clusters: objects read from the caches have their
// cluster as the field "cluster" and as the label resource.karmada.io/cached-from-cluster, although
// neither is a part of them. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_CLUSTER_SELECTOR_H_
#define SEARCH_PROXY_INTERNAL_CLUSTER_SELECTOR_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/server/field_labels.h"
#include "kube/server/list_options.h"
#include "search/cache/cluster_choice.h"

namespace search {

// Takes the requirements on the cluster out of the selectors, and leaves of `choice` what they
// select. The field belongs to a kind that declares one of this name itself (`fields`).
absl::Status TakeClusterSelectors(const kube::server::FieldLabels& fields,
                                  kube::server::ListOptions& options, ClusterChoice& choice);

// 400 when a request that goes on to a member selects by the cluster: the member does not know such
// a label, and would take, for a condition with != or notin, every object for selected.
absl::Status CheckNoClusterSelectors(const base::HttpRequest& request);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_CLUSTER_SELECTOR_H_
