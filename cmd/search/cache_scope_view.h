// What the scope of the registries means for the cache of members, for those who route requests by
// it, and for the registries' status.
#ifndef CMD_SEARCH_CACHE_SCOPE_VIEW_H_
#define CMD_SEARCH_CACHE_SCOPE_VIEW_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/meta/names.h"
#include "kube/server/request_info.h"
#include "search/cache/multi_cluster_cache.h"
#include "search/opensearch/mirror_set.h"
#include "search/registry/scope.h"
#include "search/registry/status_conditions.h"

namespace cmd {

search::CachedResources CachedResourcesOf(const search::Scope& scope);

// Returns what search::IsRegisteredFn returns when this is the scope.
bool IsRegistered(const search::Scope& scope, const kube::server::RequestInfo& info,
                  const std::string& cluster);
// Returns the clusters that have to be cached for the resource.
std::vector<std::string> ClustersOf(const search::Scope& scope, const kube::Gvr& gvr);
// Returns whether a registry matches the Cluster, and it is Ready.
bool IsReady(const search::Scope& scope, const std::string& cluster);
// Returns nullopt when no registry names it.
std::optional<kube::Resource> RegisteredResource(const search::Scope& scope, const kube::Gvr& gvr);

// What the status of a mirror is as the condition Mirrored of a registry that asks for it.
search::MirrorState StateOfMirror(const search::MirrorSet::TargetStatus& status,
                                  const api::OpenSearchTarget& target);

// Thread-safe. The states are those of at most a second ago, because asking for each of them by
// itself would cost the square of their number.
class CacheStatesView : public search::CacheStates {
 public:
  // `mirrors` may be null. REQUIRES: all outlive the object.
  CacheStatesView(const search::MultiClusterCache& cache, search::MirrorSet* mirrors,
                  const base::Clock& clock)
      : cache_(cache), mirrors_(mirrors), clock_(clock) {}
  std::optional<search::CachedSlice> StateOf(const std::string& cluster,
                                             const kube::Gvr& gvr) const override;
  std::optional<search::MirrorState> MirrorOf(const api::OpenSearchTarget& target) const override;

 private:
  void Refresh() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const search::MultiClusterCache& cache_;
  search::MirrorSet* const mirrors_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  mutable base::SteadyTime read_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  mutable std::map<std::pair<std::string, kube::Gvr>, search::CachedSlice> states_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace cmd

#endif  // CMD_SEARCH_CACHE_SCOPE_VIEW_H_
