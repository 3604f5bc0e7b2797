// What of a live control plane a question about the fleet cannot concern.
#ifndef LENS_PLAN_CONCERNED_H_
#define LENS_PLAN_CONCERNED_H_

#include <vector>

#include "lens/plan/fleet_edit.h"
#include "lens/plan/live_reader.h"
#include "lens/plan/outcome.h"

namespace lens::plan {

// Takes out of `live` the bindings that stay as they are whatever becomes of the edited clusters,
// with their templates, Works and policies, so that they need not be simulated, and returns them.
// REQUIRES: `live` has no objects of files.
State LeaveOutUnconcerned(const std::vector<FleetEdit>& edits, LiveState& live);

}  // namespace lens::plan

#endif  // LENS_PLAN_CONCERNED_H_
