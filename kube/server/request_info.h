// Determines the subject of a request from its path and method, like apiserver's
// RequestInfoFactory.NewRequestInfo.
#ifndef KUBE_SERVER_REQUEST_INFO_H_
#define KUBE_SERVER_REQUEST_INFO_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "kube/meta/names.h"

namespace kube::server {

struct RequestInfo {
  bool is_resource = false;  // False for a path such as /version or /apis/apps/v1.
  kube::Gvr gvr;
  // Namespace and name, if the path has them. Unlike in apiserver's RequestInfo, a request for a
  // Namespace object itself has only its name.
  kube::ObjectKey key;
  std::string subresource;
  // What follows the subresource, with a leading slash: "/api/v1/pods" in
  // ".../proxying/karmada/proxy/api/v1/pods". Most resources have nothing there.
  std::string sub_path;
  // As in audit logs: get, list, watch, create, update, patch, delete, deletecollection, proxy.
  // The method in lower case when this is not a resource.
  std::string verb;
  // Whether the path has the verb, in the deprecated form "/api/v1/watch/pods".
  bool verb_in_path = false;

  // Returns "deployments", "deployments/status", or "" when this is not a resource.
  std::string ResourceText() const;
};

RequestInfo ReadRequest(const base::HttpRequest& request);
// As above, for a path inside another path; `watch` is what the query parameter says. Empty
// segments of the path are ignored.
RequestInfo ReadRequest(absl::string_view method, absl::string_view path, bool watch);

// Returns the value of a boolean query parameter as the API server decodes it: false when it is
// absent, "0" or "false" (in any case of letters); everything else, the empty text included, is
// true.
bool QueryFlag(const base::HttpRequest& request, absl::string_view name);

}  // namespace kube::server

#endif  // KUBE_SERVER_REQUEST_INFO_H_
