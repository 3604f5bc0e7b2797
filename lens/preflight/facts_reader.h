// Reads the facts of a live control plane.
#ifndef LENS_PREFLIGHT_FACTS_READER_H_
#define LENS_PREFLIGHT_FACTS_READER_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/preflight/facts.h"

namespace lens::preflight {

// After this time nothing more is asked; what was not asked could not be read.
inline constexpr absl::Duration kPatience = absl::Minutes(3);

// Reads everything once, and never writes. Objects are counted by one request for each kind,
// however many there are. What cannot be read, for want of rights for example, is an error in its
// place. kFailedPrecondition for a server that is not a control plane (api::IsControlPlaneGroup).
absl::StatusOr<Facts> ReadFacts(kube::Client& client, const kube::Discovery& discovery,
                                const base::StopToken& stop);

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_FACTS_READER_H_
