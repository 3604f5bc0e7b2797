// What the kinds that registries name are resolved to, with some doubt about discovery.
#ifndef SEARCH_REGISTRY_KIND_TABLE_H_
#define SEARCH_REGISTRY_KIND_TABLE_H_

#include <functional>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"

namespace search {

// Finds the resource of a kind, as kube::RestMapper::ForKindNow does for the control plane
// (discovery of members does not count). May block. kNotFound: there is no such kind.
using KindResolver = std::function<absl::StatusOr<kube::Resource>(const kube::Gvk& gvk,
                                                                  const base::StopToken& stop)>;

// Used by one thread.
class KindTable {
 public:
  // A kind that was resolved once counts as gone when discovery has denied it for so long, and at
  // each look in between.
  static constexpr absl::Duration kGoneAfter = absl::Seconds(30);
  // A kind that was never resolved is in doubt for so long after the first denial.
  static constexpr absl::Duration kDoubted = absl::Seconds(5);

  // REQUIRES: `clock` outlives the table.
  KindTable(KindResolver resolver, const base::Clock& clock);

  // Asks for each of these kinds and forgets all others. Returns whether an answer of Find changed.
  bool Resolve(const std::set<kube::Gvk>& wanted, const base::StopToken& stop);

  // Returns nullptr for a kind that was not in the last call of Resolve.
  const absl::StatusOr<kube::Resource>* Find(const kube::Gvk& gvk) const;
  // Returns whether discovery could not determine of one kind (of each kind) whether it is served.
  bool AnyFails() const;
  bool AllFail() const;
  // Returns whether there is a kind that discovery denies and that has not been denied long enough.
  bool HasDoubts() const;

 private:
  struct Entry {
    absl::StatusOr<kube::Resource> found;
    // When the denials began that have followed each other until now.
    base::SteadyTime denied_since = base::SteadyTime::InfiniteFuture();
  };
  Entry Ask(const kube::Gvk& gvk, const base::StopToken& stop) const;

  const KindResolver resolver_;
  const base::Clock& clock_;
  std::map<kube::Gvk, Entry> entries_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_KIND_TABLE_H_
