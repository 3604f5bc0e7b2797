// Types of the workload groups. See wire_schema.h for the notation.
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

absl::string_view AppsWireTypes() {
  return R"(package apps
ControllerRevision metadata:1:meta.ObjectMeta data:2:R revision:3:!i
DaemonSet metadata:1:meta.ObjectMeta spec:2:DaemonSetSpec status:3:DaemonSetStatus
DaemonSetCondition type:1:!s status:2:!s lastTransitionTime:3:T reason:4:s message:5:s
DaemonSetSpec selector:1:meta.LabelSelector template:2:core.PodTemplateSpec
  updateStrategy:3:DaemonSetUpdateStrategy minReadySeconds:4:i revisionHistoryLimit:6:!i
DaemonSetStatus currentNumberScheduled:1:!i numberMisscheduled:2:!i desiredNumberScheduled:3:!i
  numberReady:4:!i observedGeneration:5:i updatedNumberScheduled:6:i numberAvailable:7:i
  numberUnavailable:8:i collisionCount:9:!i conditions:10:*DaemonSetCondition
DaemonSetUpdateStrategy type:1:s rollingUpdate:2:RollingUpdateDaemonSet
Deployment metadata:1:meta.ObjectMeta spec:2:DeploymentSpec status:3:DeploymentStatus
DeploymentCondition type:1:!s status:2:!s lastUpdateTime:6:T lastTransitionTime:7:T reason:4:s
  message:5:s
DeploymentSpec replicas:1:!i selector:2:meta.LabelSelector template:3:core.PodTemplateSpec
  strategy:4:DeploymentStrategy minReadySeconds:5:i revisionHistoryLimit:6:!i paused:7:b
  progressDeadlineSeconds:9:!i
DeploymentStatus observedGeneration:1:i replicas:2:i updatedReplicas:3:i readyReplicas:7:i
  availableReplicas:4:i unavailableReplicas:5:i terminatingReplicas:9:!i
  conditions:6:*DeploymentCondition collisionCount:8:!i
DeploymentStrategy type:1:s rollingUpdate:2:RollingUpdateDeployment
ReplicaSet metadata:1:meta.ObjectMeta spec:2:ReplicaSetSpec status:3:ReplicaSetStatus
ReplicaSetCondition type:1:!s status:2:!s lastTransitionTime:3:T reason:4:s message:5:s
ReplicaSetSpec replicas:1:!i minReadySeconds:4:i selector:2:meta.LabelSelector
  template:3:core.PodTemplateSpec
ReplicaSetStatus replicas:1:!i fullyLabeledReplicas:2:i readyReplicas:4:i availableReplicas:5:i
  terminatingReplicas:7:!i observedGeneration:3:i conditions:6:*ReplicaSetCondition
RollingUpdateDaemonSet maxUnavailable:1:I maxSurge:2:I
RollingUpdateDeployment maxUnavailable:1:I maxSurge:2:I
RollingUpdateStatefulSetStrategy partition:1:!i maxUnavailable:2:I
StatefulSet metadata:1:meta.ObjectMeta spec:2:StatefulSetSpec status:3:StatefulSetStatus
StatefulSetCondition type:1:!s status:2:!s lastTransitionTime:3:T reason:4:s message:5:s
StatefulSetOrdinals start:1:!i
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:1:s whenScaled:2:s
StatefulSetSpec replicas:1:!i selector:2:meta.LabelSelector template:3:core.PodTemplateSpec
  volumeClaimTemplates:4:*core.PersistentVolumeClaim serviceName:5:!s podManagementPolicy:6:s
  updateStrategy:7:StatefulSetUpdateStrategy revisionHistoryLimit:8:!i minReadySeconds:9:i
  persistentVolumeClaimRetentionPolicy:10:StatefulSetPersistentVolumeClaimRetentionPolicy
  ordinals:11:StatefulSetOrdinals
StatefulSetStatus observedGeneration:1:i replicas:2:!i readyReplicas:3:i currentReplicas:4:i
  updatedReplicas:5:i currentRevision:6:s updateRevision:7:s collisionCount:9:!i
  conditions:10:*StatefulSetCondition availableReplicas:11:!i
StatefulSetUpdateStrategy type:1:s rollingUpdate:2:RollingUpdateStatefulSetStrategy
package batch
CronJob metadata:1:meta.ObjectMeta spec:2:CronJobSpec status:3:CronJobStatus
CronJobSpec schedule:1:!s timeZone:8:!s startingDeadlineSeconds:2:!i concurrencyPolicy:3:s
  suspend:4:!b jobTemplate:5:JobTemplateSpec successfulJobsHistoryLimit:6:!i
  failedJobsHistoryLimit:7:!i
CronJobStatus active:1:*core.ObjectReference lastScheduleTime:4:T lastSuccessfulTime:5:T
Job metadata:1:meta.ObjectMeta spec:2:JobSpec status:3:JobStatus
JobCondition type:1:!s status:2:!s lastProbeTime:3:T lastTransitionTime:4:T reason:5:s message:6:s
JobSpec parallelism:1:!i completions:2:!i activeDeadlineSeconds:3:!i
  podFailurePolicy:11:PodFailurePolicy successPolicy:16:SuccessPolicy backoffLimit:7:!i
  backoffLimitPerIndex:12:!i maxFailedIndexes:13:!i selector:4:meta.LabelSelector
  manualSelector:5:!b template:6:core.PodTemplateSpec ttlSecondsAfterFinished:8:!i
  completionMode:9:!s suspend:10:!b podReplacementPolicy:14:!s managedBy:15:!s
JobStatus conditions:1:*JobCondition startTime:2:T completionTime:3:T active:4:i succeeded:5:i
  failed:6:i terminating:11:!i completedIndexes:7:s failedIndexes:10:!s
  uncountedTerminatedPods:8:UncountedTerminatedPods ready:9:!i
JobTemplateSpec metadata:1:meta.ObjectMeta spec:2:JobSpec
PodFailurePolicy rules:1:*PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName:1:!s operator:2:!s values:3:*i
PodFailurePolicyOnPodConditionsPattern type:1:!s status:2:!s
PodFailurePolicyRule action:1:!s onExitCodes:2:PodFailurePolicyOnExitCodesRequirement
  onPodConditions:3:*PodFailurePolicyOnPodConditionsPattern
SuccessPolicy rules:1:*SuccessPolicyRule
SuccessPolicyRule succeededIndexes:1:!s succeededCount:2:!i
UncountedTerminatedPods succeeded:1:*s failed:2:*s
package autoscaling
ContainerResourceMetricSource name:1:!s target:2:MetricTarget container:3:!s
ContainerResourceMetricStatus name:1:!s current:2:MetricValueStatus container:3:!s
CrossVersionObjectReference kind:1:!s name:2:!s apiVersion:3:s
ExternalMetricSource metric:1:MetricIdentifier target:2:MetricTarget
ExternalMetricStatus metric:1:MetricIdentifier current:2:MetricValueStatus
HPAScalingPolicy type:1:!s value:2:!i periodSeconds:3:!i
HPAScalingRules stabilizationWindowSeconds:3:!i selectPolicy:1:!s policies:2:*HPAScalingPolicy
  tolerance:4:Q
HorizontalPodAutoscaler metadata:1:meta.ObjectMeta spec:2:HorizontalPodAutoscalerSpec
  status:3:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior scaleUp:1:HPAScalingRules scaleDown:2:HPAScalingRules
HorizontalPodAutoscalerCondition type:1:!s status:2:!s lastTransitionTime:3:T reason:4:s
  message:5:s
HorizontalPodAutoscalerSpec scaleTargetRef:1:CrossVersionObjectReference minReplicas:2:!i
  maxReplicas:3:!i metrics:4:*MetricSpec behavior:5:HorizontalPodAutoscalerBehavior
HorizontalPodAutoscalerStatus observedGeneration:1:!i lastScaleTime:2:T currentReplicas:3:i
  desiredReplicas:4:!i currentMetrics:5:*MetricStatus
  conditions:6:*HorizontalPodAutoscalerCondition
MetricIdentifier name:1:!s selector:2:meta.LabelSelector
MetricSpec type:1:!s object:2:ObjectMetricSource pods:3:PodsMetricSource
  resource:4:ResourceMetricSource containerResource:7:ContainerResourceMetricSource
  external:5:ExternalMetricSource
MetricStatus type:1:!s object:2:ObjectMetricStatus pods:3:PodsMetricStatus
  resource:4:ResourceMetricStatus containerResource:7:ContainerResourceMetricStatus
  external:5:ExternalMetricStatus
MetricTarget type:1:!s value:2:Q averageValue:3:Q averageUtilization:4:!i
MetricValueStatus value:1:Q averageValue:2:Q averageUtilization:3:!i
ObjectMetricSource describedObject:1:CrossVersionObjectReference target:2:MetricTarget
  metric:3:MetricIdentifier
ObjectMetricStatus metric:1:MetricIdentifier current:2:MetricValueStatus
  describedObject:3:CrossVersionObjectReference
PodsMetricSource metric:1:MetricIdentifier target:2:MetricTarget
PodsMetricStatus metric:1:MetricIdentifier current:2:MetricValueStatus
ResourceMetricSource name:1:!s target:2:MetricTarget
ResourceMetricStatus name:1:!s current:2:MetricValueStatus
package autoscalingv1
CrossVersionObjectReference kind:1:!s name:2:!s apiVersion:3:s
HorizontalPodAutoscaler metadata:1:meta.ObjectMeta spec:2:HorizontalPodAutoscalerSpec
  status:3:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec scaleTargetRef:1:CrossVersionObjectReference minReplicas:2:!i
  maxReplicas:3:!i targetCPUUtilizationPercentage:4:!i
HorizontalPodAutoscalerStatus observedGeneration:1:!i lastScaleTime:2:T currentReplicas:3:!i
  desiredReplicas:4:!i currentCPUUtilizationPercentage:5:!i
Scale metadata:1:meta.ObjectMeta spec:2:ScaleSpec status:3:ScaleStatus
ScaleSpec replicas:1:i
ScaleStatus replicas:1:!i selector:2:s
package policy
PodDisruptionBudget metadata:1:meta.ObjectMeta spec:2:PodDisruptionBudgetSpec
  status:3:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec minAvailable:1:I selector:2:meta.LabelSelector maxUnavailable:3:I
  unhealthyPodEvictionPolicy:4:!s
PodDisruptionBudgetStatus observedGeneration:1:i disruptedPods:2:%T disruptionsAllowed:3:!i
  currentHealthy:4:!i desiredHealthy:5:!i expectedPods:6:!i conditions:7:*meta.Condition
package scheduling
PriorityClass metadata:1:meta.ObjectMeta value:2:!i globalDefault:3:b description:4:s
  preemptionPolicy:5:!s
package coordination
Lease metadata:1:meta.ObjectMeta spec:2:LeaseSpec
LeaseSpec holderIdentity:1:!s leaseDurationSeconds:2:!i acquireTime:3:M renewTime:4:M
  leaseTransitions:5:!i strategy:6:!s preferredHolder:7:!s
package events
Event metadata:1:meta.ObjectMeta eventTime:2:M series:3:EventSeries reportingController:4:s
  reportingInstance:5:s action:6:s reason:7:s regarding:8:core.ObjectReference
  related:9:core.ObjectReference note:10:s type:11:s deprecatedSource:12:core.EventSource
  deprecatedFirstTimestamp:13:T deprecatedLastTimestamp:14:T deprecatedCount:15:i
EventSeries count:1:!i lastObservedTime:2:M
package discovery
Endpoint addresses:1:*s conditions:2:EndpointConditions hostname:3:!s
  targetRef:4:core.ObjectReference deprecatedTopology:5:%s nodeName:6:!s zone:7:!s
  hints:8:EndpointHints
EndpointConditions ready:1:!b serving:2:!b terminating:3:!b
EndpointHints forZones:1:*ForZone forNodes:2:*ForNode
EndpointPort name:1:!s protocol:2:!s port:3:!i appProtocol:4:!s
EndpointSlice metadata:1:meta.ObjectMeta addressType:4:!s endpoints:2:*Endpoint
  ports:3:*EndpointPort
ForNode name:1:!s
ForZone name:1:!s
package node
Overhead podFixed:1:%Q
RuntimeClass metadata:1:meta.ObjectMeta handler:2:!s overhead:3:Overhead scheduling:4:Scheduling
Scheduling nodeSelector:1:%s tolerations:2:*core.Toleration
)";
}

}  // namespace kube::server
