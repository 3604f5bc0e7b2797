// Where the values of metrics come from. MetricsClient asks the control plane; tests have their
// own.
#ifndef CONTROLLERS_AUTOSCALING_METRICS_SOURCE_H_
#define CONTROLLERS_AUTOSCALING_METRICS_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/federated_hpa.h"
#include "base/stop_token.h"
#include "controllers/autoscaling/pod_metrics.h"

namespace autoscaling {

// The pods that a metric is asked for.
struct PodSelection {
  std::string ns;
  std::string selector;  // The text of a label selector.
};

// Thread-safe. Every call has a deadline. Errors have upstream's words.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  // Returns the use of `spec.resource` by each pod, or by its container `spec.container`.
  virtual absl::StatusOr<Samples> Resource(const PodSelection& pods, const api::MetricSpec& spec,
                                           const base::StopToken& stop) = 0;
  // Returns the metric of each pod.
  virtual absl::StatusOr<Samples> Pods(const PodSelection& pods, const api::MetricSpec& spec,
                                       const base::StopToken& stop) = 0;
  // Returns the metric of `spec.described_object`, which is in the namespace, in thousandths.
  virtual absl::StatusOr<int64_t> Object(const std::string& ns, const api::MetricSpec& spec,
                                         const base::StopToken& stop) = 0;
  // Returns the sum of the series of a metric that is of no object, in thousandths.
  virtual absl::StatusOr<int64_t> External(const std::string& ns, const api::MetricSpec& spec,
                                           const base::StopToken& stop) = 0;
};

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_METRICS_SOURCE_H_
