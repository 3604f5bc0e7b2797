// What an API server's /metrics says about the requests that it has served.
#ifndef SANDBOX_HTTP_REQUEST_METRICS_H_
#define SANDBOX_HTTP_REQUEST_METRICS_H_

#include <string>
#include <vector>

#include "sandbox/http/request_counts.h"

namespace sandbox {

// Returns the family apiserver_request_total in Prometheus' text format, with verbs as
// kube-apiserver names them there ("PUT"), of all clients together. The labels group, version,
// scope and component are left out.
std::string RequestMetrics(const std::vector<RequestCount>& counts);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_REQUEST_METRICS_H_
