// Findings about policies: selectors that select nothing, clusters that do not exist.
#ifndef LENS_PLAN_POLICY_FINDINGS_H_
#define LENS_PLAN_POLICY_FINDINGS_H_

#include <vector>

#include "lens/plan/findings.h"

namespace lens::plan {

// Looks at the propagation and override policies of the scene's files.
void AddPolicyFindings(const Scene& scene, std::vector<Finding>& out);

}  // namespace lens::plan

#endif  // LENS_PLAN_POLICY_FINDINGS_H_
