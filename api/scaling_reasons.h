// Reasons and messages of the conditions and events of FederatedHPAs: those of upstream, byte for
// byte.
#ifndef API_SCALING_REASONS_H_
#define API_SCALING_REASONS_H_

namespace api::scaling {

// Reasons of the condition AbleToScale.
inline constexpr char kFailedGetScale[] = "FailedGetScale";
inline constexpr char kFailedGetScaleTargetRef[] = "FailedGetScaleTargetRef";
inline constexpr char kFailedGetBinding[] = "FailedGetBinding";
inline constexpr char kFailedGetTargetClusters[] = "FailedGetTargetClusters";
inline constexpr char kFailedUpdateScale[] = "FailedUpdateScale";
inline constexpr char kSucceededGetScale[] = "SucceededGetScale";
inline constexpr char kReadyForNewScale[] = "ReadyForNewScale";
inline constexpr char kSucceededRescale[] = "SucceededRescale";
inline constexpr char kScaleDownStabilized[] = "ScaleDownStabilized";
inline constexpr char kScaleUpStabilized[] = "ScaleUpStabilized";

// Reasons of the condition ScalingActive.
inline constexpr char kValidMetricFound[] = "ValidMetricFound";
inline constexpr char kScalingDisabled[] = "ScalingDisabled";
inline constexpr char kInvalidSelector[] = "InvalidSelector";
inline constexpr char kAmbiguousSelector[] = "AmbiguousSelector";
inline constexpr char kFailedGetObjectMetric[] = "FailedGetObjectMetric";
inline constexpr char kFailedGetPodsMetric[] = "FailedGetPodsMetric";
inline constexpr char kFailedGetResourceMetric[] = "FailedGetResourceMetric";
inline constexpr char kFailedGetContainerResourceMetric[] = "FailedGetContainerResourceMetric";
// Kubernetes' reason; upstream has no external metrics.
inline constexpr char kFailedGetExternalMetric[] = "FailedGetExternalMetric";
inline constexpr char kInvalidMetricSourceType[] = "InvalidMetricSourceType";

// Reasons of the condition ScalingLimited.
inline constexpr char kTooManyReplicas[] = "TooManyReplicas";
inline constexpr char kTooFewReplicas[] = "TooFewReplicas";
inline constexpr char kScaleUpLimit[] = "ScaleUpLimit";
inline constexpr char kScaleDownLimit[] = "ScaleDownLimit";
inline constexpr char kDesiredWithinRange[] = "DesiredWithinRange";

// Reasons of events that no condition has.
inline constexpr char kFailedGetBindings[] = "FailedGetBindings";
inline constexpr char kSelectorRequired[] = "SelectorRequired";
inline constexpr char kFailedComputeMetricsReplicas[] = "FailedComputeMetricsReplicas";
inline constexpr char kFailedRescale[] = "FailedRescale";
inline constexpr char kSuccessfulRescale[] = "SuccessfulRescale";
inline constexpr char kFailedUpdateStatus[] = "FailedUpdateStatus";

namespace message {

inline constexpr char kSucceededGetScale[] =
    "the HPA controller was able to get the target's current scale";
inline constexpr char kReadyForNewScale[] = "recommended size matches current size";
inline constexpr char kScaleDownStabilized[] =
    "recent recommendations were higher than current one, applying the highest recent "
    "recommendation";
inline constexpr char kScaleUpStabilized[] =
    "recent recommendations were lower than current one, applying the lowest recent recommendation";
inline constexpr char kDesiredWithinRange[] = "the desired count is within the acceptable range";
inline constexpr char kScaleUpLimit[] =
    "the desired replica count is increasing faster than the maximum scale rate";
inline constexpr char kTooManyReplicas[] =
    "the desired replica count is more than the maximum replica count";
inline constexpr char kScaleDownLimit[] =
    "the desired replica count is decreasing faster than the maximum scale rate";
inline constexpr char kTooFewReplicas[] =
    "the desired replica count is less than the minimum replica count";
inline constexpr char kScalingDisabled[] =
    "scaling is disabled since the replica count of the target is zero";
inline constexpr char kSelectorMissing[] = "the HPA target's scale is missing a selector";
inline constexpr char kSelectorRequired[] = "selector is required";
// What follows is the cause.
inline constexpr char kUnableToCompute[] = "the HPA was unable to compute the replica count: ";
inline constexpr char kUnableToGetScale[] =
    "the HPA controller was unable to get the target's current scale: ";
inline constexpr char kUnableToGetTarget[] =
    "the HPA controller was unable to get the target reference object: ";
inline constexpr char kUnableToGetBinding[] =
    "the HPA controller was unable to get the binding by scaleTargetRef: ";
inline constexpr char kUnableToGetClusters[] =
    "the HPA controller was unable to get the target clusters from binding: ";
inline constexpr char kUnableToUpdateScale[] =
    "the HPA controller was unable to update the target scale: ";

}  // namespace message
}  // namespace api::scaling

#endif  // API_SCALING_REASONS_H_
