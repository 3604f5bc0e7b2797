// Brings the state of a live control plane into a simulated one.
#ifndef LENS_PLAN_SEEDING_H_
#define LENS_PLAN_SEEDING_H_

#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/input.h"
#include "lens/plan/live_reader.h"

namespace lens::plan {

// Creates everything, Works included: what the loops change in them then is what would change, and
// what is held back stays. Errors name the object.
absl::Status Seed(const LiveState& live, DryControlPlane& plane);

// Returns the objects of the files as they would be after `kubectl apply` on the live ones
// (kube::ThreeWayMerge): what the file does not name stays, unless the last applied configuration
// (kubectl.kubernetes.io/last-applied-configuration) has it.
std::vector<InputObject> AppliedTo(const LiveState& live, std::vector<InputObject> files);

}  // namespace lens::plan

#endif  // LENS_PLAN_SEEDING_H_
