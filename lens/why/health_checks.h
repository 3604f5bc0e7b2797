// Checks of how what has arrived is in the members: whether it is healthy, and whether its status
// is understood and comes back.
#ifndef LENS_WHY_HEALTH_CHECKS_H_
#define LENS_WHY_HEALTH_CHECKS_H_

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Finds clusters in which the Job has failed, in which its Pods do not run, or in which the
// Deployment is paused since before its first rollout.
Findings MemberJobHasFailed(const Chain& chain);
Findings MemberJobDoesNotRun(const Chain& chain);
Findings MemberObjectIsPaused(const Chain& chain);

// Finds clusters in which the object is not healthy for another reason.
Findings MemberObjectIsUnhealthy(const Chain& chain);

// Finds clusters in which the interpreter cannot read its status, and that it cannot sum it up.
Findings StatusIsNotInterpreted(const Chain& chain);
Findings StatusIsNotAggregated(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_HEALTH_CHECKS_H_
