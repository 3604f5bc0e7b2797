// The two transports: a lean one for API servers, and cpprestsdk's.
//
// Both keep the same contract (transport.h) and take the same configurations, and one table of
// tests runs on both. NewHttpTransport is for frequent requests: lists, watches, reads and writes
// of the loops, leases. NewCpprestTransport is for occasional ones, such as webhooks.
#ifndef KUBE_HTTP_HTTP_TRANSPORT_H_
#define KUBE_HTTP_HTTP_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Watches of all servers share one thread, for which no caller waits; calls run on their callers'
// threads, over connections that are kept for half a minute. kInvalidArgument when certificates,
// key, server or proxy URL are unusable. Token files and exec plugins are read at the first request
// and again when they change or expire, or when the server answers 401.
absl::StatusOr<std::shared_ptr<Transport>> NewHttpTransport(const ConnectionConfig& config);

// As NewHttpTransport, over cpprestsdk. Configurations that the library cannot serve (proxies other
// than http:// ones, headers for them other than Basic credentials, impersonation with several
// groups) are served by the lean transport.
absl::StatusOr<std::shared_ptr<Transport>> NewCpprestTransport(const ConnectionConfig& config);

// Starts cpprestsdk's process-wide thread pool. One thread is the cheapest (133-208 us of CPU for a
// small GET over TLS against 305-430 us with eight) and the only size with which cancelling is free
// of the library's races. Later calls change nothing; the first transport makes this call with the
// default.
void InitializeHttp(int threads = 1);

// Waits until cancelled requests have ended, for at most `patience`, so that a process can exit
// with nothing under way, and returns `exit_code`. If something is under way even then (a name
// server or a plugin that hangs), ends the process with it at once, because what a regular end
// destroys would be used. Call it last in main(), when all transports have been destroyed.
int FinishHttp(int exit_code, absl::Duration patience = absl::Seconds(2));

}  // namespace kube

#endif  // KUBE_HTTP_HTTP_TRANSPORT_H_
