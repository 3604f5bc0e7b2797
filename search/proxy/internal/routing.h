// Determines who answers a request to the global proxy.
#ifndef SEARCH_PROXY_INTERNAL_ROUTING_H_
#define SEARCH_PROXY_INTERNAL_ROUTING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/proxy/internal/inner_request.h"

namespace search {

enum class Route {
  kCache,         // get, list and watch of a registered resource: the cache of all members.
  kMember,        // The member that has the named object, or that the caller has chosen.
  kControlPlane,  // Everything that no ResourceRegistry names.
};

// `registered`: a ResourceRegistry selects the request's resource, in the chosen cluster if there
// is one, whether or not objects are cached by now. (A registered resource is never looked for in
// the control plane, not even in a namespace that no registry names.)
//
// The errors are API errors: 405 for what cannot be done to objects of several clusters, such as
// create and deletecollection, unless the caller has chosen one; 400 when a cluster is chosen for
// something that is not registered (but for discovery below the path that names the cluster), or
// when the request would come back to the proxy.
// The 400 names `clusters`, in which the resource is registered.
absl::StatusOr<Route> RouteOf(const InnerRequest& inner, bool registered,
                              const std::vector<std::string>& clusters = {});

// Returns "; it is selected in clusters [a, b]", with the first ten names, for messages about a
// cluster in which a resource is not registered; "" when there are none.
std::string SelectedIn(const std::vector<std::string>& clusters);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_ROUTING_H_
