// The caches of member clusters and the mirrors in OpenSearch, kept true to the scope of the
// registries and to the Clusters.
#ifndef CMD_SEARCH_MEMBER_CACHES_H_
#define CMD_SEARCH_MEMBER_CACHES_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/member_access.h"
#include "cmd/search/memory_gate.h"
#include "cmd/search/mirror_wiring.h"
#include "cmd/search/options.h"
#include "kube/runtime/cluster_set.h"
#include "search/cache/multi_cluster_cache.h"
#include "search/registry/scope.h"

namespace cmd {

class MemberCaches {
 public:
  // REQUIRES: all but `options` outlive the object.
  struct Parts {
    const SearchOptions& options;
    ControlPlane& control_plane;
    search::CacheScope& scope;
    const base::Clock& clock;
    metrics::Registry& registry;
  };
  // Subscribes to the scope, which must not run yet, and must have ended before this is destroyed.
  explicit MemberCaches(const Parts& parts);
  ~MemberCaches();
  MemberCaches(const MemberCaches&) = delete;

  search::MultiClusterCache& cache() { return *cache_; }
  MemberAccess& access() { return access_; }
  // nullptr with --disable-search.
  MirrorWiring* mirrors() { return mirrors_.get(); }
  static const char* IndexPrefix();

  // OK when every cache that the scope asks for has listed, or has failed to. Clusters that are not
  // ready are not waited for.
  absl::Status AllSynced() const;
  // Takes note of the memory in use: near the limit no cache is begun, and first lists that are
  // under way are broken off.
  void OnMemory(const base::MemoryUse& use);
  // Follows Clusters and Secrets until stopped; `left` is called for Clusters that were removed.
  // Blocks.
  void Run(const std::function<void(const std::string& cluster)>& left,
           const base::StopToken& stop);

 private:
  void OnScope(const search::ScopePtr& before, const search::ScopePtr& after);

  const search::CacheScope& scope_;
  MemberAccess access_;
  kube::ClusterSet members_;
  std::unique_ptr<MirrorWiring> mirrors_;
  MemoryGate memory_;
  std::unique_ptr<search::MultiClusterCache> cache_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_MEMBER_CACHES_H_
