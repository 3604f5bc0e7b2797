// Health of a program that has no manager yet, because it waits for what it needs.
#ifndef KUBE_RUNTIME_STARTUP_HEALTH_H_
#define KUBE_RUNTIME_STARTUP_HEALTH_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/http_server.h"

namespace kube {

// What the program waits for, as a check of /readyz: "[-]name failed: why".
struct StartupWait {
  std::string name;
  std::string why;
};

// Answers at `address`, which the manager gets when the returned server has gone: /healthz and
// /livez are ok, so that a liveness probe does not end the wait, and /readyz fails. nullptr when
// the address is "" or "0". kUnavailable when it cannot be bound.
absl::StatusOr<std::unique_ptr<base::HttpServer>> ServeStartupHealth(const std::string& address,
                                                                     const StartupWait& wait);

}  // namespace kube

#endif  // KUBE_RUNTIME_STARTUP_HEALTH_H_
