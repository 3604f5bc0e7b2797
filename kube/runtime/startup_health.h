// Health endpoints of a program that has no manager yet, because it still waits for something.
#ifndef KUBE_RUNTIME_STARTUP_HEALTH_H_
#define KUBE_RUNTIME_STARTUP_HEALTH_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/http_server.h"

namespace kube {

// What the program waits for, which /readyz shows as a failed check: "[-]name failed: why".
struct StartupWait {
  std::string name;
  std::string why;
};

// Starts a health server at `address`, which the manager can use once the returned server is
// destroyed. /healthz and /livez answer "ok", so that a liveness probe does not end the wait, and
// /readyz fails. Returns nullptr if the address is "" or "0", kUnavailable if it cannot be bound.
absl::StatusOr<std::unique_ptr<base::HttpServer>> ServeStartupHealth(const std::string& address,
                                                                     const StartupWait& wait);

}  // namespace kube

#endif  // KUBE_RUNTIME_STARTUP_HEALTH_H_
