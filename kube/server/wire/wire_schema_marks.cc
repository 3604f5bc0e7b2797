// How server-side apply merges the fields of built-in types, as k8s.io/client-go v0.35.3 has it.
// Made by scripts/merge-marks.py. See wire_schema.h for the notation.
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

absl::string_view MergeMarks() {
  return R"(meta.Condition lastTransitionTime?
meta.LabelSelector !
meta.ObjectMeta creationTimestamp? finalizers= ownerReferences=uid:""
meta.OwnerReference !
admissionregistration.MatchResources !
admissionregistration.MutatingWebhook admissionReviewVersions? clientConfig+ matchConditions=name:""
admissionregistration.MutatingWebhookConfiguration metadata+ webhooks=name:""
admissionregistration.NamedRuleWithOperations !
admissionregistration.ParamKind !
admissionregistration.ParamRef !
admissionregistration.ValidatingAdmissionPolicy metadata+ spec+ status+
admissionregistration.ValidatingAdmissionPolicyBinding metadata+ spec+
admissionregistration.ValidatingAdmissionPolicyBindingSpec validationActions=
admissionregistration.ValidatingAdmissionPolicySpec matchConditions=name:"" variables=name:""
admissionregistration.ValidatingAdmissionPolicyStatus conditions=type:""
admissionregistration.ValidatingWebhook admissionReviewVersions? clientConfig+
  matchConditions=name:""
admissionregistration.ValidatingWebhookConfiguration metadata+ webhooks=name:""
admissionregistration.Variable !
apps.ControllerRevision metadata+
apps.DaemonSet metadata+ spec+ status+
apps.DaemonSetCondition lastTransitionTime?
apps.DaemonSetSpec template+ updateStrategy+
apps.DaemonSetStatus conditions=type:""
apps.Deployment metadata+ spec+ status+
apps.DeploymentCondition lastTransitionTime? lastUpdateTime?
apps.DeploymentSpec strategy+ template+
apps.DeploymentStatus conditions=type:""
apps.ReplicaSet metadata+ spec+ status+
apps.ReplicaSetCondition lastTransitionTime?
apps.ReplicaSetSpec template+
apps.ReplicaSetStatus conditions=type:""
apps.StatefulSet metadata+ spec+ status+
apps.StatefulSetCondition lastTransitionTime?
apps.StatefulSetSpec template+ updateStrategy+
apps.StatefulSetStatus conditions=type:""
autoscalingv1.CrossVersionObjectReference !
autoscalingv1.HorizontalPodAutoscaler metadata+ spec+ status+
autoscalingv1.HorizontalPodAutoscalerSpec scaleTargetRef+
autoscaling.ContainerResourceMetricSource target+
autoscaling.ContainerResourceMetricStatus current+
autoscaling.ExternalMetricSource metric+ target+
autoscaling.ExternalMetricStatus current+ metric+
autoscaling.HorizontalPodAutoscaler metadata+ spec+ status+
autoscaling.HorizontalPodAutoscalerCondition lastTransitionTime?
autoscaling.HorizontalPodAutoscalerSpec scaleTargetRef+
autoscaling.HorizontalPodAutoscalerStatus conditions=type:"" currentMetrics?
autoscaling.ObjectMetricSource describedObject+ metric+ target+
autoscaling.ObjectMetricStatus current+ describedObject+ metric+
autoscaling.PodsMetricSource metric+ target+
autoscaling.PodsMetricStatus current+ metric+
autoscaling.ResourceMetricSource target+
autoscaling.ResourceMetricStatus current+
batch.CronJob metadata+ spec+ status+
batch.CronJobSpec jobTemplate+
batch.Job metadata+ spec+ status+
batch.JobCondition lastProbeTime? lastTransitionTime?
batch.JobSpec template+
batch.JobTemplateSpec metadata+ spec+
batch.PodFailurePolicy rules?
batch.PodFailurePolicyOnExitCodesRequirement values=?
batch.SuccessPolicy rules?
batch.UncountedTerminatedPods failed= succeeded=
certificates.CertificateSigningRequest metadata+ spec+ status+
certificates.CertificateSigningRequestCondition lastTransitionTime? lastUpdateTime?
certificates.CertificateSigningRequestSpec request?
certificates.CertificateSigningRequestStatus conditions=type:""
coordination.Lease metadata+ spec+
core.CephFSPersistentVolumeSource monitors?
core.CephFSVolumeSource monitors?
core.ComponentStatus conditions=type:"" metadata+
core.ConfigMap metadata+
core.ConfigMapKeySelector !
core.Container env=name:"" ports=containerPort:0,protocol:"TCP" resources+
  volumeDevices=devicePath:"" volumeMounts=mountPath:""
core.ContainerImage names?
core.ContainerRestartRuleOnExitCodes values=
core.ContainerStateRunning startedAt?
core.ContainerStateTerminated finishedAt? startedAt?
core.ContainerStatus allocatedResourcesStatus=name:"" lastState+ state+ volumeMounts=mountPath:""
core.EndpointAddress !
core.EndpointPort !
core.Endpoints metadata+
core.EphemeralContainer env=name:"" ports=containerPort:0,protocol:"TCP" resources+
  volumeDevices=devicePath:"" volumeMounts=mountPath:""
core.Event eventTime? firstTimestamp? involvedObject+ lastTimestamp? metadata+ source+
core.EventSeries lastObservedTime?
core.FileKeySelector !
core.LimitRange metadata+ spec+
core.LimitRangeSpec limits?
core.LocalObjectReference !
core.Namespace metadata+ spec+ status+
core.NamespaceCondition lastTransitionTime?
core.NamespaceStatus conditions=type:""
core.Node metadata+ spec+ status+
core.NodeCondition lastHeartbeatTime? lastTransitionTime?
core.NodeDaemonEndpoints kubeletEndpoint+
core.NodeSelector ! nodeSelectorTerms?
core.NodeSelectorTerm !
core.NodeSpec podCIDRs=
core.NodeStatus addresses=type:"" conditions=type:"" daemonEndpoints+ nodeInfo+
core.ObjectFieldSelector !
core.ObjectReference !
core.PersistentVolume metadata+ spec+ status+
core.PersistentVolumeClaim metadata+ spec+ status+
core.PersistentVolumeClaimCondition lastProbeTime? lastTransitionTime?
core.PersistentVolumeClaimSpec resources+
core.PersistentVolumeClaimStatus conditions=type:""
core.PersistentVolumeClaimTemplate metadata+ spec+
core.Pod metadata+ spec+ status+
core.PodCondition lastProbeTime? lastTransitionTime?
core.PodExtendedResourceClaimStatus requestMappings?
core.PodSpec containers=name:""? ephemeralContainers=name:"" hostAliases=ip:""
  imagePullSecrets=name:"" initContainers=name:"" nodeSelector! resourceClaims=name:""
  schedulingGates=name:"" topologySpreadConstraints=topologyKey:"",whenUnsatisfiable:""
  volumes=name:""
core.PodStatus conditions=type:"" podIPs=ip:"" resourceClaimStatuses=name:""
core.PodTemplate metadata+ template+
core.PodTemplateSpec metadata+ spec+
core.PreferredSchedulingTerm preference+
core.ProjectedVolumeSource sources?
core.RBDPersistentVolumeSource monitors?
core.RBDVolumeSource monitors?
core.ReplicationController metadata+ spec+ status+
core.ReplicationControllerCondition lastTransitionTime?
core.ReplicationControllerSpec selector!
core.ReplicationControllerStatus conditions=type:""
core.ResourceFieldSelector !
core.ResourceQuota metadata+ spec+ status+
core.ResourceRequirements claims=name:""
core.ResourceStatus resources=resourceID:""
core.ScopeSelector !
core.Secret metadata+
core.SecretKeySelector !
core.SecretReference !
core.Service metadata+ spec+ status+
core.ServiceAccount metadata+ secrets=name
core.ServiceSpec ports=port:0,protocol:"TCP" selector!
core.ServiceStatus conditions=type:"" loadBalancer+
core.TopologySelectorLabelRequirement values?
core.TopologySelectorTerm !
core.TypedLocalObjectReference !
core.WeightedPodAffinityTerm podAffinityTerm+
discovery.Endpoint addresses=? conditions+
discovery.EndpointPort !
discovery.EndpointSlice endpoints? metadata+ ports?
events.Event deprecatedFirstTimestamp? deprecatedLastTimestamp? deprecatedSource+ eventTime?
  metadata+ regarding+
events.EventSeries lastObservedTime?
networking.HTTPIngressPath backend+
networking.HTTPIngressRuleValue paths?
networking.IPAddress metadata+ spec+
networking.Ingress metadata+ spec+ status+
networking.IngressClass metadata+ spec+
networking.IngressServiceBackend port+
networking.IngressStatus loadBalancer+
networking.NetworkPolicy metadata+ spec+
networking.NetworkPolicySpec podSelector+
networking.ServiceBackendPort !
networking.ServiceCIDR metadata+ spec+ status+
networking.ServiceCIDRStatus conditions=type:""
node.RuntimeClass metadata+
node.Scheduling nodeSelector!
policy.Eviction metadata+
policy.PodDisruptionBudget metadata+ spec+ status+
policy.PodDisruptionBudgetStatus conditions=type:""
rbac.ClusterRole metadata+ rules?
rbac.ClusterRoleBinding metadata+ roleRef+
rbac.PolicyRule verbs?
rbac.Role metadata+ rules?
rbac.RoleBinding metadata+ roleRef+
rbac.RoleRef !
rbac.Subject !
scheduling.PriorityClass metadata+
storage.CSIDriver metadata+ spec+
storage.CSIDriverSpec volumeLifecycleModes=
storage.CSINode metadata+ spec+
storage.CSINodeDriver topologyKeys?
storage.CSINodeSpec drivers=name:""?
storage.CSIStorageCapacity metadata+
storage.StorageClass metadata+
storage.VolumeAttachment metadata+ spec+ status+
storage.VolumeAttachmentSpec source+
storage.VolumeAttributesClass metadata+
storage.VolumeError time?)";
}

}  // namespace kube::server
