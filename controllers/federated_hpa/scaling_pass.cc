#include "controllers/federated_hpa/scaling_pass.h"

#include "absl/strings/str_cat.h"
#include "api/condition.h"
#include "api/scaling_reasons.h"
#include "kube/client/errors.h"

namespace controllers {

absl::Status ScalingPass::Fail(const ScalingFailure& failure, const absl::Status& cause) {
  if (kube::IsNoOutcome(cause)) return cause;
  Warn(failure.event, cause.message());
  Set(api::ConditionOf(api::kAbleToScale, false, failure.reason,
                       absl::StrCat(failure.message, cause.message())));
  return cause;
}

absl::Status ScalingPass::FailToCompute(const std::string& error) {
  Warn(api::scaling::kFailedComputeMetricsReplicas, error);
  api::SetScalingStatus(after, {.current_replicas = current()});
  return absl::FailedPreconditionError(error);
}

}  // namespace controllers
