// Two transports to one server, of which one does not wait for the other.
#ifndef KUBE_HTTP_HTTP_TRANSPORTS_H_
#define KUBE_HTTP_HTTP_TRANSPORTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// They share credentials and connections.
struct HttpTransports {
  std::shared_ptr<Transport> ordinary;
  // Sends at once, however many requests of the other one are under way; it has connections beyond
  // their limit if need be. For Leases.
  std::shared_ptr<Transport> urgent;
};
// Makes both, with the errors of NewHttpTransport.
absl::StatusOr<HttpTransports> NewHttpTransports(const ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_HTTP_HTTP_TRANSPORTS_H_
