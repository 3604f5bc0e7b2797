// Why the scheduler places a template nowhere: its message, with the clusters and numbers behind
// it.
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

}  // namespace lens::why

#endif  // LENS_WHY_PLACEMENT_H_
