// Reads a chain from a live control plane and its members.
#ifndef LENS_WHY_CHAIN_READER_H_
#define LENS_WHY_CHAIN_READER_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lens/why/chain.h"

namespace lens::why {

struct ControlPlane {
  kube::Client& client;
  const kube::Discovery& discovery;
  const kube::ConnectionConfig& config;  // How it is reached.
};

// Reads everything once, and never writes. Members are asked with the credentials of their
// Clusters, as the daemon does, and if that fails through the control plane's proxy. What cannot be
// read is among `unread`, or is the status of a member. Fails when the template itself cannot be
// read (that it does not exist is no error), and for a flag in the question that cannot be used.
absl::StatusOr<Chain> ReadChain(const ControlPlane& control_plane, Question question,
                                const base::StopToken& stop);

}  // namespace lens::why

#endif  // LENS_WHY_CHAIN_READER_H_
