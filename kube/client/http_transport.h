// Transport over cpprestsdk: the only door to it.
#ifndef KUBE_CLIENT_HTTP_TRANSPORT_H_
#define KUBE_CLIENT_HTTP_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/transport.h"

namespace kube {

// Sets the size of cpprestsdk's process-wide thread pool (one is the cheapest, style.md 6b). Call in main()
// before the first transport.
void InitializeHttp(int threads = 1);

// kInvalidArgument when certificates, key or proxy URL are unusable. Token files and exec plugins are read
// at the first request and again when they change or expire, or the server answers 401.
absl::StatusOr<std::shared_ptr<Transport>> NewHttpTransport(const ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_CLIENT_HTTP_TRANSPORT_H_
