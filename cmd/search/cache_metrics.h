// The metrics of what is cached: objects, lag and errors of each resource of each cluster, and what
// registries name that is not there.
#ifndef CMD_SEARCH_CACHE_METRICS_H_
#define CMD_SEARCH_CACHE_METRICS_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/meta/names.h"
#include "search/cache/multi_cluster_cache.h"
#include "search/registry/scope.h"

namespace cmd {

// Thread-safe. There are as many series as the scope has resources of clusters, and registries;
// those of what has left the scope are removed.
class CacheMetrics {
 public:
  // REQUIRES: all outlive the object.
  struct Parts {
    const search::MultiClusterCache& cache;
    const search::CacheScope& scope;
    const base::Clock& clock;
    metrics::Registry& registry;
  };
  explicit CacheMetrics(const Parts& parts) : parts_(parts) {}

  // Brings the gauges up to date.
  void Update();

 private:
  using Key = std::pair<std::string, kube::Gvr>;  // Cluster and resource.

  void Report(const search::CacheState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReportError(const metrics::Labels& labels, const Key& key, const absl::Status& error)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReportRegistries() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Parts parts_;
  absl::Mutex mu_;
  // What has series, with the reason of its error, "" without one.
  std::map<Key, std::string> shown_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> shown_registries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cmd

#endif  // CMD_SEARCH_CACHE_METRICS_H_
