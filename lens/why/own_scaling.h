// Checks of autoscalers: whether what they scale is anywhere, and whether others scale it, too.
#ifndef LENS_WHY_OWN_SCALING_H_
#define LENS_WHY_OWN_SCALING_H_

#include "lens/why/checks.h"

namespace lens::why {

// Nothing of what the autoscaler that is asked about scales is in a cluster.
Findings AutoscalerTargetIsNowhere(const Chain& chain);
// Another autoscaler writes the replicas of the same target.
Findings AutoscalersDisagree(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_SCALING_H_
