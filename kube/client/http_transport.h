// Transport over cpprestsdk: the only door to it.
#ifndef KUBE_CLIENT_HTTP_TRANSPORT_H_
#define KUBE_CLIENT_HTTP_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/transport.h"

namespace kube {

// Starts cpprestsdk's process-wide thread pool. One thread is the cheapest (133-208 us of CPU for a
// small GET over TLS against 305-430 us with eight) and the only size with which cancelling is free
// of the library's races. Later calls change nothing; the first transport makes this call with the
// default.
void InitializeHttp(int threads = 1);

// Lets what was cancelled come to its end, for at most `patience`, so that a process can exit with
// nothing under way. Call last in main(), when all transports are gone.
void FinishHttp(absl::Duration patience = absl::Seconds(2));

// kInvalidArgument when certificates, key or proxy URL are unusable. Token files and exec plugins
// are read at the first request and again when they change or expire, or the server answers 401.
absl::StatusOr<std::shared_ptr<Transport>> NewHttpTransport(const ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_CLIENT_HTTP_TRANSPORT_H_
