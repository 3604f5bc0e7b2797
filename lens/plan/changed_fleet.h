// Makes changes of the fleet on a simulated control plane, and lets happen what follows from them.
#ifndef LENS_PLAN_CHANGED_FLEET_H_
#define LENS_PLAN_CHANGED_FLEET_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/fleet_aftermath.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/silent_clusters.h"

namespace lens::plan {

// Makes all changes at the same time, and waits until nothing is left to do. kNotFound when there
// is no such cluster, kAlreadyExists when one that joins is there. `agents` are those that are
// silent.
absl::StatusOr<FleetAftermath> ChangeFleet(const std::vector<FleetEdit>& edits,
                                           const SilentAgents& agents, DryControlPlane& plane,
                                           const base::StopToken& stop);

}  // namespace lens::plan

#endif  // LENS_PLAN_CHANGED_FLEET_H_
