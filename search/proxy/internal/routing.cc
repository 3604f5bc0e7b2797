#include "search/proxy/internal/routing.h"

#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

bool IsRead(const kube::server::RequestInfo& info) {
  return info.subresource.empty() &&
         (info.verb == "get" || info.verb == "list" || info.verb == "watch");
}

absl::Status NotSupported(const kube::server::RequestInfo& info, absl::string_view verb) {
  return kube::server::MethodNotSupported({info.gvr.group, info.gvr.resource}, verb);
}

absl::StatusOr<Route> RouteOfRegistered(const InnerRequest& inner) {
  const kube::server::RequestInfo& info = inner.info;
  if (IsRead(info)) {
    // The deprecated form of a watch has the verb whatever its method is.
    if (inner.request.method == "GET" || inner.request.method == "HEAD") return Route::kCache;
    return NotSupported(info, inner.request.method);
  }
  if (!inner.cluster.empty()) return Route::kMember;
  const bool names_object = !info.key.name.empty();
  if (info.verb == "create" && info.subresource.empty()) return NotSupported(info, info.verb);
  if (names_object) return Route::kMember;
  return NotSupported(info, info.verb.empty() ? inner.request.method : info.verb);
}

}  // namespace

absl::StatusOr<Route> RouteOf(const InnerRequest& inner, bool registered) {
  if (registered && inner.info.is_resource) return RouteOfRegistered(inner);
  if (!inner.cluster.empty()) {
    return kube::server::BadRequest(absl::StrCat(
        "cluster ", inner.cluster,
        " was chosen, but no ResourceRegistry selects this resource there; use clusters/",
        inner.cluster, "/proxy of cluster.karmada.io"));
  }
  if (IsProxyingPath(inner.request.path)) {
    return kube::server::BadRequest("a request to the proxy must not lead to the proxy again");
  }
  return Route::kControlPlane;
}

}  // namespace search
