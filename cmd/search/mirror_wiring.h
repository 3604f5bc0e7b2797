// Joins the cache of members with the mirrors in OpenSearch: what the cache sees is sent to the
// mirrors, and these read the cache when they compare.
#ifndef CMD_SEARCH_MIRROR_WIRING_H_
#define CMD_SEARCH_MIRROR_WIRING_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cache/watch_cache.h"
#include "kube/meta/names.h"
#include "search/opensearch/mirror_set.h"
#include "search/registry/scope.h"

namespace cmd {

// Thread-safe.
class MirrorWiring {
 public:
  // Returns the cache of one resource of one cluster; nullptr when there is none.
  using CacheFn = std::function<std::shared_ptr<kube::WatchCache>(const std::string& cluster,
                                                                  const kube::Gvr& gvr)>;

  // REQUIRES: clock and metrics outlive the object.
  MirrorWiring(search::MirrorSet::Options options, const base::Clock& clock,
               metrics::Registry* metrics);

  // The mirrors read from here. Call it once, before the first event; and with an empty function
  // before the cache ends, after which it is not called.
  void SetCache(CacheFn caches);

  // The handlers of the cache; they do not block.
  void OnSynced(const std::string& cluster, const kube::Resource& resource);
  void OnEvent(const std::string& cluster, const kube::Resource& resource,
               const kube::WatchCache::Event& event);
  // A listener of the scope. Call it when the cache has taken the scope over.
  void OnScope(const search::Scope& before, const search::Scope& after);

  search::MirrorSet& mirrors() { return mirrors_; }

 private:
  class Door;
  const std::shared_ptr<Door> door_;
  const base::Clock& clock_;
  search::MirrorSet mirrors_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_MIRROR_WIRING_H_
