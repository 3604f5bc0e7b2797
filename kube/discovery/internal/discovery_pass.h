// Discovers what a server serves, reading only documents that have changed since the last pass.
#ifndef KUBE_DISCOVERY_INTERNAL_DISCOVERY_PASS_H_
#define KUBE_DISCOVERY_INTERNAL_DISCOVERY_PASS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/discovery/rest_mapper.h"

namespace kube {

// The result of a pass. Empty before the first one.
struct DiscoveryState {
  std::shared_ptr<const Discovery> found;
  // The ETags, for "/api" and "/apis", of the aggregated documents that `found` was read from. A
  // server, or a proxy before it, that sends no ETag has none here, so all its documents are read
  // each time.
  std::map<std::string, std::string> etags;
};

// As Discover() in rest_mapper.h. Returns the same `found` when the server reports no change.
absl::StatusOr<DiscoveryState> DiscoverSince(Client& client, const DiscoveryState& before,
                                             const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_DISCOVERY_INTERNAL_DISCOVERY_PASS_H_
