// Policies that select kinds which the control plane does not serve: misspelt ones, and those whose
// definition comes later.
#ifndef DETECTOR_UNSERVED_KINDS_H_
#define DETECTOR_UNSERVED_KINDS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/meta/names.h"

namespace detector {

// Thread-safe. What it knows may be lost at any moment: the policies are listed again, and then at
// most reported again.
class UnservedKinds {
 public:
  // A definition that is applied together with the policy is served a moment later, so a kind has
  // to be missing for so long, and from two rounds of discovery.
  static constexpr absl::Duration kPatience = absl::Seconds(1);

  // A policy of either scope; those of a namespace have one.
  struct Finding {
    kube::ObjectKey policy;
    kube::Gvk kind;
    bool at_start = false;  // The policy was there before this process.
    friend auto operator<=>(const Finding&, const Finding&) = default;
  };

  // The policy selects these kinds from now on. An empty set stands for a policy that is gone.
  void SetSelected(const kube::ObjectKey& policy, const std::set<kube::Gvk>& kinds, bool at_start);
  // A round of discovery has found these kinds. Returns what is to be reported, each finding once
  // as long as policy and kind stay as they are.
  std::vector<Finding> SetServed(const std::set<kube::Gvk>& served, base::SteadyTime now);

 private:
  struct Missing {
    bool at_start = false;
    base::SteadyTime since = base::SteadyTime::InfiniteFuture();  // The first round without it.
    bool reported = false;
  };
  using Policies = std::map<kube::ObjectKey, Missing>;

  absl::Mutex mu_;
  std::set<kube::Gvk> served_ ABSL_GUARDED_BY(mu_);
  std::map<kube::Gvk, Policies> missing_ ABSL_GUARDED_BY(mu_);
};

// The served kind that was probably meant by one that is not served: of the same name in another
// version or group, else of a similar name, in the same group first. nullopt when there is none.
std::optional<kube::Gvk> NearestKind(const kube::Gvk& wanted, const std::set<kube::Gvk>& served);

}  // namespace detector

#endif  // DETECTOR_UNSERVED_KINDS_H_
