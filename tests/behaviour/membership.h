// How the control plane reaches a member, and whether it has the member: what administrators
// change. On simulated servers only.
#ifndef TESTS_BEHAVIOUR_MEMBERSHIP_H_
#define TESTS_BEHAVIOUR_MEMBERSHIP_H_

#include <string>

#include "kube/meta/object.h"
#include "tests/support/control_plane.h"

namespace tests {

// Changes the token in the Secret with a member's credentials; the old one is not valid any more,
// and the member's watches end. REQUIRES: the Cluster exists.
void RotateToken(ControlPlane& plane, const std::string& member);

// Returns the Secret with a member's credentials, as it can be created again. REQUIRES: the Cluster
// exists, and so does the Secret.
kube::Object CredentialsOf(ControlPlane& plane, const std::string& member);

// Returns the port of a member's server.
int PortOf(ControlPlane& plane, const std::string& member);

// Changes the address at which the control plane reaches a member.
void MoveEndpoint(ControlPlane& plane, const std::string& member, const std::string& url);

// Deletes a member's Cluster, which goes once its Works have gone; its Secrets stay. Returns what
// Join takes. REQUIRES: the Cluster exists.
kube::Object Leave(ControlPlane& plane, const std::string& member);
// REQUIRES: the Cluster has gone.
absl::Status Join(ControlPlane& plane, const kube::Object& cluster);

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_MEMBERSHIP_H_
