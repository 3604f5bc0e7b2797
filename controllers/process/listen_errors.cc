#include "controllers/process/listen_errors.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/runtime/serving_names.h"

namespace controllers {

absl::Status WithListenFlag(const absl::Status& result, const config::Options& options) {
  if (absl::StartsWith(result.message(), absl::StrCat(kube::kServingMetrics, ":"))) {
    return base::Annotate(result, "--metrics-bind-address=", options.metrics_bind_address);
  }
  if (absl::StartsWith(result.message(), absl::StrCat(kube::kServingHealth, ":"))) {
    return base::Annotate(result,
                          "--health-probe-bind-address=", options.health_probe_bind_address);
  }
  return result;
}

absl::Status WithProfilingFlag(const absl::Status& result, const config::Options& options) {
  return base::Annotate(result, "--profiling-bind-address=", options.profiling.bind_address,
                        ": serving profiles");
}

}  // namespace controllers
