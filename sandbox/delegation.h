// Lets a handler in this process stand for an aggregated API server, which a kube-apiserver would
// find by an APIService.
#ifndef SANDBOX_DELEGATION_H_
#define SANDBOX_DELEGATION_H_

#include <string>

#include "base/http_server.h"
#include "sandbox/api_server.h"

namespace sandbox {

// Has `handler` answer the requests of known clients for what is below a path, such as
// "/apis/metrics.k8s.io/". It runs on the server's threads. The server's discovery does not list
// these APIs, and its counts of requests leave them out. Another handler for the path replaces it.
void Delegate(ApiServer& server, std::string path, base::HttpHandler handler);

}  // namespace sandbox

#endif  // SANDBOX_DELEGATION_H_
