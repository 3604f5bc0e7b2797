// Determines the subject of a request from its path and method, like apiserver's RequestInfo.
#ifndef SANDBOX_HTTP_REQUEST_INFO_H_
#define SANDBOX_HTTP_REQUEST_INFO_H_

#include <string>

#include "base/http_server.h"
#include "kube/meta/names.h"

namespace sandbox {

struct RequestInfo {
  bool is_resource = false;  // False for a path such as /version or /apis/apps/v1.
  kube::Gvr gvr;
  kube::ObjectKey key;  // Namespace and name, if the path has them.
  std::string subresource;
  // As in audit logs: get, list, watch, create, update, patch, delete, deletecollection.
  std::string verb;

  // Returns "deployments", "deployments/status", or "" when this is not a resource.
  std::string ResourceText() const;
};

RequestInfo ReadRequest(const base::HttpRequest& request);

// Returns the value of a boolean query parameter: "1" and "true" are true.
bool QueryFlag(const base::HttpRequest& request, absl::string_view name);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_REQUEST_INFO_H_
