// When the newest edit of a template reached each of its clusters, and which one was the last, as
// far as objects tell.
//
// The time of the edit is that of the newest entry in the template's metadata.managedFields that
// owns more than metadata and status. A member's object says which generation of the template it
// has, in an annotation; and its managedFields when Karmada last wrote it. The generation was there
// by then: a later write, such as one that put drift back, makes that later than it was. Both times
// are in whole seconds, and of two clocks. An entry without a time, such as one of the subresource
// scale, may be the newest one: then the time of the edit is unknown. As long as an edit waits for
// the scheduler, no cluster is said to have it.
#ifndef LENS_WHY_NEWEST_EDIT_H_
#define LENS_WHY_NEWEST_EDIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/json.h"
#include "lens/why/chain.h"

namespace lens::why {

struct EditInCluster {
  std::string cluster;
  bool has_it = false;
  int64_t generation = 0;                // Of the template, that it has; 0 for none.
  absl::Time by = absl::InfinitePast();  // With has_it: when it had it at the latest, if known.
};

struct NewestEdit {
  int64_t generation = 0;
  absl::Time at;
  // Those that do not have it, then those that have, the latest first. Clusters that did not answer
  // are left out.
  std::vector<EditInCluster> clusters;

  // Returns the cluster that has it last, or has it not; nullptr where nothing tells.
  const EditInCluster* Slowest() const;
  // How much later than the edit that was, at most; for a cluster that does not have it, until now.
  absl::Duration Behind(const EditInCluster& in, absl::Time now) const;
};

// Returns nullopt if nobody knows the time of the edit, no cluster has answered, or the edit was
// more than an hour ago and has arrived everywhere.
std::optional<NewestEdit> NewestEditOf(const Chain& chain);

// Returns "newest edit: generation 3 at 2026-01-01T11:59:00Z; the last cluster was ...", and a line
// for each of the slowest clusters.
std::string TextOf(const NewestEdit& edit, absl::Time now);
std::vector<std::string> LinesOf(const NewestEdit& edit, absl::Time now);
// Returns {generation, at, slowest, clusters: [{name, hasIt, generation, by, secondsLater}]}.
json::Value ToJson(const NewestEdit& edit, absl::Time now);

}  // namespace lens::why

#endif  // LENS_WHY_NEWEST_EDIT_H_
