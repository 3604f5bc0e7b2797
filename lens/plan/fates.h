// What becomes of each template when the fleet has changed, and what of it is worth a warning.
#ifndef LENS_PLAN_FATES_H_
#define LENS_PLAN_FATES_H_

#include <vector>

#include "lens/plan/changed_fleet.h"
#include "lens/plan/comparison.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/findings.h"
#include "lens/plan/outcome.h"
#include "lens/plan/what_if.h"

namespace lens::plan {

// What the answer is made from. `before` and `after` are the states at rest.
struct Story {
  const std::vector<FleetEdit>& edits;
  const FleetAftermath& aftermath;
  const Outcome& before;
  const Outcome& after;
  const std::vector<TemplateChange>& templates;  // Their difference.
  DryControlPlane& plane;                        // As it is afterwards.
};

WhatIf WhatIfOf(const Story& story);

// Returns findings with the codes no-room, pinned, quota, nowhere, stays, not-simulated and
// left-behind, sorted.
std::vector<Finding> FindingsOf(const Story& story, const WhatIf& answer);

}  // namespace lens::plan

#endif  // LENS_PLAN_FATES_H_
