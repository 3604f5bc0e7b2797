// What a plan warns of when clusters in which something changes do not answer.
#ifndef LENS_PLAN_SILENT_CLUSTERS_H_
#define LENS_PLAN_SILENT_CLUSTERS_H_

#include <vector>

#include "lens/plan/comparison.h"
#include "lens/plan/fleet_edit.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// Adds a finding for each cluster that is not ready and in which something changes, by the Clusters
// of the simulated control plane. Those that the question is about, by the edits, are known to the
// reader and left out.
void AddSilentClusters(const std::vector<TemplateChange>& changes,
                       const std::vector<FleetEdit>& edits, sandbox::Backend& backend,
                       std::vector<Finding>& findings);

}  // namespace lens::plan

#endif  // LENS_PLAN_SILENT_CLUSTERS_H_
