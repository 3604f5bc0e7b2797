// Clusters in pull mode: who acts in them, and what is known of their karmada-agents.
#ifndef LENS_WHY_AGENTS_H_
#define LENS_WHY_AGENTS_H_

#include <string>

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Returns whether the cluster is in pull mode, as far as its Cluster was read.
bool IsPull(const Chain& chain, const std::string& cluster);

// Returns whether a Cluster among the objects is.
bool AnyIsPull(const Objects& objects);

// Returns the program that applies Works in the cluster, and how to speak of it:
// "karmada-controller-manager" or "the karmada-agent of member1".
Program AppliesIn(const Chain& chain, const std::string& cluster);
std::string ApplierIn(const Chain& chain, const std::string& cluster);

// Returns "its karmada-agent is silent since 2026-01-01T11:00:00Z", "its karmada-agent renews its
// Lease", or, when it may be either because clocks differ, "its karmada-agent last renewed its
// Lease 47 s ago"; "" for a cluster in push mode, and when there is no Lease.
std::string AgentState(const Chain& chain, const std::string& cluster);
// Returns "karmada-agent v0.1.0 renews its Lease", the state above with the version that the agent
// has written on the Lease; without one, that it has written none. "" as above.
std::string AgentLine(const Chain& chain, const std::string& cluster);
// Returns how its Lease shows that the agent of the cluster is silent; "" as above, and when it is
// not.
std::string WhyAgentIsSilent(const Chain& chain, const std::string& cluster);

// Returns whether what its agent has reported is the present state of the cluster, as far as one
// sees: it is in pull mode and ready, and its Lease has not run out, if there is one.
bool AgentVouches(const Chain& chain, const std::string& cluster);

// Returns what to do about the cluster, which is not ready or does not get its Works: a sentence
// without its full stop. REQUIRES: it is in pull mode.
std::string AdviceForAgent(const Chain& chain, const std::string& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_AGENTS_H_
