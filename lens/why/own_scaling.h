// Checks of autoscalers: whether what they scale is anywhere, whether others scale it, too, and
// whether their rules work.
#ifndef LENS_WHY_OWN_SCALING_H_
#define LENS_WHY_OWN_SCALING_H_

#include "lens/why/checks.h"

namespace lens::why {

// Nothing of what the autoscaler that is asked about scales is in a cluster.
Findings AutoscalerTargetIsNowhere(const Chain& chain);
// Another autoscaler writes the replicas of the same target.
Findings AutoscalersDisagree(const Chain& chain);

// A rule of the CronFederatedHPA that is asked about failed the last time.
Findings CronRuleFailed(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_SCALING_H_
