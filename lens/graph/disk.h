// The graph of manifests on disk.
#ifndef LENS_GRAPH_DISK_H_
#define LENS_GRAPH_DISK_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "lens/graph/graph.h"
#include "lens/plan/plan.h"

namespace lens::graph {

// Propagates the request's objects on a simulated control plane and returns the graph of what came
// of it. The base plays no part. Errors are those of plan::MakePlan.
absl::StatusOr<Graph> GraphOfFiles(const plan::PlanRequest& request, const base::StopToken& stop);

}  // namespace lens::graph

#endif  // LENS_GRAPH_DISK_H_
