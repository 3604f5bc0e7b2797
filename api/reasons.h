// Reasons and messages of conditions and events: the texts that users and dashboards know from
// upstream.
//
// `binding`, `policy` and similar parameters are what Describe() of a scope returns, or an object's
// key.
#ifndef API_REASONS_H_
#define API_REASONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "kube/meta/names.h"

namespace api {

// Names of controllers and event sources, but for those of a scope (binding_scope.h,
// policy_scope.h).
inline constexpr char kInterpreterSource[] = "resource-interpreter";
inline constexpr char kResourceDetector[] = "resource detector";
inline constexpr char kDetectorSource[] = "resource-detector";
inline constexpr char kExecutionController[] = "execution-controller";
// The loop over Works that watches their kinds in members, and the loop over members' objects that
// it queues: that one determines their status, and the writer puts it into the Works.
inline constexpr char kWorkStatusController[] = "work-status-controller";
inline constexpr char kWorkStatusOfObjects[] = "work-status";
inline constexpr char kWorkStatusWriter[] = "work-status-writer";
inline constexpr char kMemberController[] = "member-cluster-controller";
inline constexpr char kNamespaceSyncController[] = "namespace-sync-controller";
inline constexpr char kClusterController[] = "cluster-controller";
inline constexpr char kClusterStatusController[] = "cluster-status-controller";
inline constexpr char kUnifiedAuthController[] = "unified-auth-controller";
inline constexpr char kClusterTaintPolicyController[] = "cluster-taint-policy-controller";
inline constexpr char kTaintManager[] = "taint-manager";
inline constexpr char kDependenciesDistributor[] = "dependencies-distributor";
inline constexpr char kWorkloadRebalancer[] = "workload-rebalancer";
inline constexpr char kDeploymentReplicasSyncer[] = "deployment-replicas-syncer";
inline constexpr char kHpaScaleTargetMarker[] = "hpa-scale-target-marker";
inline constexpr char kQuotaSyncController[] = "federated-resource-quota-sync-controller";
inline constexpr char kQuotaStatusController[] = "federated-resource-quota-status-controller";
// The enforcement controller has another name in metrics than in events.
inline constexpr char kQuotaEnforcementController[] = "federatedresourcequota";
inline constexpr char kQuotaEnforcementSource[] = "federated-resource-quota-enforcement-controller";
inline constexpr char kRemedyController[] = "remedy-controller";
inline constexpr char kAgentCsrApprovingController[] = "agent-csr-approving-controller";
inline constexpr char kServiceExportController[] = "service-export-controller";
inline constexpr char kServiceExportQueue[] = "service-export";
inline constexpr char kEndpointSliceController[] = "endpointslice-controller";
inline constexpr char kServiceImportController[] = "service-import-controller";
inline constexpr char kMultiClusterServiceController[] = "multiclusterservice-controller";
inline constexpr char kEndpointSliceCollectController[] = "endpointslice-collect-controller";
inline constexpr char kEndpointSliceCollectQueue[] = "endpointslice-collect";
inline constexpr char kEndpointSliceDispatchController[] = "endpointslice-dispatch-controller";
inline constexpr char kFederatedHpaController[] = "federatedHPA-controller";
inline constexpr char kCronFederatedHpaController[] = "cronfederatedhpa-controller";
inline constexpr char kClusterApiDetector[] = "cluster-api-detector";
inline constexpr char kOverrideManagerSource[] = "override-manager";

namespace reason {

// Reasons of events on the configurations of the resource interpreter.
inline constexpr char kInvalidConfiguration[] = "InvalidConfiguration";
inline constexpr char kValidConfiguration[] = "ValidConfiguration";
inline constexpr char kWebhookSuspended[] = "WebhookSuspended";
inline constexpr char kWebhookResumed[] = "WebhookResumed";

// Reasons of the detector's events on policies.
inline constexpr char kResourceNotServed[] = "ResourceNotServed";
inline constexpr char kResourceNotPropagated[] = "ResourceNotPropagated";
inline constexpr char kWaitingForKind[] = "WaitingForKind";
inline constexpr char kWaitForKindEnded[] = "WaitForKindEnded";
inline constexpr char kKindServedLate[] = "KindServedLate";
// Reasons of the detector's events on templates.
inline constexpr char kApplyPolicySucceed[] = "ApplyPolicySucceed";
inline constexpr char kApplyPolicyFailed[] = "ApplyPolicyFailed";
inline constexpr char kPolicyReleased[] = "PolicyReleased";
inline constexpr char kPreemptPolicySucceed[] = "PreemptPolicySucceed";
inline constexpr char kPreemptPolicyFailed[] = "PreemptPolicyFailed";
inline constexpr char kGetReplicasSucceed[] = "GetReplicasSucceed";
inline constexpr char kGetReplicasFailed[] = "GetReplicasFailed";
inline constexpr char kGetComponentsSucceed[] = "GetComponentsSucceed";
inline constexpr char kGetComponentsFailed[] = "GetComponentsFailed";

// Reasons of the dependencies distributor's events on templates.
inline constexpr char kGetDependenciesSucceed[] = "GetDependenciesSucceed";
inline constexpr char kGetDependenciesFailed[] = "GetDependenciesFailed";
// Reasons of its events on bindings.
inline constexpr char kSyncScheduleResultToDependenciesSucceed[] =
    "SyncScheduleResultToDependenciesSucceed";
inline constexpr char kSyncScheduleResultToDependenciesFailed[] =
    "SyncScheduleResultToDependenciesFailed";
inline constexpr char kDependencyPolicyConflict[] = "DependencyPolicyConflict";

// Reasons of the binding controllers' events on bindings and templates.
inline constexpr char kSyncWorkSucceed[] = "SyncWorkSucceed";
inline constexpr char kSyncWorkFailed[] = "SyncWorkFailed";
inline constexpr char kBindingRefused[] = "BindingRefused";
inline constexpr char kDependenciesNotPropagated[] = "DependenciesNotPropagated";
inline constexpr char kCleanupWorkFailed[] = "CleanupWorkFailed";
inline constexpr char kHeldBackTemplateUsed[] = "HeldBackTemplateUsed";
inline constexpr char kSuspendedWorkKept[] = "SuspendedWorkKept";
// On Works and EndpointSlices, of the loops that made them for another object.
inline constexpr char kOwnerMissing[] = "OwnerMissing";
inline constexpr char kAggregateStatusSucceed[] = "AggregateStatusSucceed";
inline constexpr char kAggregateStatusFailed[] = "AggregateStatusFailed";

// Reasons of the enforcement controller's events on FederatedResourceQuotas. The other two
// controllers of quotas use kSyncWork... and kAggregateStatus...
inline constexpr char kCollectOverallStatusSucceed[] = "CollectOverallStatusSucceed";
inline constexpr char kCollectOverallStatusFailed[] = "CollectOverallStatusFailed";
inline constexpr char kResourceNotCounted[] = "ResourceNotCounted";

// The reason of an event on a Cluster whose objects take more memory than a member may. Upstream
// has none.
inline constexpr char kClusterMemoryExceeded[] = "ClusterMemoryExceeded";

// Reasons of events on CertificateSigningRequests.
inline constexpr char kInvalidCertificateRequest[] = "InvalidCertificateRequest";
inline constexpr char kAgentCertificateNotRecognized[] = "AgentCertificateNotRecognized";
inline constexpr char kAgentCertificateNotPermitted[] = "AgentCertificateNotPermitted";

// Reasons of events on templates and namespaces about override policies.
inline constexpr char kApplyOverridePolicySucceed[] = "ApplyOverridePolicySucceed";
inline constexpr char kApplyOverridePolicyFailed[] = "ApplyOverridePolicyFailed";

// Reasons of the events on WorkloadRebalancers. Upstream has none.
inline constexpr char kRebalanceStarted[] = "RebalanceStarted";
inline constexpr char kRebalanceFinished[] = "RebalanceFinished";
inline constexpr char kRebalanceWorkloadFailed[] = "RebalanceWorkloadFailed";

// Reasons of a binding's condition FullyApplied.
inline constexpr char kFullyAppliedSuccess[] = "FullyAppliedSuccess";
inline constexpr char kFullyAppliedFailed[] = "FullyAppliedFailed";

// Reasons of the execution controller's events on Works and templates.
inline constexpr char kSyncSucceed[] = "SyncSucceed";
inline constexpr char kSyncFailed[] = "SyncFailed";
inline constexpr char kWorkDispatching[] = "WorkDispatching";

// Reasons of a Work's conditions.
inline constexpr char kDispatching[] = "Dispatching";
inline constexpr char kSuspendDispatching[] = "SuspendDispatching";
inline constexpr char kAppliedSuccessful[] = "AppliedSuccessful";
inline constexpr char kAppliedFailed[] = "AppliedFailed";
inline constexpr char kReCreateSuccessful[] = "ReCreateSuccessful";
inline constexpr char kReCreateFailed[] = "ReCreateFailed";

// Reasons of the work status controller's events on Works.
inline constexpr char kReflectStatusSucceed[] = "ReflectStatusSucceed";
inline constexpr char kReflectStatusFailed[] = "ReflectStatusFailed";
inline constexpr char kInterpretHealthSucceed[] = "InterpretHealthSucceed";
inline constexpr char kInterpretHealthFailed[] = "InterpretHealthFailed";
// The reason of its events on Works and bindings whose object has not been healthy for long.
// Upstream has none.
inline constexpr char kUnhealthy[] = "Unhealthy";

// Reasons of the cluster controller's events on Clusters.
inline constexpr char kCreateExecutionSpaceSucceed[] = "CreateExecutionSpaceSucceed";
inline constexpr char kCreateExecutionSpaceFailed[] = "CreateExecutionSpaceFailed";
inline constexpr char kRemoveExecutionSpaceSucceed[] = "RemoveExecutionSpaceSucceed";
inline constexpr char kRemoveExecutionSpaceFailed[] = "RemoveExecutionSpaceFailed";
inline constexpr char kTaintClusterSucceed[] = "TaintClusterSucceed";
inline constexpr char kTaintClusterFailed[] = "TaintClusterFailed";
// The reason of events on a ClusterTaintPolicy that can never match. Upstream has none.
inline constexpr char kInvalidMatchCondition[] = "InvalidMatchCondition";

// Reasons of the unified auth controller's events on Clusters.
inline constexpr char kSyncImpersonationConfigSucceed[] = "SyncImpersonationConfigSucceed";
inline constexpr char kSyncImpersonationConfigFailed[] = "SyncImpersonationConfigFailed";

// Reasons of a Cluster's condition Ready.
inline constexpr char kClusterReady[] = "ClusterReady";
inline constexpr char kClusterNotReady[] = "ClusterNotReady";
inline constexpr char kClusterNotReachable[] = "ClusterNotReachable";
inline constexpr char kStatusCollectionFailed[] = "StatusCollectionFailed";
inline constexpr char kClusterStatusNeverUpdated[] = "ClusterStatusNeverUpdated";
inline constexpr char kClusterStatusUnknown[] = "ClusterStatusUnknown";
// Reasons of a Cluster's condition CompleteAPIEnablements.
inline constexpr char kComplete[] = "Complete";
inline constexpr char kPartial[] = "Partial";
inline constexpr char kEmpty[] = "Empty";

}  // namespace reason

namespace message {

inline constexpr char kGetReplicasSucceed[] = "Get replicas of resource template successfully.";
inline constexpr char kGetComponentsSucceed[] = "Get components of resource template successfully.";
inline constexpr char kFullyAppliedSuccess[] = "All works have been successfully applied";
inline constexpr char kFullyAppliedFailed[] =
    "Failed to apply all works, see status.aggregatedStatus for details";
// The message of the event on a template whose status was written.
inline constexpr char kTemplateStatusAggregated[] =
    "Update Resource with AggregatedStatus successfully.";
// The messages of the reasons SuspendDispatching and Dispatching, and of the events about these.
inline constexpr char kWorkSuspended[] = "Work dispatching is in a suspended state.";
inline constexpr char kWorkDispatching[] = "Work is being dispatched to member clusters.";
// The message of the reasons AppliedSuccessful and ReCreateSuccessful.
inline constexpr char kManifestApplied[] = "Manifest has been successfully applied";
inline constexpr char kImpersonationConfigSynced[] = "Sync impersonation config succeed.";
inline constexpr char kClusterReady[] = "cluster is healthy and ready to accept workloads";
inline constexpr char kClusterNotReady[] =
    "cluster is reachable but health endpoint responded without ok";
inline constexpr char kClusterNotReachable[] = "cluster is not reachable";
inline constexpr char kClusterStatusNeverUpdated[] =
    "Cluster status controller never posted cluster status.";
inline constexpr char kClusterStatusUnknown[] =
    "Cluster status controller stopped posting cluster status.";
inline constexpr char kApiEnablementsComplete[] =
    "collected complete APIEnablements from the cluster";
inline constexpr char kApiEnablementsEmpty[] = "collected empty APIEnablements from the cluster";

// "Apply policy(ns/n) succeed"; `policy` is what a policy scope's Describe() returns.
std::string PolicyApplied(absl::string_view policy);
std::string PolicyNotApplied(absl::string_view policy, const absl::Status& why);

// "Propagation policy(ns/n) preempted cluster propagation policy(m) successfully"; the keys are
// those of policies of either scope.
std::string PolicyPreempted(const kube::ObjectKey& preemptor, const kube::ObjectKey& holder);
std::string PolicyNotPreempted(const kube::ObjectKey& preemptor, const kube::ObjectKey& holder,
                               const absl::Status& why);

// "Get dependencies([...]) succeed."; `dependencies` is what PrintedDependencies() returns.
std::string DependenciesGot(absl::string_view dependencies);
std::string DependenciesOfClusterScoped(absl::string_view dependencies);
inline constexpr char kScheduleResultSyncedToDependencies[] =
    "Sync schedule results to dependencies succeed.";
// The message of the reason DependencyPolicyConflict: which of the two fields have different values
// in the bindings that need the same object. REQUIRES: at least one of them has.
std::string DependencyPolicyConflict(bool conflict_resolution, bool preserve_on_deletion);

// "Sync work of ResourceBinding(ns/n) successful."; `binding` is what a binding scope's Describe()
// returns.
std::string WorksSynced(absl::string_view binding);
// A cluster that had no object has got the template although its present state is held back.
// `is_released` says that no policy governs the template any more.
std::string HeldBackTemplateUsed(absl::string_view cluster, bool is_released);
// The scheduler has taken a cluster out of a binding that suspends dispatching to it.
std::string SuspendedWorkKept(absl::string_view cluster);
// What an object was made for, such as "Work ns/n", is not there.
std::string OwnerMissing(absl::string_view owner);
// "Apply override policy(ns/n) for cluster(m) succeed." and "… failed. <why>"; `policy` is
// "override policy(ns/n)" or "cluster override policy(n)".
std::string OverridePolicyApplied(absl::string_view policy, absl::string_view cluster);
std::string OverridePolicyNotApplied(absl::string_view policy, absl::string_view cluster,
                                     const absl::Status& why);
// "Update ResourceBinding(ns/n) with AggregatedStatus successfully."
std::string BindingStatusAggregated(absl::string_view binding);

// "Sync works for FederatedResourceQuota(ns/n) succeed."
std::string QuotaSynced(const kube::ObjectKey& quota);
// "Collect status of FederatedResourceQuota(ns/n) succeed."
std::string QuotaStatusCollected(const kube::ObjectKey& quota);

// The messages of events on the Work; `work` is its key.
std::string WorkSynced(const kube::ObjectKey& work, absl::string_view cluster);
std::string WorkNotSynced(const kube::ObjectKey& work, absl::string_view cluster,
                          const absl::Status& why);
// The messages of events on the template; `object` is the manifest's key.
std::string ManifestSynced(const kube::ObjectKey& object, absl::string_view cluster);
std::string ManifestNotSynced(const kube::ObjectKey& object, absl::string_view cluster,
                              const absl::Status& why);
// The messages of events about deletions: of one that succeeded after a failure, and of one that
// failed.
std::string ManifestDeleted(const kube::ObjectKey& object, absl::string_view cluster);
std::string ManifestNotDeleted(const kube::ObjectKey& object, absl::string_view cluster,
                               const absl::Status& why);
// The message of the reason AppliedFailed on a Work that is being deleted.
std::string ManifestsNotRemoved(const absl::Status& why);
// The message of the reason AppliedFailed: "Failed to apply all manifests (1/2): <why>".
std::string ManifestsNotApplied(int applied, int total, const absl::Status& why);
// The error for a member object that Karmada does not manage, in upstream's words.
std::string ObjectExistsUnmanaged(absl::string_view kind, const kube::ObjectKey& object,
                                  absl::string_view cluster);
// What to do about it, and what follows from that: a sentence for events.
std::string TakeOverAdvice(absl::string_view kind);

// "Reflect status for object(Kind/ns/n) succeed."
std::string StatusReflected(absl::string_view kind, const kube::ObjectKey& object);
std::string StatusNotReflected(absl::string_view kind, const kube::ObjectKey& object,
                               const absl::Status& why);
// "Interpret health of object(Kind/ns/n) as healthy."
std::string HealthInterpreted(absl::string_view kind, const kube::ObjectKey& object, bool healthy);
// "Interpret health of object(Kind/ns/n) as unhealthy. <why>"; as above when `why` is "".
std::string UnhealthyBecause(absl::string_view kind, const kube::ObjectKey& object,
                             absl::string_view why);
// The message of the reason Unhealthy: "Kind ns/n in cluster m has been unhealthy for 5m[: <why>]".
std::string UnhealthyFor(absl::string_view object, absl::string_view cluster,
                         absl::Duration duration, absl::string_view why);
// Returns the <why> of the two above; "" when the message of an event has none.
std::string WhyUnhealthyIn(absl::string_view message);
std::string HealthNotInterpreted(absl::string_view kind, const kube::ObjectKey& object,
                                 const absl::Status& why);

std::string ExecutionSpaceCreated(absl::string_view ns, absl::string_view cluster);
std::string ExecutionSpaceNotCreated(absl::string_view ns, const absl::Status& why);
std::string ExecutionSpaceRemoved(absl::string_view cluster);
std::string ExecutionSpaceNotRemoved(absl::string_view cluster, const absl::Status& why);
// "Taint cluster succeed: cluster now has taints([{Key:k,Effect:e}])."; `taints` are those after
// the change.
std::string ClusterTainted(absl::Span<const Taint> taints);
std::string ClusterNotTainted(const absl::Status& why);
// "Update Cluster(m) with taints(cluster now has taints([{Key:k,Effect:e}])) succeed", for changes
// that ClusterTaintPolicies make.
std::string TaintsUpdated(absl::string_view cluster, absl::Span<const Taint> taints);
// The message of the reason StatusCollectionFailed.
std::string ClusterClientFailed(const absl::Status& why);
// The message of the reason Partial; `groups` is the number of groups that were found.
std::string ApiEnablementsPartial(int groups);

}  // namespace message
}  // namespace api

#endif  // API_REASONS_H_
