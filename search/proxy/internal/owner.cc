#include "search/proxy/internal/owner.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "search/cache/list_answer.h"
#include "search/proxy/internal/unread_members.h"
#include "search/proxy/read_request.h"

namespace search {

namespace {

bool ChangesNothing(const InnerRequest& inner) {
  const std::string& method = inner.request.method;
  const std::string& subresource = inner.info.subresource;
  return (method == "GET" || method == "HEAD") &&
         (subresource == "log" || subresource == "status" || subresource == "scale");
}

// `unread`: those of which it is not known.
absl::Status NotKnown(const InnerRequest& inner, const std::vector<MissingCluster>& unread) {
  const kube::server::GroupName resource{inner.info.gvr.group, inner.info.gvr.resource};
  return LackError(absl::StrCat("it is not known which cluster has ", resource.ToString(), " \"",
                                inner.info.key.name, "\"", UnreadText(unread),
                                "; try again, or choose a cluster ", "with the query parameter \"",
                                api::kClusterParameter,
                                "\" or a server URL that ends in proxying/<cluster>/proxy"),
                   unread);
}

// 503 if the request has to wait for what a member has. One whose objects cannot be read, or take
// long to be read, must not stop what is for the objects of the others.
absl::Status CheckUnread(const InnerRequest& inner, const OwnerHints& hints) {
  const Holders& holders = hints.holders;
  std::vector<MissingCluster> awaited;
  if (holders.clusters.empty()) {
    const bool is_open =
        hints.complete ? !holders.unread.empty() : MayExist(holders.unread, holders.asked);
    if (!is_open) return absl::OkStatus();
    awaited = holders.unread;
  } else if (holders.clusters.size() == 1 && ChangesNothing(inner) && !hints.complete) {
    return absl::OkStatus();
  } else {
    std::copy_if(
        holders.unread.begin(), holders.unread.end(), std::back_inserter(awaited),
        [&hints](const MissingCluster& m) { return m.just_begun || (hints.complete && !m.stale); });
  }
  return awaited.empty() ? absl::OkStatus() : NotKnown(inner, awaited);
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
  RETURN_IF_ERROR(CheckUnread(inner, hints));
  for (const MissingCluster& m : hints.holders.unread) {
    if (m.cluster == hints.origin && !m.stale) return NotKnown(inner, {m});
  }
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
