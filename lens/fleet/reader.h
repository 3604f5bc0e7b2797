// Reads a whole control plane by lists, and says what is not fine in it.
#ifndef LENS_FLEET_READER_H_
#define LENS_FLEET_READER_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/fleet/fleet.h"
#include "lens/why/chain.h"

namespace lens::fleet {

// Reads each kind once, and never writes; members are not asked. `flags` has what is not about one
// object: how the control plane was named, and the daemon's flags. What cannot be read is in
// Fleet::unread. Fails when no binding can be read, and for a flag that cannot be used.
absl::StatusOr<Fleet> ReadFleet(kube::Client& client, const kube::Discovery& discovery,
                                const Scope& scope, const why::Question& flags,
                                const base::StopToken& stop);

}  // namespace lens::fleet

#endif  // LENS_FLEET_READER_H_
