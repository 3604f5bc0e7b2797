// How the handlers of this folder find out whether a ResourceRegistry selects what a request is
// for.
#ifndef SEARCH_PROXY_REGISTRATION_H_
#define SEARCH_PROXY_REGISTRATION_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/server/request_info.h"

namespace search {

// Returns whether a ResourceRegistry selects the resource of a request in the cluster, and there
// the namespace of the request; "" is any cluster, and any namespace. Thread-safe; does not block.
//
// The error is the API error 503 with Retry-After, for as long as this cannot be determined
// (nothing has been read yet). Such a request must be answered by nobody: an answer of the control
// plane would show other objects than those of the members.
using IsRegisteredFn = std::function<absl::StatusOr<bool>(const kube::server::RequestInfo& info,
                                                          const std::string& cluster)>;

}  // namespace search

#endif  // SEARCH_PROXY_REGISTRATION_H_
