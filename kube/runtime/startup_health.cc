#include "kube/runtime/startup_health.h"

#include <vector>

#include "kube/runtime/internal/http_endpoints.h"

namespace kube {

absl::StatusOr<std::unique_ptr<base::HttpServer>> ServeStartupHealth(const std::string& address,
                                                                     const StartupWait& wait) {
  return internal::Serve(address, [wait](const base::HttpRequest& request) {
    return internal::AnswerHealth(request, [&] {
      return std::vector<internal::HealthCheck>{
          {.name = wait.name, .ok = false, .remark = wait.why}};
    });
  });
}

}  // namespace kube
