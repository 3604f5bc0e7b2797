// Makes a plan: what clusters would get of manifests and policies that are not applied yet.
#ifndef LENS_PLAN_PLAN_H_
#define LENS_PLAN_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "lens/plan/comparison.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/input.h"
#include "lens/plan/live_reader.h"

namespace lens::plan {

struct PlanRequest {
  std::vector<InputObject> objects;
  // What is there now: the manifests that `objects` take the place of, which are propagated first.
  // What is only here is deleted. Empty: nothing is there.
  std::vector<InputObject> base;
  // A live control plane, which takes the place of `base`: its clusters, policies and overrides,
  // and what the objects touch. Optional; it must outlive the call.
  LiveReader* live = nullptr;
  // So many clusters, "member1" and so on, take part beside those that the objects define.
  int clusters = 0;
  // What is asked about the fleet: the changes are made, all at the same time, once the objects are
  // applied, and the plan is the difference that they make. With a live control plane all templates
  // take part then, else those of `base` and `objects`.
  std::vector<FleetEdit> edits;
  config::Options daemon;
  // The directory of Karmada's definitions; empty stands for those that came with the program.
  std::string crds;
};

// Blocks for about a second, and for the calls to the live control plane, whose errors it returns.
// kInvalidArgument has a line for each object that the control plane would refuse, with its place;
// kDeadlineExceeded when the simulation does not come to rest.
absl::StatusOr<Plan> MakePlan(const PlanRequest& request, const base::StopToken& stop);

}  // namespace lens::plan

#endif  // LENS_PLAN_PLAN_H_
