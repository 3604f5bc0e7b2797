// The request inside a request to the global proxy:
//   /apis/search.karmada.io/v1alpha1/proxying/karmada/proxy/<path of the inner request>?<query>
// The name of a cluster in the place of "karmada" chooses this cluster, so that rights to the
// subresource proxying/proxy can be given for single clusters. (A cluster of the name "karmada" has
// to be chosen in another way.)
//
// A path that two programs read differently lets a caller evade authorization. So paths are checked
// and never normalised: what upstream resolves silently (dot segments, doubled and encoded slashes)
// is refused here.
#ifndef SEARCH_PROXY_INTERNAL_INNER_REQUEST_H_
#define SEARCH_PROXY_INTERNAL_INNER_REQUEST_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "kube/server/request_info.h"

namespace search {

struct InnerRequest {
  // The request as a member or the control plane gets it. Its target is the caller's, byte for
  // byte, from the inner path on, without what is for the proxy: the choice of a cluster, and
  // whether the answer has to be complete.
  base::HttpRequest request;
  // What it asks for. Namespaces have no namespace here.
  kube::server::RequestInfo info;
  std::string cluster;  // The chosen cluster; "" when the caller chose none.
  // The path names the cluster: the caller takes the proxy for the API server of this one.
  bool cluster_in_path = false;
  // Whether the caller demands a complete answer; nullopt when it does not say.
  std::optional<bool> complete;
};

// 400 for a text that cannot be the name of a cluster, such as a list of names.
absl::Status CheckClusterName(absl::string_view name);

// Returns whether a decoded path belongs to the proxy.
bool IsProxyingPath(absl::string_view path);

// The errors are API errors: 404 when the path does not lead to a proxy (it ends before the segment
// "proxy"), 400 for a path or a choice of a cluster that is refused.
// REQUIRES: IsProxyingPath(outer.path).
absl::StatusOr<InnerRequest> InnerRequestOf(base::HttpRequest outer);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_INNER_REQUEST_H_
