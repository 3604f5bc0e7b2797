// Lists over the caches of several clusters.
#ifndef SEARCH_CACHE_INTERNAL_LIST_READER_H_
#define SEARCH_CACHE_INTERNAL_LIST_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/cache/composite_version.h"
#include "search/cache/internal/continue_token.h"
#include "search/cache/internal/member_cache.h"
#include "search/cache/list_answer.h"
#include "search/cache/multi_cluster_cache.h"

namespace search::internal {

// Reads one page. Used once, by one thread.
class ListReader {
 public:
  // REQUIRES: the request outlives the reader.
  explicit ListReader(const ListRequest& request);
  // `caches` in the order of their clusters' names. Errors are those of MultiClusterCache::List.
  absl::StatusOr<ListAnswer> Read(const std::vector<MemberCachePtr>& caches);

 private:
  // kInvalidArgument for a token that names no place.
  absl::Status CheckToken() const;
  // kOutOfRange when the state to read includes a cluster that is not among the caches any more.
  absl::Status CheckClusters(const std::vector<MemberCachePtr>& caches) const;
  // Returns the version that a cluster has to be read at; -1: its present one.
  absl::StatusOr<int64_t> VersionOf(const MemberCache& member) const;
  absl::Status ReadCluster(const MemberCache& member);
  // A cluster behind the end of the page.
  absl::Status CountCluster(const MemberCache& member);
  kube::ObjectKey Start(const MemberCache& member) const;
  // The next page begins where `range` does.
  void EndPageAt(const MemberCache& member, const kube::WatchCache::Range& range);
  // Returns the versions as those of a list that its reader continues from by a watch.
  CompositeVersion VersionOfList(const std::vector<MemberCachePtr>& caches) const;
  bool full() const { return request_.limit > 0 && count_ >= request_.limit; }

  const ListRequest& request_;
  const ContinueToken token_;
  const std::optional<MemberToken> member_token_;
  const CompositeVersion base_;
  const bool fixed_;  // The state at the versions of base_ is read, and no later one.
  CompositeVersion version_;
  ListAnswer answer_;
  size_t count_ = 0;
  size_t remaining_ = 0;
  ContinueToken next_;
};

}  // namespace search::internal

#endif  // SEARCH_CACHE_INTERNAL_LIST_READER_H_
