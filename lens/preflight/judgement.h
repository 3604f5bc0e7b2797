// What this program makes of the objects of a control plane.
#ifndef LENS_PREFLIGHT_JUDGEMENT_H_
#define LENS_PREFLIGHT_JUDGEMENT_H_

#include <vector>

#include "interpreter/customized/customization_set.h"
#include "lens/preflight/facts.h"
#include "lens/preflight/report.h"

namespace lens::preflight {

// Returns a row for each kind, customization, webhook and member. Scripts of customizations are
// compiled and loaded in the sandbox that the daemon has. `merge`: as the daemon puts
// customizations together.
std::vector<Row> Judge(const Facts& facts, const interpreter::customized::MergeOptions& merge = {});

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_JUDGEMENT_H_
