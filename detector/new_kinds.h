// Kinds that the control plane began to serve a moment ago, and whether the clusters serve them
// too.
//
// Karmada's scheduler places nothing in a cluster whose status.apiEnablements does not list the
// kind, and does not try again when it does. Whoever applies a definition and an object of it
// together would find the object nowhere. So templates of a new kind wait until it is known where
// they can go. (Upstream looks for new kinds every 30 s only; mostly that is long enough.)
#ifndef DETECTOR_NEW_KINDS_H_
#define DETECTOR_NEW_KINDS_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/object.h"

namespace detector {

// It is for one thread.
class NewKinds {
 public:
  // No kind waits for longer: a cluster may never serve it.
  static constexpr absl::Duration kLongestWait = absl::Seconds(30);

  // Once a cluster lists a kind, the others have two rounds to do so as well, but no less than 5 s.
  // `status_round` is how often their status is brought up to date.
  explicit NewKinds(absl::Duration status_round)
      : patience_(std::max(2 * status_round, absl::Seconds(5))) {}

  // The kinds that the control plane serves now. Those of the first call are new, too: they may
  // have been defined while this process was down.
  void SetServed(const std::set<kube::Gvk>& served, base::SteadyTime now);

  // Returns whether templates of the kind may have to wait.
  bool IsNew(const kube::Gvk& gvk) const { return waiting_.contains(gvk); }
  // Returns whether the kind was served at the first call of SetServed already.
  bool WasThereAtStart(const kube::Gvk& gvk) const { return at_start_.contains(gvk); }
  // Returns whether templates of the kind still have to wait, for clusters of these: those that
  // its policies may choose. A kind that is done with waiting is not new any more.
  bool MustWait(const kube::Gvk& gvk, const std::vector<kube::ObjectPtr>& clusters,
                base::SteadyTime now);

 private:
  struct Wait {
    base::SteadyTime since;
    base::SteadyTime first_listed = base::SteadyTime::InfiniteFuture();
  };

  const absl::Duration patience_;  // With the clusters after the first.
  std::set<kube::Gvk> served_, at_start_;
  std::map<kube::Gvk, Wait> waiting_;
};

// Of these clusters, those that are ready and do not list the kind: what its templates wait for.
std::vector<std::string> ClustersWithout(const kube::Gvk& gvk,
                                         const std::vector<kube::ObjectPtr>& clusters);

}  // namespace detector

#endif  // DETECTOR_NEW_KINDS_H_
