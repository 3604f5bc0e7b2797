#include "search/proxy/internal/routing.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/search_keys.h"
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

// The objects of one cluster allow it. The beginning is what API servers say.
absl::Status NotOfAllClusters(const kube::server::RequestInfo& info, absl::string_view verb) {
  kube::server::ApiError error = kube::server::ErrorOf(NotSupported(info, verb));
  absl::StrAppend(&error.message,
                  " of all clusters together; choose one: proxying/<cluster>/proxy, ",
                  api::kClusterParameter, "=<cluster> or the header ", api::kClusterHeader);
  return kube::server::ToStatus(error);
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
  if (info.verb == "create" && info.subresource.empty()) return NotOfAllClusters(info, info.verb);
  if (names_object) return Route::kMember;
  if (info.verb == "deletecollection") return NotOfAllClusters(info, info.verb);
  return NotSupported(info, info.verb.empty() ? inner.request.method : info.verb);
}

// Clients ask for these before they ask for a resource. The control plane answers for all clusters,
// since the resources that it serves are those that registries can name.
bool IsDiscovery(const InnerRequest& inner) {
  if (inner.info.is_resource) return false;
  if (inner.request.method != "GET" && inner.request.method != "HEAD") return false;
  const absl::string_view path = absl::StripSuffix(inner.request.path, "/");
  return path == "/api" || path == "/apis" || path == "/version" ||
         absl::StartsWith(path, "/api/") || absl::StartsWith(path, "/apis/") ||
         absl::StartsWith(path, "/openapi/");
}

absl::Status NotSelected(const InnerRequest& inner, const std::vector<std::string>& clusters) {
  const std::string what =
      inner.info.is_resource
          ? kube::server::GroupName{inner.info.gvr.group, inner.info.gvr.resource}.ToString()
          : inner.request.path;
  return kube::server::BadRequest(absl::StrCat(
      "cluster ", inner.cluster, " was chosen, but no ResourceRegistry selects ", what,
      inner.info.key.ns.empty() ? "" : absl::StrCat(" of namespace ", inner.info.key.ns), " there",
      SelectedIn(clusters), "; for all that the cluster has use clusters/", inner.cluster,
      "/proxy of cluster.karmada.io"));
}

}  // namespace

std::string SelectedIn(const std::vector<std::string>& clusters) {
  if (clusters.empty()) return "";
  constexpr size_t kMost = 10;
  const size_t named = std::min(clusters.size(), kMost);
  const auto end = clusters.begin() + static_cast<std::ptrdiff_t>(named);
  return absl::StrCat("; it is selected in clusters [", absl::StrJoin(clusters.begin(), end, ", "),
                      named < clusters.size() ? ", ..." : "", "]");
}

absl::StatusOr<Route> RouteOf(const InnerRequest& inner, bool registered,
                              const std::vector<std::string>& clusters) {
  if (registered && inner.info.is_resource) return RouteOfRegistered(inner);
  if (!inner.cluster.empty() && !(inner.cluster_in_path && IsDiscovery(inner))) {
    return NotSelected(inner, clusters);
  }
  if (IsProxyingPath(inner.request.path)) {
    return kube::server::BadRequest("a request to the proxy must not lead to the proxy again");
  }
  return Route::kControlPlane;
}

}  // namespace search
