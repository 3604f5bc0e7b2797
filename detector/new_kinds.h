// Holds back templates of kinds that the control plane began to serve a moment ago, until the
// clusters serve them too.
//
// Karmada's scheduler places nothing in a cluster whose status.apiEnablements does not list the
// kind, and does not try again when it does. A user who applies a definition and an object of it
// together would find the object in no cluster. So templates of a new kind wait until it is known
// where they can go. (Upstream looks for new kinds every 30 s only; mostly that is long enough.)
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

// Not thread-safe.
class NewKinds {
 public:
  // No kind waits for longer, because a cluster may never serve it.
  static constexpr absl::Duration kLongestWait = absl::Seconds(30);

  // Once a cluster lists a kind, the others have two status rounds, at least 5 s, to list it too.
  // `status_round` is how often their status is brought up to date. When it is zero, nobody does
  // that, and no kind waits.
  explicit NewKinds(absl::Duration status_round)
      : waits_(status_round > absl::ZeroDuration()),
        patience_(std::max(2 * status_round, absl::Seconds(5))) {}

  // Takes the kinds that the control plane serves now. Those of the first call count as new too:
  // they may have been defined while this process was down.
  void SetServed(const std::set<kube::Gvk>& served, base::SteadyTime now);

  // Returns whether templates of the kind may have to wait.
  bool IsNew(const kube::Gvk& gvk) const { return waiting_.contains(gvk); }
  // Returns whether templates of the kind still have to wait. `clusters` are those that the kind's
  // policies may choose. A kind that has finished waiting is not new any more.
  bool MustWait(const kube::Gvk& gvk, const std::vector<kube::ObjectPtr>& clusters,
                base::SteadyTime now);

 private:
  struct Wait {
    base::SteadyTime since;
    base::SteadyTime first_listed = base::SteadyTime::InfiniteFuture();
  };

  const bool waits_;
  // How long to wait for the other clusters once one lists the kind.
  const absl::Duration patience_;
  std::set<kube::Gvk> served_;
  std::map<kube::Gvk, Wait> waiting_;
};

// Returns whether a ready cluster lists the kind.
bool IsListed(const kube::Gvk& gvk, const std::vector<kube::ObjectPtr>& clusters);

// Returns the names of those clusters that are ready and do not list the kind: its templates wait
// for them.
std::vector<std::string> ClustersWithout(const kube::Gvk& gvk,
                                         const std::vector<kube::ObjectPtr>& clusters);

}  // namespace detector

#endif  // DETECTOR_NEW_KINDS_H_
