// Tolerations of cluster taints, as placements and policies have them (core/v1 Toleration).
#ifndef API_TOLERATION_H_
#define API_TOLERATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "base/json.h"

namespace api {

// The taint by which `karmadactl cordon` keeps new templates away from a cluster.
inline constexpr char kUnschedulableTaint[] = "cluster.karmada.io/unschedulable";

// An item of placement.clusterTolerations.
struct Toleration {
  std::string key, op, value, effect;
  std::optional<int64_t> seconds;  // Unset: for ever.

  static Toleration FromJson(const json::Value& item);
  // Returns whether the taint is tolerated, for a time or for ever. The operators are Equal (also
  // "") and Exists; another one tolerates nothing, and an empty key or effect stands for any, also
  // with Equal. Upstream: Toleration.ToleratesTaint without the comparison operators.
  bool Tolerates(const Taint& taint) const;
};
std::vector<Toleration> TolerationsFromJson(const json::Value& list);
// Returns whether one of the tolerations tolerates the taint.
bool Tolerate(absl::Span<const Toleration> tolerations, const Taint& taint);

// Returns the taints with the effect NoExecute.
std::vector<Taint> NoExecuteTaints(const ClusterView& cluster);

// Returns whether each of the taints that matter to the scheduler (NoSchedule, NoExecute) is
// tolerated. It does not ask for how long. Upstream: the scheduler's plugin TaintToleration.
bool AdmitsScheduling(absl::Span<const Taint> taints, absl::Span<const Toleration> tolerations);

// Returns how long a workload with these tolerations may stay in a cluster with these NoExecute
// taints: zero when its time is over or a taint is not tolerated at all, InfiniteDuration when it
// may stay for ever. A taint is tolerated by the first toleration that matches it. The times of all
// tolerations that tolerate something count from timeAdded of each taint they match, and the one
// that ends first decides; a taint without timeAdded sets no end. Upstream: GetMatchingTolerations
// and GetMinTolerationTimeWithCurrentTime.
absl::Duration RemainingToleration(absl::Span<const Taint> no_execute,
                                   absl::Span<const Toleration> tolerations, absl::Time now);

}  // namespace api

#endif  // API_TOLERATION_H_
