// Finds policies that select kinds which the control plane does not serve: misspelt ones, and those
// whose definition is added later.
#ifndef DETECTOR_UNSERVED_KINDS_H_
#define DETECTOR_UNSERVED_KINDS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/meta/names.h"
#include "kube/runtime/served_kinds.h"

namespace detector {

// Thread-safe. This memory may be lost at any moment: then the policies are listed again, and at
// worst reported again.
class UnservedKinds {
 public:
  // A kind is reported when it has been missing for this time and in two rounds of discovery: a
  // definition that is applied together with the policy is served a moment later.
  static constexpr absl::Duration kPatience = absl::Seconds(1);
  // So many kinds of a policy are reported in a round, the others in later ones. A policy has room
  // for ten thousand, and each is compared with all kinds that are served, and is an event.
  static constexpr size_t kMostOfPolicy = 20;

  // The policy may be of either scope; its key has a namespace if it is namespaced.
  struct Finding {
    kube::ObjectKey policy;
    kube::Gvk kind;
    bool at_start = false;  // The policy was there before this process began to work.
    friend auto operator<=>(const Finding&, const Finding&) = default;
  };

  // Records that the policy selects these kinds from now on. An empty set stands for a policy that
  // is gone.
  void SetSelected(const kube::ObjectKey& policy, const std::set<kube::Gvk>& kinds, bool at_start);
  // Takes the result of the last round of discovery. Returns the findings to report; each is
  // returned once as long as policy and kind stay as they are. Kinds of groups that could not be
  // read are not reported.
  std::vector<Finding> SetServed(const kube::ServedKinds& served, base::SteadyTime now);

 private:
  struct Missing {
    bool at_start = false;
    // The first round in which the kind was missing.
    base::SteadyTime since = base::SteadyTime::InfiniteFuture();
    bool reported = false;
  };
  using Policies = std::map<kube::ObjectKey, Missing>;

  absl::Mutex mu_;
  std::set<kube::Gvk> served_ ABSL_GUARDED_BY(mu_);
  std::map<kube::Gvk, Policies> missing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_UNSERVED_KINDS_H_
