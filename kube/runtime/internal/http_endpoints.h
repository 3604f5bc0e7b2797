// The answers of the manager's servers: /healthz, /livez, /readyz and /metrics.
#ifndef KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
#define KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"

namespace kube::internal {

// Starts a server at `address` that answers requests without a body. Returns nullptr if the address
// is "" or "0".
absl::StatusOr<std::unique_ptr<base::HttpServer>> Serve(
    const std::string& address, std::function<base::HttpResponse(const base::HttpRequest&)> answer);

// One line of a verbose answer, such as "[+]leader-election ok: leader" or "[-]api-server failed:
// why".
struct HealthCheck {
  std::string name;
  bool ok = true;
  std::string remark;
};

// /healthz and /livez answer "ok" for as long as the process answers at all; /readyz answers "ok",
// or 500 with all checks when one of `readiness` fails. With ?verbose the checks are listed in
// controller-runtime's format. <each>/ping answers "ok"; every other path gets 404.
base::HttpResponse AnswerHealth(const base::HttpRequest& request,
                                const std::function<std::vector<HealthCheck>()>& readiness);

// Further paths, and what returns their JSON.
using Pages = std::map<std::string, std::function<std::string()>>;

// Answers /metrics with the text that `expose` returns, those of `pages` with theirs, and any other
// path with 404.
base::HttpResponse AnswerMetrics(const base::HttpRequest& request,
                                 const std::function<std::string()>& expose, const Pages& pages);

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_HTTP_ENDPOINTS_H_
