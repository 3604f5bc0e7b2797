// Which members of the scope are not known, so that reads and requests for one object may lack what
// they have.
#ifndef SEARCH_PROXY_INTERNAL_UNREAD_MEMBERS_H_
#define SEARCH_PROXY_INTERNAL_UNREAD_MEMBERS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "search/cache/list_answer.h"
#include "search/cache/multi_cluster_cache.h"
#include "search/proxy/cached_reads.h"

namespace search {

// Thread-safe if its functions are.
class UnreadMembers {
 public:
  // Returns the clusters that the scope has the resource of.
  using ClustersFn = std::function<std::vector<std::string>(const kube::Gvr& gvr)>;
  // Returns whether the Cluster is Ready.
  using IsReadyFn = std::function<bool(const std::string& cluster)>;

  // `is_ready` may be null: all are. REQUIRES: the cache outlives the object.
  UnreadMembers(const MultiClusterCache& cache, ClustersFn clusters, IsReadyFn is_ready)
      : cache_(cache), clusters_(std::move(clusters)), is_ready_(std::move(is_ready)) {}

  // Returns the clusters of the scope (of all, or the caller's choice) that have no cache yet,
  // because the scope is published before the caches follow it. To be asked before these are read.
  std::vector<MissingCluster> NotBegun(const kube::Gvr& gvr, const ClusterChoice& choice) const;
  // Returns these and MultiClusterCache::Unread.
  std::vector<MissingCluster> All(const kube::Gvr& gvr, const ClusterChoice& choice) const;
  Holders HoldersOf(const kube::Gvr& gvr, const kube::ObjectKey& key) const;
  // A first list of a cluster that is not Ready may never come: nobody waits for it
  // (MissingCluster::being_read).
  std::vector<MissingCluster> Judged(std::vector<MissingCluster> missing) const;

 private:
  const MultiClusterCache& cache_;
  const ClustersFn clusters_;
  const IsReadyFn is_ready_;
};

// Returns what one or the other names, each cluster once.
std::vector<MissingCluster> Joined(std::vector<MissingCluster> a,
                                   const std::vector<MissingCluster>& b);

// Returns whether it cannot be said that an object which was found nowhere does not exist: a first
// list that may bring it is under way, or none of the clusters that were asked for (so many) is
// known. Clients act on a 404 (they create the object, or take it for deleted), so that 503 is
// right then; otherwise one broken cluster would fail every request for a name that nobody has.
bool MayExist(const std::vector<MissingCluster>& unread, size_t asked);

// Returns the 503 for what these clusters lack. It asks clients to try again (Retry-After, which
// kubectl follows ten times before it shows the message) only if a first list is under way.
absl::Status LackError(absl::string_view message, const std::vector<MissingCluster>& missing);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_UNREAD_MEMBERS_H_
