// A request to the view of all member clusters:
//   /apis/search.karmada.io/v1alpha1/search/<category>/<path of a resource>?<query>
// Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_VIEW_REQUEST_H_
#define SEARCH_PROXY_INTERNAL_VIEW_REQUEST_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "kube/server/request_info.h"

namespace search {

struct ViewRequest {
  enum class Category { kCache, kOpenSearch } category = Category::kCache;
  // The request for the resource, as a member would get it.
  base::HttpRequest request;
  // A list, or a get of one object (for which the view answers with a list, too). Namespaces have
  // no namespace.
  kube::server::RequestInfo info;
};

// Returns whether a decoded path belongs to the view.
bool IsViewPath(absl::string_view path);

// The errors are API errors: 405 for methods other than GET and HEAD; 404 for another category;
// 400, mostly with upstream's texts, for a path that is not a resource's, and for a watch, which
// the proxy has. Upstream answers 500 instead, or ignores the parameter `watch`. REQUIRES:
// IsViewPath(outer.path).
absl::StatusOr<ViewRequest> ViewRequestOf(base::HttpRequest outer);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_VIEW_REQUEST_H_
