// What becomes of the target of a FederatedHPA: by its bounds, or by its metrics.
#ifndef CONTROLLERS_FEDERATED_HPA_SCALING_DECISION_H_
#define CONTROLLERS_FEDERATED_HPA_SCALING_DECISION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/federated_hpa.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/autoscaling/metrics_source.h"
#include "controllers/autoscaling/replica_calculator.h"
#include "controllers/federated_hpa/member_scales.h"
#include "controllers/federated_hpa/scaling_memory.h"
#include "controllers/federated_hpa/scaling_pass.h"
#include "kube/runtime/manager.h"

namespace controllers {

struct ScalingDecision {
  int64_t replicas = 0;
  std::string cause;  // Of a change, for its event.
  std::vector<api::MetricStatus> metrics;
};

class ScalingDecider {
 public:
  // REQUIRES: `manager` and `memory` outlive the decider.
  ScalingDecider(kube::Manager& manager, ScalingMemory& memory, const config::PodAutoscaling& flags,
                 std::unique_ptr<autoscaling::MetricsSource> metrics)
      : manager_(manager), memory_(memory), flags_(flags), metrics_(std::move(metrics)) {}

  // `sum` is what the clusters say about the target. Sets conditions of the pass; an error has been
  // reported there.
  absl::StatusOr<ScalingDecision> Decide(ScalingPass& pass, const MemberScaleSum& sum,
                                         const base::StopToken& stop);

 private:
  absl::StatusOr<ScalingDecision> DecideByMetrics(ScalingPass& pass, const MemberScaleSum& sum,
                                                  const base::StopToken& stop);
  // Checks that the pods can be selected, and belong to this FederatedHPA alone.
  absl::Status CheckSelector(ScalingPass& pass, const MemberScaleSum& sum);
  std::vector<kube::ObjectKey> Controlling(const kube::Object& hpa, const MemberScaleSum& sum);
  autoscaling::TargetState StateOf(const ScalingPass& pass, const MemberScaleSum& sum) const;

  kube::Manager& manager_;
  ScalingMemory& memory_;
  const config::PodAutoscaling flags_;
  const std::unique_ptr<autoscaling::MetricsSource> metrics_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_HPA_SCALING_DECISION_H_
