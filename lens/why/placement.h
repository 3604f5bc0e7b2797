// Why the scheduler places a template nowhere: its message, with the clusters and numbers behind
// it; and whether what it has placed is placed as is wanted now.
#ifndef LENS_WHY_PLACEMENT_H_
#define LENS_WHY_PLACEMENT_H_

#include <string>

#include "api/binding.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"
#include "lens/why/obstacles.h"

namespace lens::why {

// Explains the condition Scheduled of the binding, whose status is False.
Finding ExplainSchedulerRefusal(const Chain& chain, const kube::Object& binding,
                                const json::Value& refusal);

// Returns what to do about an obstacle; "" for one that nobody can remove.
std::string AdviceFor(const Chain& chain, ObstacleKind kind);

// Returns whether the scheduler gives every cluster that fits a whole copy.
bool UsesAllThatFit(const kube::Object& binding);

// Returns whether the scheduler has yet to see a placement or replicas of the binding that are not
// those by which its clusters were chosen. A change that has nothing to do with that, such as the
// suspension of scheduling itself, does not count.
bool IsPlacedAsBefore(const kube::Object& binding);

// Returns how karmada-scheduler is made to look again: "change the template, for example: kubectl
// ...; or name it in a WorkloadRebalancer".
std::string LookAgain(const Chain& chain);

// Returns "FederatedResourceQuota shop/team" for the quota that the message of a refusal names; ""
// when it names none.
std::string QuotaIn(absl::string_view message);

}  // namespace lens::why

#endif  // LENS_WHY_PLACEMENT_H_
