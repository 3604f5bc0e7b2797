// The health endpoints of an API server: /healthz, /livez and /readyz with named checks.
#ifndef KUBE_AGGREGATION_HEALTH_H_
#define KUBE_AGGREGATION_HEALTH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"

namespace kube::aggregation {

// Answers in the format of apiserver's healthz package, with ?verbose, ?exclude=<check> (any number
// of them) and a path for each check. Thread-safe.
class HealthEndpoints {
 public:
  // Called for each request; must not block. An error's message is shown at the check's own path
  // and logged at V(2), but not shown to everybody.
  using Check = std::function<absl::Status()>;
  // Which endpoints a check is part of.
  enum class Scope {
    kAll,        // /healthz, /livez and /readyz.
    kReadiness,  // /readyz: the process lives, but should get no requests.
  };

  // Adds the checks "ping", and "shutdown" for readiness.
  HealthEndpoints();
  HealthEndpoints(const HealthEndpoints&) = delete;

  // Checks are shown in the order in which they were added, "shutdown" last.
  void Add(std::string name, Scope scope, Check check);
  // The check "shutdown" fails from now on.
  void BeginShutdown();

  // Returns whether the path is one that Answer serves, even if it is an unknown check.
  static bool Serves(absl::string_view path);
  base::HttpResponse Answer(const base::HttpRequest& request) const;

 private:
  struct Named {
    std::string name;
    Scope scope;
    Check check;
  };
  std::vector<Named> ChecksOf(absl::string_view endpoint) const;

  mutable absl::Mutex mu_;
  std::vector<Named> checks_ ABSL_GUARDED_BY(mu_);
  bool shutting_down_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_HEALTH_H_
