// The version of a karmada-agent, which it writes on the Lease by which it shows that it is alive.
#ifndef API_AGENT_VERSION_H_
#define API_AGENT_VERSION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace api {

// An annotation that only this program writes: the version, a space and the spec.renewTime of the
// renewal.
inline constexpr char kRenewedByAnnotation[] = "agent.karmada.io/renewed-by";

// Records the version of the agent that renews the Lease. REQUIRES: spec.renewTime is the one that
// is about to be written.
void SetAgentVersion(kube::Object& lease, absl::string_view version);

// Returns the version of the agent that renewed the Lease last, as "v0.1.0"; "" when that agent has
// not written it. Upstream's writes none, and keeps what an agent before it has written, so the
// record counts for one renewal.
std::string AgentVersion(const kube::Object& lease);

}  // namespace api

#endif  // API_AGENT_VERSION_H_
