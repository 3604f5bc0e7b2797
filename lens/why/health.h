// Why the template's object in a cluster is not healthy.
#ifndef LENS_WHY_HEALTH_H_
#define LENS_WHY_HEALTH_H_

#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns the message of the rule that determines the health of the object in the cluster of this
// Work, or its error: of the object as the member has it now if the rule can be asked from here,
// else the last one that an event about the Work has. "" when there is none, or when the object is
// healthy.
std::string WhyUnhealthy(const Chain& chain, const std::string& cluster, const kube::Object& work);
// Returns that message, and then those of the conditions of the member's object that say what is
// wrong. REQUIRES: the Work does not call the object healthy.
std::vector<std::string> ReasonsForBadHealth(const Chain& chain, const std::string& cluster,
                                             const kube::Object& work);

// Returns the reason and message of the condition with which the Job has failed in the cluster of
// this Work, as the member has it, else as the Work reports it; "" when it is no Job or has not.
std::string FailureOfJob(const Chain& chain, const std::string& cluster, const kube::Object& work);

// Returns how to look at the object in the cluster: "look at it; in member1: kubectl ..."; where no
// member was asked yet, to ask about it, by which they are.
std::string LookAtIt(const Chain& chain, const std::string& cluster);

// Returns what to do about an object that is not healthy. `why` are ReasonsForBadHealth.
// REQUIRES: chain.object exists.
std::string AdviceForBadHealth(const Chain& chain, const std::string& cluster,
                               const std::vector<std::string>& why);

// Who has a workload stand still in a cluster.
struct Standstill {
  std::string field;      // "paused" of a Deployment, "suspend" of a Job or CronJob; "" for none.
  std::string overrides;  // Those that set it there: "OverridePolicy shop/a"; "" for the template.
};
// Returns what the manifest in the Work says, which is the template as the cluster gets it.
Standstill StandstillIn(const Chain& chain, const kube::Object& work);

// Returns what to do about a Deployment that is paused: a sentence without its full stop.
std::string AdviceForPaused(const Chain& chain);
// The same of a workload that override policies have stand still in the cluster.
std::string AdviceForStandstill(const Standstill& standstill);

}  // namespace lens::why

#endif  // LENS_WHY_HEALTH_H_
