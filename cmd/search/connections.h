// The connections of this server to the control plane.
#ifndef CMD_SEARCH_CONNECTIONS_H_
#define CMD_SEARCH_CONNECTIONS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "cmd/search/options.h"
#include "kube/aggregation/delegation.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace cmd {

struct Connections {
  kube::ConnectionConfig control_plane;
  std::shared_ptr<kube::Transport> loops, authentication, authorization;
};

// Reads the kubeconfigs; no request is sent yet. The error names the flag, and the file or field
// that cannot be used.
absl::StatusOr<Connections> Connect(const SearchOptions& options);

// Returns the options of a client of the control plane, with --kube-api-qps and -burst.
kube::ClientOptions ControlPlaneClient(const SearchOptions& options, const Connections& to);

// Returns what of the flags is about callers and their rights.
kube::aggregation::Delegation::Options DelegationOf(const SearchOptions& options,
                                                    const Connections& to);

// The control plane, as far as the parts of this server read it.
struct ControlPlane {
  ControlPlane(const SearchOptions& options, const Connections& to, const base::Clock& clock,
               metrics::Registry* registry)
      : client(to.loops, ControlPlaneClient(options, to), clock, registry),
        mapper(client, clock),
        threads(std::make_shared<kube::InformerThreads>(clock)),
        informers(client, clock, threads),
        cluster(client, mapper, informers) {}

  kube::Client client;
  kube::RestMapper mapper;
  const std::shared_ptr<kube::InformerThreads> threads;
  kube::InformerSet informers;
  kube::ClusterClient cluster;
};

}  // namespace cmd

#endif  // CMD_SEARCH_CONNECTIONS_H_
