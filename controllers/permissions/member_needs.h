// What the loops do in a member cluster, whichever program reaches it: the controller manager, or
// the agent of a cluster in pull mode, which puts the Works of all loops into its own.
#ifndef CONTROLLERS_PERMISSIONS_MEMBER_NEEDS_H_
#define CONTROLLERS_PERMISSIONS_MEMBER_NEEDS_H_

#include <vector>

#include "controllers/permissions/rights.h"

namespace permissions {

// The name of the need to find out which kinds a server serves.
inline constexpr char kDiscovery[] = "discovery";

// Returns the needs, loop by loop; a right that only one flag brings stands in a need of its own.
std::vector<Need> MemberNeeds();

}  // namespace permissions

#endif  // CONTROLLERS_PERMISSIONS_MEMBER_NEEDS_H_
