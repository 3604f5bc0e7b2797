// How many replicas one metric asks for (upstream's ReplicaCalculator, which is that of Kubernetes'
// autoscaler): the present number times the ratio of the metric to its aim.
//
// The number is that of the template. The pods are those of all clusters together: a template that
// is duplicated has its pods several times. What follows from a number of pods is therefore divided
// by the calibration, which says how many replicas in clusters stand for one of the template.
//
// Errors are those of upstream, byte for byte; callers put context before them.
#ifndef CONTROLLERS_AUTOSCALING_REPLICA_CALCULATOR_H_
#define CONTROLLERS_AUTOSCALING_REPLICA_CALCULATOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "controllers/autoscaling/pod_metrics.h"

namespace autoscaling {

// By how much the ratio may exceed, or fall short of, 1 without a change.
struct Tolerance {
  double up = 0.1;
  double down = 0.1;
  bool Covers(double ratio) const { return ratio - 1.0 <= up && 1.0 - ratio <= down; }
};

// What is known about the target.
struct TargetState {
  int64_t replicas = 0;         // spec.replicas of the template.
  int64_t status_replicas = 0;  // The replicas that there are, in all clusters together.
  double calibration = 1;       // spec.replicas in all clusters by spec.replicas of the template.
  absl::Span<const Pod> pods;
  Tolerance tolerance;
  absl::Duration cpu_period, readiness_delay;  // As in Initialization.
  absl::Time now;
};

// What a metric asks for, and its value, for the status.
struct Proposal {
  int64_t replicas = 0;
  std::optional<int64_t> average_utilization;
  std::optional<int64_t> average_milli, value_milli;
};

// The use of a resource by pods. `container` is "" for all containers together.
struct ResourceUse {
  absl::string_view resource;
  absl::string_view container;
  const Samples& samples;
};
// `target` is in percent of what the pods request.
absl::StatusOr<Proposal> ReplicasForUtilization(const TargetState& state, const ResourceUse& use,
                                                int64_t target);
// `target` is the aim for the average of the pods, in thousandths. REQUIRES: it is positive.
absl::StatusOr<Proposal> ReplicasForAverage(const TargetState& state, const ResourceUse& use,
                                            int64_t target);

// The value of a metric that is not of the pods, in thousandths, and its aim. REQUIRES: the aim is
// positive.
struct Value {
  int64_t milli = 0;
  int64_t target = 0;
};
// The number of ready pods times the ratio.
absl::StatusOr<Proposal> ReplicasForValue(const TargetState& state, const Value& value);
// As many pods as have the aim each. Upstream divides by the calibration twice if the number
// changes.
Proposal ReplicasForValuePerPod(const TargetState& state, const Value& value);

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_REPLICA_CALCULATOR_H_
