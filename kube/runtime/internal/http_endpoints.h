// What the manager's servers answer: /healthz, /livez, /readyz and /metrics.
#ifndef KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
#define KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_

#include <functional>
#include <string>
#include <vector>

#include "base/http_server.h"

namespace kube::internal {

// One line of a verbose answer: "[+]leader-election ok: leader", "[-]api-server failed: why".
struct HealthCheck {
  std::string name;
  bool ok = true;
  std::string remark;
};

// /healthz and /livez answer "ok" for as long as the process answers at all; /readyz answers "ok",
// or 500 with all checks when one of `readiness` fails. With ?verbose the checks are listed, as
// controller-runtime's. <each>/ping answers "ok"; everything else 404.
base::HttpResponse AnswerHealth(const base::HttpRequest& request,
                                const std::function<std::vector<HealthCheck>()>& readiness);

// The text of `expose` at /metrics. 404 elsewhere.
base::HttpResponse AnswerMetrics(const base::HttpRequest& request,
                                 const std::function<std::string()>& expose);

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
