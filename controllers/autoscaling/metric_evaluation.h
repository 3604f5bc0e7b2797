// How many replicas all metrics of a FederatedHPA together ask for (upstream's
// computeReplicasForMetrics): the most that one of them asks for. Metrics that fail do not count,
// unless the others would scale down.
#ifndef CONTROLLERS_AUTOSCALING_METRIC_EVALUATION_H_
#define CONTROLLERS_AUTOSCALING_METRIC_EVALUATION_H_

#include <optional>
#include <string>
#include <vector>

#include "api/federated_hpa.h"
#include "base/stop_token.h"
#include "controllers/autoscaling/metrics_source.h"
#include "controllers/autoscaling/replica_calculator.h"
#include "kube/meta/object.h"

namespace autoscaling {

// A metric that could not be evaluated: the text of the event about it.
struct MetricFailure {
  std::string reason;  // FailedGetResourceMetric, ...
  std::string message;
};

struct Evaluation {
  // nullopt: nothing may be scaled, because no metric is valid, or those that are would scale down.
  std::optional<int64_t> replicas;
  std::string metric;                       // What asks for them: "cpu resource utilization ...".
  std::vector<api::MetricStatus> statuses;  // Of the valid metrics.
  std::vector<MetricFailure> failures;      // Of the others.
  kube::Condition active;                   // The condition ScalingActive.
  // The whole error: "invalid metrics (1 invalid out of 2), first error is: ..."; "" without one.
  std::string error;
};

// So many metrics of an autoscaler are evaluated. Each is a question to every cluster of its
// target, and an object has room for ten thousand.
inline constexpr size_t kMostMetrics = 100;

// Evaluates one metric after the other; of more than kMostMetrics none, which is the failure.
Evaluation Evaluate(const std::vector<api::MetricSpec>& metrics, const TargetState& state,
                    const PodSelection& pods, MetricsSource& source, const base::StopToken& stop);

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_METRIC_EVALUATION_H_
