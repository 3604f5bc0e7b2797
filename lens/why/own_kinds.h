// What an object of one of Karmada's own kinds does: what a policy governs, what a cluster has,
// whom other kinds name.
#ifndef LENS_WHY_OWN_KINDS_H_
#define LENS_WHY_OWN_KINDS_H_

#include <string>
#include <vector>

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// The checks of such an object. They find nothing about other objects.
Findings OwnObjectNamesNoCluster(const Chain& chain);
Findings PolicySelectsNoKind(const Chain& chain);
Findings OverrideSelectsNothing(const Chain& chain);
Findings OverrideAppliesNowhere(const Chain& chain);
Findings OverrideIsRefused(const Chain& chain);
Findings ConfigurationIsBroken(const Chain& chain);
Findings CustomizationHasNoKind(const Chain& chain);
Findings TaintPolicyMatchesNothing(const Chain& chain);
Findings AutoscalerHasNoTarget(const Chain& chain);
Findings PolicyGovernsNothing(const Chain& chain);
Findings PolicyDoesNotBringAll(const Chain& chain);
Findings ClusterIsLeaving(const Chain& chain);
Findings ClusterIsNotJudged(const Chain& chain);
Findings ClusterLacksWorks(const Chain& chain);
Findings MultiClusterServiceHasNoService(const Chain& chain);
Findings RebalancingFailed(const Chain& chain);
Findings QuotaIsExceeded(const Chain& chain);
Findings QuotaRefusesTemplates(const Chain& chain);
Findings ServiceHasNoEndpoints(const Chain& chain);

// Returns the templates that the policy has claimed, and that have no binding yet: the detector
// writes the claim first. They are none about other objects.
Objects ClaimedOnly(const Chain& chain);

// Returns the kinds that the policy or override policy selects and that could not be read.
std::vector<std::string> UnreadKinds(const Chain& chain);

// Returns whether so much could be read that the absence of findings says something about the
// object: what a policy governs, or what it selects if it governs nothing.
bool CouldJudgeOwn(const Chain& chain);

// Returns what the object does when nothing is wrong with it: "PropagationPolicy shop/web governs 2
// templates, and all of them have arrived". REQUIRES: chain.object exists.
std::string OwnState(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_KINDS_H_
