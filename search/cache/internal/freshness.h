// Waits until caches are as new as a request demands.
#ifndef SEARCH_CACHE_INTERNAL_FRESHNESS_H_
#define SEARCH_CACHE_INTERNAL_FRESHNESS_H_

#include <vector>

#include "base/clock.h"
#include "search/cache/internal/member_cache.h"
#include "search/cache/list_answer.h"
#include "search/cache/multi_cluster_cache.h"

namespace search::internal {

// As MultiClusterCache::AwaitFresh.
std::vector<MissingCluster> AwaitFreshCaches(const std::vector<MemberCachePtr>& caches,
                                             const Freshness& freshness, const base::Clock& clock,
                                             base::SteadyTime deadline);

}  // namespace search::internal

#endif  // SEARCH_CACHE_INTERNAL_FRESHNESS_H_
