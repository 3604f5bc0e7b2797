// One look at what a server serves, which reads only what has changed since the one before.
#ifndef KUBE_CLIENT_INTERNAL_DISCOVERY_PASS_H_
#define KUBE_CLIENT_INTERNAL_DISCOVERY_PASS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/client/rest_mapper.h"

namespace kube {

// What a pass has found. Empty before the first one.
struct DiscoveryState {
  std::shared_ptr<const Discovery> found;
  // By "/api" and "/apis", of the aggregated documents that `found` was read from. A server, or a
  // proxy before it, that sends no ETag has none here, and is asked for everything each time.
  std::map<std::string, std::string> etags;
};

// As Discover() in rest_mapper.h. Returns the same `found` when the server says that nothing
// changed.
absl::StatusOr<DiscoveryState> DiscoverSince(Client& client, const DiscoveryState& before,
                                             const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_DISCOVERY_PASS_H_
