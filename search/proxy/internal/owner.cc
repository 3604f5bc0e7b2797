#include "search/proxy/internal/owner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/search_keys.h"
#include "kube/server/api_errors.h"
#include "search/cache/list_answer.h"

namespace search {

namespace {

bool ChangesNothing(const InnerRequest& inner) {
  const std::string& method = inner.request.method;
  const std::string& subresource = inner.info.subresource;
  return (method == "GET" || method == "HEAD") &&
         (subresource == "log" || subresource == "status" || subresource == "scale");
}

absl::Status NotReadYet(std::vector<std::string> unread) {
  std::sort(unread.begin(), unread.end());
  return kube::server::ServiceUnavailable(
      absl::StrCat("the objects of clusters [", absl::StrJoin(unread, ", "),
                   "] have not been read yet, and one of them could have an object of this name; "
                   "choose a cluster with the query parameter \"",
                   api::kClusterParameter, "\", or try again"));
}

// Returns what the resource is called in messages about names of its subresource "proxy"; "" when
// it has no such subresource.
std::string ProxiedThing(const kube::Gvr& gvr) {
  if (!gvr.group.empty()) return "";
  for (const char* thing : {"pod", "service", "node"}) {
    if (gvr.resource == absl::StrCat(thing, "s")) return thing;
  }
  return "";
}

}  // namespace

absl::StatusOr<kube::ObjectKey> ObjectOf(const kube::server::RequestInfo& info) {
  const std::string thing = ProxiedThing(info.gvr);
  if (info.subresource != "proxy" || thing.empty()) return info.key;
  const std::vector<std::string> parts = absl::StrSplit(info.key.name, ':');
  const std::string scheme = parts.size() == 3 ? parts[0] : "";
  const std::string name = parts.size() == 3 ? parts[1] : parts[0];
  const bool known_scheme = scheme.empty() || scheme == "http" || scheme == "https";
  if (parts.size() > 3 || name.empty() || !known_scheme) {
    return kube::server::BadRequest(
        absl::StrCat("invalid ", thing, " request \"", info.key.name, "\""));
  }
  return kube::ObjectKey{info.key.ns, name};
}

absl::StatusOr<std::string> OwnerOf(const InnerRequest& inner, OwnerHints hints) {
  const kube::server::GroupName resource{inner.info.gvr.group, inner.info.gvr.resource};
  const std::string& name = inner.info.key.name;
  const bool is_elsewhere = !hints.origin.empty() && hints.origin != inner.cluster;
  if (!inner.cluster.empty() && inner.request.method == "PUT" && is_elsewhere) {
    return kube::server::Conflict(
        resource, name,
        absl::StrCat("the object was read from cluster ", hints.origin, ", and cluster ",
                     inner.cluster, " was chosen; please read it from there and try again"));
  }
  if (!inner.cluster.empty()) return inner.cluster;
  std::vector<std::string>& holders = hints.holders.clusters;
  const bool from_holder = std::find(holders.begin(), holders.end(), hints.origin) != holders.end();
  if (from_holder) return hints.origin;
  const bool is_known = holders.size() == 1 && ChangesNothing(inner);
  if (!hints.holders.unread.empty() && !is_known) return NotReadYet(hints.holders.unread);
  if (holders.empty()) return kube::server::NotFound(resource, name);
  if (!hints.origin.empty()) {
    return kube::server::Conflict(
        resource, name,
        absl::StrCat("the object was read from cluster ", hints.origin,
                     ", which does not have it any more; please read it again"));
  }
  if (holders.size() == 1) return std::move(holders[0]);
  return kube::server::Conflict(resource, name, AmbiguousObjects(std::move(holders)));
}

}  // namespace search
