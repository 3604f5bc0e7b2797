// Reasons of the conditions that templates of Kubernetes' own kinds get. They are those of
// Kubernetes' controllers, where these make such a condition.
#ifndef API_TEMPLATE_REASONS_H_
#define API_TEMPLATE_REASONS_H_

namespace api {
namespace reason {

// Jobs: FailureTarget and Failed, Complete, SuccessCriteriaMet.
inline constexpr char kJobFailed[] = "JobFailed";
inline constexpr char kJobCompleted[] = "Completed";
inline constexpr char kCompletionsReached[] = "CompletionsReached";

// Deployments: Available.
inline constexpr char kMinimumReplicasAvailable[] = "MinimumReplicasAvailable";
inline constexpr char kMinimumReplicasUnavailable[] = "MinimumReplicasUnavailable";
// Deployments: Progressing.
inline constexpr char kNewReplicaSetAvailable[] = "NewReplicaSetAvailable";
inline constexpr char kReplicaSetUpdated[] = "ReplicaSetUpdated";
inline constexpr char kDeploymentPaused[] = "DeploymentPaused";
inline constexpr char kProgressDeadlineExceeded[] = "ProgressDeadlineExceeded";

// A cluster has not reported what the condition is about. Shipped customizations say the same.
inline constexpr char kNotReported[] = "NotReported";

}  // namespace reason
}  // namespace api

#endif  // API_TEMPLATE_REASONS_H_
