// A resourceVersion of many clusters in one text, as upstream writes it
// (store.multiClusterResourceVersion): base64url without padding of {"member1":"714",...}.
#ifndef SEARCH_CACHE_COMPOSITE_VERSION_H_
#define SEARCH_CACHE_COMPOSITE_VERSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace search {

class CompositeVersion {
 public:
  using Versions = std::map<std::string, std::string, std::less<>>;

  // No information.
  CompositeVersion() = default;
  // "" is no information, "0" any version of every cluster. A text that cannot be decoded counts as
  // no information, too, as upstream takes it.
  static CompositeVersion Parse(absl::string_view text);

  // Equal values give equal bytes: clients compare them.
  std::string ToString() const;

  bool any() const { return any_; }
  bool empty() const { return !any_ && versions_.empty(); }
  // "" when the cluster is not named; "0" for every cluster if any().
  absl::string_view Get(absl::string_view cluster) const;
  // The same as a number; -1 when it is missing or none.
  int64_t Number(absl::string_view cluster) const;
  // Ends any(). An empty version takes the cluster out.
  void Set(absl::string_view cluster, absl::string_view version);
  void Set(absl::string_view cluster, int64_t version);
  // Sets a version with kube::WatchCache::NarrowingsAt. It is written as that many leading zeros,
  // which do not change the number for whoever reads it as one.
  void Set(absl::string_view cluster, int64_t version, int narrowings);
  // Returns what was set with the version of the cluster.
  int Narrowings(absl::string_view cluster) const;
  const Versions& versions() const { return versions_; }

 private:
  bool any_ = false;
  Versions versions_;
};

}  // namespace search

#endif  // SEARCH_CACHE_COMPOSITE_VERSION_H_
