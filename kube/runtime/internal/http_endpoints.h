// What the manager's servers answer: /healthz, /livez, /readyz and /metrics.
#ifndef KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
#define KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_

#include <functional>
#include <string>

#include "base/http_server.h"

namespace kube::internal {

// "ok" at /healthz, /livez, /readyz and at <each>/ping; with ?verbose a list of the checks, as
// controller-runtime's. 404 elsewhere.
base::HttpResponse AnswerHealth(const base::HttpRequest& request);

// The text of `expose` at /metrics. 404 elsewhere.
base::HttpResponse AnswerMetrics(const base::HttpRequest& request,
                                 const std::function<std::string()>& expose);

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
