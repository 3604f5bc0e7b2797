// Types of the core group and of metadata. See wire_schema.h for the notation.
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

absl::string_view CoreWireTypes() {
  return R"(package meta
Condition type:1:!s status:2:!s observedGeneration:3:i lastTransitionTime:4:T reason:5:!s
  message:6:!s
DeleteOptions gracePeriodSeconds:1:!i preconditions:2:Preconditions orphanDependents:3:!b
  propagationPolicy:4:!s dryRun:5:*s ignoreStoreReadErrorWithClusterBreakingPotential:6:!b
FieldSelectorRequirement key:1:!s operator:2:!s values:3:*s
LabelSelector matchLabels:1:%s matchExpressions:2:*LabelSelectorRequirement
LabelSelectorRequirement key:1:!s operator:2:!s values:3:*s
ObjectMeta name:1:s generateName:2:s namespace:3:s selfLink:4:s uid:5:s resourceVersion:6:s
  generation:7:i creationTimestamp:8:T deletionTimestamp:9:T deletionGracePeriodSeconds:10:!i
  labels:11:%s annotations:12:%s ownerReferences:13:*OwnerReference finalizers:14:*s
OwnerReference apiVersion:5:!s kind:1:!s name:3:!s uid:4:!s controller:6:!b
  blockOwnerDeletion:7:!b
Preconditions uid:1:!s resourceVersion:2:!s
package core
AWSElasticBlockStoreVolumeSource volumeID:1:!s fsType:2:s partition:3:i readOnly:4:b
Affinity nodeAffinity:1:NodeAffinity podAffinity:2:PodAffinity podAntiAffinity:3:PodAntiAffinity
AppArmorProfile type:1:!s localhostProfile:2:!s
AttachedVolume name:1:!s devicePath:2:!s
AzureDiskVolumeSource diskName:1:!s diskURI:2:!s cachingMode:3:!s fsType:4:!s readOnly:5:!b
  kind:6:!s
AzureFilePersistentVolumeSource secretName:1:!s shareName:2:!s readOnly:3:b secretNamespace:4:!s
AzureFileVolumeSource secretName:1:!s shareName:2:!s readOnly:3:b
CSIPersistentVolumeSource driver:1:!s volumeHandle:2:!s readOnly:3:b fsType:4:s
  volumeAttributes:5:%s controllerPublishSecretRef:6:SecretReference
  nodeStageSecretRef:7:SecretReference nodePublishSecretRef:8:SecretReference
  controllerExpandSecretRef:9:SecretReference nodeExpandSecretRef:10:SecretReference
CSIVolumeSource driver:1:!s readOnly:2:!b fsType:3:!s volumeAttributes:4:%s
  nodePublishSecretRef:5:LocalObjectReference
Capabilities add:1:*s drop:2:*s
CephFSPersistentVolumeSource monitors:1:*s path:2:s user:3:s secretFile:4:s
  secretRef:5:SecretReference readOnly:6:b
CephFSVolumeSource monitors:1:*s path:2:s user:3:s secretFile:4:s secretRef:5:LocalObjectReference
  readOnly:6:b
CinderPersistentVolumeSource volumeID:1:!s fsType:2:s readOnly:3:b secretRef:4:SecretReference
CinderVolumeSource volumeID:1:!s fsType:2:s readOnly:3:b secretRef:4:LocalObjectReference
ClientIPConfig timeoutSeconds:1:!i
ClusterTrustBundleProjection name:1:!s signerName:2:!s labelSelector:3:meta.LabelSelector
  optional:5:!b path:4:!s
ConfigMap metadata:1:meta.ObjectMeta immutable:4:!b data:2:%s binaryData:3:%y
ConfigMapEnvSource ~:1:LocalObjectReference optional:2:!b
ConfigMapKeySelector ~:1:LocalObjectReference key:2:!s optional:3:!b
ConfigMapNodeConfigSource namespace:1:!s name:2:!s uid:3:s resourceVersion:4:s
  kubeletConfigKey:5:!s
ConfigMapProjection ~:1:LocalObjectReference items:2:*KeyToPath optional:4:!b
ConfigMapVolumeSource ~:1:LocalObjectReference items:2:*KeyToPath defaultMode:3:!i optional:4:!b
Container name:1:!s image:2:s command:3:*s args:4:*s workingDir:5:s ports:6:*ContainerPort
  envFrom:19:*EnvFromSource env:7:*EnvVar resources:8:ResourceRequirements
  resizePolicy:23:*ContainerResizePolicy restartPolicy:24:!s
  restartPolicyRules:25:*ContainerRestartRule volumeMounts:9:*VolumeMount
  volumeDevices:21:*VolumeDevice livenessProbe:10:Probe readinessProbe:11:Probe
  startupProbe:22:Probe lifecycle:12:Lifecycle terminationMessagePath:13:s
  terminationMessagePolicy:20:s imagePullPolicy:14:s securityContext:15:SecurityContext stdin:16:b
  stdinOnce:17:b tty:18:b
ContainerExtendedResourceRequest containerName:1:!s resourceName:2:!s requestName:3:!s
ContainerImage names:1:*s sizeBytes:2:i
ContainerPort name:1:s hostPort:2:i containerPort:3:!i protocol:4:s hostIP:5:s
ContainerResizePolicy resourceName:1:!s restartPolicy:2:!s
ContainerRestartRule action:1:s exitCodes:2:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator:1:s values:2:*i
ContainerState waiting:1:ContainerStateWaiting running:2:ContainerStateRunning
  terminated:3:ContainerStateTerminated
ContainerStateRunning startedAt:1:T
ContainerStateTerminated exitCode:1:!i signal:2:i reason:3:s message:4:s startedAt:5:T
  finishedAt:6:T containerID:7:s
ContainerStateWaiting reason:1:s message:2:s
ContainerStatus name:1:!s state:2:ContainerState lastState:3:ContainerState ready:4:!b
  restartCount:5:!i image:6:!s imageID:7:!s containerID:8:s started:9:!b allocatedResources:10:%Q
  resources:11:ResourceRequirements volumeMounts:12:*VolumeMountStatus user:13:ContainerUser
  allocatedResourcesStatus:14:*ResourceStatus stopSignal:15:!s
ContainerUser linux:1:LinuxContainerUser
DaemonEndpoint Port:1:!i
DownwardAPIProjection items:1:*DownwardAPIVolumeFile
DownwardAPIVolumeFile path:1:!s fieldRef:2:ObjectFieldSelector
  resourceFieldRef:3:ResourceFieldSelector mode:4:!i
DownwardAPIVolumeSource items:1:*DownwardAPIVolumeFile defaultMode:2:!i
EmptyDirVolumeSource medium:1:s sizeLimit:2:Q
EndpointAddress ip:1:!s hostname:3:s nodeName:4:!s targetRef:2:ObjectReference
EndpointPort name:1:s port:2:!i protocol:3:s appProtocol:4:!s
EndpointSubset addresses:1:*EndpointAddress notReadyAddresses:2:*EndpointAddress
  ports:3:*EndpointPort
Endpoints metadata:1:meta.ObjectMeta subsets:2:*EndpointSubset
EnvFromSource prefix:1:s configMapRef:2:ConfigMapEnvSource secretRef:3:SecretEnvSource
EnvVar name:1:!s value:2:s valueFrom:3:EnvVarSource
EnvVarSource fieldRef:1:ObjectFieldSelector resourceFieldRef:2:ResourceFieldSelector
  configMapKeyRef:3:ConfigMapKeySelector secretKeyRef:4:SecretKeySelector
  fileKeyRef:5:FileKeySelector
EphemeralContainer ~:1:EphemeralContainerCommon targetContainerName:2:s
EphemeralContainerCommon name:1:!s image:2:s command:3:*s args:4:*s workingDir:5:s
  ports:6:*ContainerPort envFrom:19:*EnvFromSource env:7:*EnvVar resources:8:ResourceRequirements
  resizePolicy:23:*ContainerResizePolicy restartPolicy:24:!s
  restartPolicyRules:25:*ContainerRestartRule volumeMounts:9:*VolumeMount
  volumeDevices:21:*VolumeDevice livenessProbe:10:Probe readinessProbe:11:Probe
  startupProbe:22:Probe lifecycle:12:Lifecycle terminationMessagePath:13:s
  terminationMessagePolicy:20:s imagePullPolicy:14:s securityContext:15:SecurityContext stdin:16:b
  stdinOnce:17:b tty:18:b
EphemeralVolumeSource volumeClaimTemplate:1:PersistentVolumeClaimTemplate
Event metadata:1:meta.ObjectMeta involvedObject:2:ObjectReference reason:3:s message:4:s
  source:5:EventSource firstTimestamp:6:T lastTimestamp:7:T count:8:i type:9:s eventTime:10:M
  series:11:EventSeries action:12:s related:13:ObjectReference reportingComponent:14:!s
  reportingInstance:15:!s
EventSeries count:1:i lastObservedTime:2:M
EventSource component:1:s host:2:s
ExecAction command:1:*s
FCVolumeSource targetWWNs:1:*s lun:2:!i fsType:3:s readOnly:4:b wwids:5:*s
FileKeySelector volumeName:1:!s path:2:!s key:3:!s optional:4:!b
FlexPersistentVolumeSource driver:1:!s fsType:2:s secretRef:3:SecretReference readOnly:4:b
  options:5:%s
FlexVolumeSource driver:1:!s fsType:2:s secretRef:3:LocalObjectReference readOnly:4:b options:5:%s
FlockerVolumeSource datasetName:1:s datasetUUID:2:s
GCEPersistentDiskVolumeSource pdName:1:!s fsType:2:s partition:3:i readOnly:4:b
GRPCAction port:1:!i service:2:!s
GitRepoVolumeSource repository:1:!s revision:2:s directory:3:s
GlusterfsPersistentVolumeSource endpoints:1:!s path:2:!s readOnly:3:b endpointsNamespace:4:!s
GlusterfsVolumeSource endpoints:1:!s path:2:!s readOnly:3:b
HTTPGetAction path:1:s port:2:I host:3:s scheme:4:s httpHeaders:5:*HTTPHeader
HTTPHeader name:1:!s value:2:!s
HostAlias ip:1:!s hostnames:2:*s
HostIP ip:1:!s
HostPathVolumeSource path:1:!s type:2:!s
ISCSIPersistentVolumeSource targetPortal:1:!s iqn:2:!s lun:3:!i iscsiInterface:4:s fsType:5:s
  readOnly:6:b portals:7:*s chapAuthDiscovery:8:b chapAuthSession:11:b
  secretRef:10:SecretReference initiatorName:12:!s
ISCSIVolumeSource targetPortal:1:!s iqn:2:!s lun:3:!i iscsiInterface:4:s fsType:5:s readOnly:6:b
  portals:7:*s chapAuthDiscovery:8:b chapAuthSession:11:b secretRef:10:LocalObjectReference
  initiatorName:12:!s
ImageVolumeSource reference:1:s pullPolicy:2:s
KeyToPath key:1:!s path:2:!s mode:3:!i
Lifecycle postStart:1:LifecycleHandler preStop:2:LifecycleHandler stopSignal:3:!s
LifecycleHandler exec:1:ExecAction httpGet:2:HTTPGetAction tcpSocket:3:TCPSocketAction
  sleep:4:SleepAction
LimitRange metadata:1:meta.ObjectMeta spec:2:LimitRangeSpec
LimitRangeItem type:1:!s max:2:%Q min:3:%Q default:4:%Q defaultRequest:5:%Q
  maxLimitRequestRatio:6:%Q
LimitRangeSpec limits:1:*LimitRangeItem
LinuxContainerUser uid:1:!i gid:2:!i supplementalGroups:3:*i
LoadBalancerIngress ip:1:s hostname:2:s ipMode:3:!s ports:4:*PortStatus
LoadBalancerStatus ingress:1:*LoadBalancerIngress
LocalObjectReference name:1:s
LocalVolumeSource path:1:!s fsType:2:!s
ModifyVolumeStatus targetVolumeAttributesClassName:1:s status:2:!s
NFSVolumeSource server:1:!s path:2:!s readOnly:3:b
Namespace metadata:1:meta.ObjectMeta spec:2:NamespaceSpec status:3:NamespaceStatus
NamespaceCondition type:1:!s status:2:!s lastTransitionTime:4:T reason:5:s message:6:s
NamespaceSpec finalizers:1:*s
NamespaceStatus phase:1:s conditions:2:*NamespaceCondition
Node metadata:1:meta.ObjectMeta spec:2:NodeSpec status:3:NodeStatus
NodeAddress type:1:!s address:2:!s
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:1:NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution:2:*PreferredSchedulingTerm
NodeCondition type:1:!s status:2:!s lastHeartbeatTime:3:T lastTransitionTime:4:T reason:5:s
  message:6:s
NodeConfigSource configMap:2:ConfigMapNodeConfigSource
NodeConfigStatus assigned:1:NodeConfigSource active:2:NodeConfigSource
  lastKnownGood:3:NodeConfigSource error:4:s
NodeDaemonEndpoints kubeletEndpoint:1:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:1:!b
NodeRuntimeHandler name:1:!s features:2:NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:1:!b userNamespaces:2:!b
NodeSelector nodeSelectorTerms:1:*NodeSelectorTerm
NodeSelectorRequirement key:1:!s operator:2:!s values:3:*s
NodeSelectorTerm matchExpressions:1:*NodeSelectorRequirement
  matchFields:2:*NodeSelectorRequirement
NodeSpec podCIDR:1:s podCIDRs:7:*s providerID:3:s unschedulable:4:b taints:5:*Taint
  configSource:6:NodeConfigSource externalID:2:s
NodeStatus capacity:1:%Q allocatable:2:%Q phase:3:s conditions:4:*NodeCondition
  addresses:5:*NodeAddress daemonEndpoints:6:NodeDaemonEndpoints nodeInfo:7:NodeSystemInfo
  images:8:*ContainerImage volumesInUse:9:*s volumesAttached:10:*AttachedVolume
  config:11:NodeConfigStatus runtimeHandlers:12:*NodeRuntimeHandler features:13:NodeFeatures
  declaredFeatures:14:*s
NodeSwapStatus capacity:1:!i
NodeSystemInfo machineID:1:!s systemUUID:2:!s bootID:3:!s kernelVersion:4:!s osImage:5:!s
  containerRuntimeVersion:6:!s kubeletVersion:7:!s kubeProxyVersion:8:!s operatingSystem:9:!s
  architecture:10:!s swap:11:NodeSwapStatus
ObjectFieldSelector apiVersion:1:s fieldPath:2:!s
ObjectReference kind:1:s namespace:2:s name:3:s uid:4:s apiVersion:5:s resourceVersion:6:s
  fieldPath:7:s
PersistentVolume metadata:1:meta.ObjectMeta spec:2:PersistentVolumeSpec
  status:3:PersistentVolumeStatus
PersistentVolumeClaim metadata:1:meta.ObjectMeta spec:2:PersistentVolumeClaimSpec
  status:3:PersistentVolumeClaimStatus
PersistentVolumeClaimCondition type:1:!s status:2:!s lastProbeTime:3:T lastTransitionTime:4:T
  reason:5:s message:6:s
PersistentVolumeClaimSpec accessModes:1:*s selector:4:meta.LabelSelector
  resources:2:VolumeResourceRequirements volumeName:3:s storageClassName:5:!s volumeMode:6:!s
  dataSource:7:TypedLocalObjectReference dataSourceRef:8:TypedObjectReference
  volumeAttributesClassName:9:!s
PersistentVolumeClaimStatus phase:1:s accessModes:2:*s capacity:3:%Q
  conditions:4:*PersistentVolumeClaimCondition allocatedResources:5:%Q
  allocatedResourceStatuses:7:%s currentVolumeAttributesClassName:8:!s
  modifyVolumeStatus:9:ModifyVolumeStatus
PersistentVolumeClaimTemplate metadata:1:meta.ObjectMeta spec:2:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:1:!s readOnly:2:b
PersistentVolumeSource gcePersistentDisk:1:GCEPersistentDiskVolumeSource
  awsElasticBlockStore:2:AWSElasticBlockStoreVolumeSource hostPath:3:HostPathVolumeSource
  glusterfs:4:GlusterfsPersistentVolumeSource nfs:5:NFSVolumeSource
  rbd:6:RBDPersistentVolumeSource iscsi:7:ISCSIPersistentVolumeSource
  cinder:8:CinderPersistentVolumeSource cephfs:9:CephFSPersistentVolumeSource fc:10:FCVolumeSource
  flocker:11:FlockerVolumeSource flexVolume:12:FlexPersistentVolumeSource
  azureFile:13:AzureFilePersistentVolumeSource vsphereVolume:14:VsphereVirtualDiskVolumeSource
  quobyte:15:QuobyteVolumeSource azureDisk:16:AzureDiskVolumeSource
  photonPersistentDisk:17:PhotonPersistentDiskVolumeSource portworxVolume:18:PortworxVolumeSource
  scaleIO:19:ScaleIOPersistentVolumeSource local:20:LocalVolumeSource
  storageos:21:StorageOSPersistentVolumeSource csi:22:CSIPersistentVolumeSource
PersistentVolumeSpec capacity:1:%Q ~:2:PersistentVolumeSource accessModes:3:*s
  claimRef:4:ObjectReference persistentVolumeReclaimPolicy:5:s storageClassName:6:s
  mountOptions:7:*s volumeMode:8:!s nodeAffinity:9:VolumeNodeAffinity
  volumeAttributesClassName:10:!s
PersistentVolumeStatus phase:1:s message:2:s reason:3:s lastPhaseTransitionTime:4:T
PhotonPersistentDiskVolumeSource pdID:1:!s fsType:2:s
Pod metadata:1:meta.ObjectMeta spec:2:PodSpec status:3:PodStatus
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm
PodAffinityTerm labelSelector:1:meta.LabelSelector namespaces:2:*s topologyKey:3:!s
  namespaceSelector:4:meta.LabelSelector matchLabelKeys:5:*s mismatchLabelKeys:6:*s
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm
PodCertificateProjection signerName:1:s keyType:2:s maxExpirationSeconds:3:!i
  credentialBundlePath:4:s keyPath:5:s certificateChainPath:6:s userAnnotations:7:%s
PodCondition type:1:!s observedGeneration:7:i status:2:!s lastProbeTime:3:T lastTransitionTime:4:T
  reason:5:s message:6:s
PodDNSConfig nameservers:1:*s searches:2:*s options:3:*PodDNSConfigOption
PodDNSConfigOption name:1:s value:2:!s
PodExtendedResourceClaimStatus requestMappings:1:*ContainerExtendedResourceRequest
  resourceClaimName:2:!s
PodIP ip:1:!s
PodOS name:1:!s
PodReadinessGate conditionType:1:!s
PodResourceClaim name:1:!s resourceClaimName:3:!s resourceClaimTemplateName:4:!s
PodResourceClaimStatus name:1:!s resourceClaimName:2:!s
PodSchedulingGate name:1:!s
PodSecurityContext seLinuxOptions:1:SELinuxOptions windowsOptions:8:WindowsSecurityContextOptions
  runAsUser:2:!i runAsGroup:6:!i runAsNonRoot:3:!b supplementalGroups:4:*i
  supplementalGroupsPolicy:12:!s fsGroup:5:!i sysctls:7:*Sysctl fsGroupChangePolicy:9:!s
  seccompProfile:10:SeccompProfile appArmorProfile:11:AppArmorProfile seLinuxChangePolicy:13:!s
PodSpec volumes:1:*Volume initContainers:20:*Container containers:2:*Container
  ephemeralContainers:34:*EphemeralContainer restartPolicy:3:s terminationGracePeriodSeconds:4:!i
  activeDeadlineSeconds:5:!i dnsPolicy:6:s nodeSelector:7:%s serviceAccountName:8:s
  serviceAccount:9:s automountServiceAccountToken:21:!b nodeName:10:s hostNetwork:11:b
  hostPID:12:b hostIPC:13:b shareProcessNamespace:27:!b securityContext:14:PodSecurityContext
  imagePullSecrets:15:*LocalObjectReference hostname:16:s subdomain:17:s affinity:18:Affinity
  schedulerName:19:s tolerations:22:*Toleration hostAliases:23:*HostAlias priorityClassName:24:s
  priority:25:!i dnsConfig:26:PodDNSConfig readinessGates:28:*PodReadinessGate
  runtimeClassName:29:!s enableServiceLinks:30:!b preemptionPolicy:31:!s overhead:32:%Q
  topologySpreadConstraints:33:*TopologySpreadConstraint setHostnameAsFQDN:35:!b os:36:PodOS
  hostUsers:37:!b schedulingGates:38:*PodSchedulingGate resourceClaims:39:*PodResourceClaim
  resources:40:ResourceRequirements hostnameOverride:41:!s workloadRef:42:WorkloadReference
PodStatus observedGeneration:17:i phase:1:s conditions:2:*PodCondition message:3:s reason:4:s
  nominatedNodeName:11:s hostIP:5:s hostIPs:16:*HostIP podIP:6:s podIPs:12:*PodIP startTime:7:T
  initContainerStatuses:10:*ContainerStatus containerStatuses:8:*ContainerStatus qosClass:9:s
  ephemeralContainerStatuses:13:*ContainerStatus resize:14:s
  resourceClaimStatuses:15:*PodResourceClaimStatus
  extendedResourceClaimStatus:18:PodExtendedResourceClaimStatus allocatedResources:19:%Q
  resources:20:ResourceRequirements
PodTemplate metadata:1:meta.ObjectMeta template:2:PodTemplateSpec
PodTemplateSpec metadata:1:meta.ObjectMeta spec:2:PodSpec
PortStatus port:1:!i protocol:2:!s error:3:!s
PortworxVolumeSource volumeID:1:!s fsType:2:s readOnly:3:b
PreferredSchedulingTerm weight:1:!i preference:2:NodeSelectorTerm
Probe ~:1:ProbeHandler initialDelaySeconds:2:i timeoutSeconds:3:i periodSeconds:4:i
  successThreshold:5:i failureThreshold:6:i terminationGracePeriodSeconds:7:!i
ProbeHandler exec:1:ExecAction httpGet:2:HTTPGetAction tcpSocket:3:TCPSocketAction
  grpc:4:GRPCAction
ProjectedVolumeSource sources:1:*VolumeProjection defaultMode:2:!i
QuobyteVolumeSource registry:1:!s volume:2:!s readOnly:3:b user:4:s group:5:s tenant:6:s
RBDPersistentVolumeSource monitors:1:*s image:2:!s fsType:3:s pool:4:s user:5:s keyring:6:s
  secretRef:7:SecretReference readOnly:8:b
RBDVolumeSource monitors:1:*s image:2:!s fsType:3:s pool:4:s user:5:s keyring:6:s
  secretRef:7:LocalObjectReference readOnly:8:b
ReplicationController metadata:1:meta.ObjectMeta spec:2:ReplicationControllerSpec
  status:3:ReplicationControllerStatus
ReplicationControllerCondition type:1:!s status:2:!s lastTransitionTime:3:T reason:4:s message:5:s
ReplicationControllerSpec replicas:1:!i minReadySeconds:4:i selector:2:%s
  template:3:PodTemplateSpec
ReplicationControllerStatus replicas:1:!i fullyLabeledReplicas:2:i readyReplicas:4:i
  availableReplicas:5:i observedGeneration:3:i conditions:6:*ReplicationControllerCondition
ResourceClaim name:1:!s request:2:s
ResourceFieldSelector containerName:1:s resource:2:!s divisor:3:Q
ResourceHealth resourceID:1:!s health:2:s
ResourceQuota metadata:1:meta.ObjectMeta spec:2:ResourceQuotaSpec status:3:ResourceQuotaStatus
ResourceQuotaSpec hard:1:%Q scopes:2:*s scopeSelector:3:ScopeSelector
ResourceQuotaStatus hard:1:%Q used:2:%Q
ResourceRequirements limits:1:%Q requests:2:%Q claims:3:*ResourceClaim
ResourceStatus name:1:!s resources:2:*ResourceHealth
SELinuxOptions user:1:s role:2:s type:3:s level:4:s
ScaleIOPersistentVolumeSource gateway:1:!s system:2:!s secretRef:3:SecretReference sslEnabled:4:b
  protectionDomain:5:s storagePool:6:s storageMode:7:s volumeName:8:s fsType:9:s readOnly:10:b
ScaleIOVolumeSource gateway:1:!s system:2:!s secretRef:3:LocalObjectReference sslEnabled:4:b
  protectionDomain:5:s storagePool:6:s storageMode:7:s volumeName:8:s fsType:9:s readOnly:10:b
ScopeSelector matchExpressions:1:*ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement scopeName:1:!s operator:2:!s values:3:*s
SeccompProfile type:1:!s localhostProfile:2:!s
Secret metadata:1:meta.ObjectMeta immutable:5:!b data:2:%y stringData:4:%s type:3:s
SecretEnvSource ~:1:LocalObjectReference optional:2:!b
SecretKeySelector ~:1:LocalObjectReference key:2:!s optional:3:!b
SecretProjection ~:1:LocalObjectReference items:2:*KeyToPath optional:4:!b
SecretReference name:1:s namespace:2:s
SecretVolumeSource secretName:1:s items:2:*KeyToPath defaultMode:3:!i optional:4:!b
SecurityContext capabilities:1:Capabilities privileged:2:!b seLinuxOptions:3:SELinuxOptions
  windowsOptions:10:WindowsSecurityContextOptions runAsUser:4:!i runAsGroup:8:!i runAsNonRoot:5:!b
  readOnlyRootFilesystem:6:!b allowPrivilegeEscalation:7:!b procMount:9:!s
  seccompProfile:11:SeccompProfile appArmorProfile:12:AppArmorProfile
Service metadata:1:meta.ObjectMeta spec:2:ServiceSpec status:3:ServiceStatus
ServiceAccount metadata:1:meta.ObjectMeta secrets:2:*ObjectReference
  imagePullSecrets:3:*LocalObjectReference automountServiceAccountToken:4:!b
ServiceAccountTokenProjection audience:1:s expirationSeconds:2:!i path:3:!s
ServicePort name:1:s protocol:2:s appProtocol:6:!s port:3:!i targetPort:4:I nodePort:5:i
ServiceSpec ports:1:*ServicePort selector:2:%s clusterIP:3:s clusterIPs:18:*s type:4:s
  externalIPs:5:*s sessionAffinity:7:s loadBalancerIP:8:s loadBalancerSourceRanges:9:*s
  externalName:10:s externalTrafficPolicy:11:s healthCheckNodePort:12:i
  publishNotReadyAddresses:13:b sessionAffinityConfig:14:SessionAffinityConfig ipFamilies:19:*s
  ipFamilyPolicy:17:!s allocateLoadBalancerNodePorts:20:!b loadBalancerClass:21:!s
  internalTrafficPolicy:22:!s trafficDistribution:23:!s
ServiceStatus loadBalancer:1:LoadBalancerStatus conditions:2:*meta.Condition
SessionAffinityConfig clientIP:1:ClientIPConfig
SleepAction seconds:1:!i
StorageOSPersistentVolumeSource volumeName:1:s volumeNamespace:2:s fsType:3:s readOnly:4:b
  secretRef:5:ObjectReference
StorageOSVolumeSource volumeName:1:s volumeNamespace:2:s fsType:3:s readOnly:4:b
  secretRef:5:LocalObjectReference
Sysctl name:1:!s value:2:!s
TCPSocketAction port:1:I host:2:s
Taint key:1:!s value:2:s effect:3:!s timeAdded:4:T
Toleration key:1:s operator:2:s value:3:s effect:4:s tolerationSeconds:5:!i
TopologySelectorLabelRequirement key:1:!s values:2:*s
TopologySelectorTerm matchLabelExpressions:1:*TopologySelectorLabelRequirement
TopologySpreadConstraint maxSkew:1:!i topologyKey:2:!s whenUnsatisfiable:3:!s
  labelSelector:4:meta.LabelSelector minDomains:5:!i nodeAffinityPolicy:6:!s nodeTaintsPolicy:7:!s
  matchLabelKeys:8:*s
TypedLocalObjectReference apiGroup:1:!s kind:2:!s name:3:!s
TypedObjectReference apiGroup:1:!s kind:2:!s name:3:!s namespace:4:!s
Volume name:1:!s ~:2:VolumeSource
VolumeDevice name:1:!s devicePath:2:!s
VolumeMount name:1:!s readOnly:2:b recursiveReadOnly:7:!s mountPath:3:!s subPath:4:s
  mountPropagation:5:!s subPathExpr:6:s
VolumeMountStatus name:1:!s mountPath:2:!s readOnly:3:b recursiveReadOnly:4:!s
VolumeNodeAffinity required:1:NodeSelector
VolumeProjection secret:1:SecretProjection downwardAPI:2:DownwardAPIProjection
  configMap:3:ConfigMapProjection serviceAccountToken:4:ServiceAccountTokenProjection
  clusterTrustBundle:5:ClusterTrustBundleProjection podCertificate:6:PodCertificateProjection
VolumeResourceRequirements limits:1:%Q requests:2:%Q
VolumeSource hostPath:1:HostPathVolumeSource emptyDir:2:EmptyDirVolumeSource
  gcePersistentDisk:3:GCEPersistentDiskVolumeSource
  awsElasticBlockStore:4:AWSElasticBlockStoreVolumeSource gitRepo:5:GitRepoVolumeSource
  secret:6:SecretVolumeSource nfs:7:NFSVolumeSource iscsi:8:ISCSIVolumeSource
  glusterfs:9:GlusterfsVolumeSource persistentVolumeClaim:10:PersistentVolumeClaimVolumeSource
  rbd:11:RBDVolumeSource flexVolume:12:FlexVolumeSource cinder:13:CinderVolumeSource
  cephfs:14:CephFSVolumeSource flocker:15:FlockerVolumeSource
  downwardAPI:16:DownwardAPIVolumeSource fc:17:FCVolumeSource azureFile:18:AzureFileVolumeSource
  configMap:19:ConfigMapVolumeSource vsphereVolume:20:VsphereVirtualDiskVolumeSource
  quobyte:21:QuobyteVolumeSource azureDisk:22:AzureDiskVolumeSource
  photonPersistentDisk:23:PhotonPersistentDiskVolumeSource projected:26:ProjectedVolumeSource
  portworxVolume:24:PortworxVolumeSource scaleIO:25:ScaleIOVolumeSource
  storageos:27:StorageOSVolumeSource csi:28:CSIVolumeSource ephemeral:29:EphemeralVolumeSource
  image:30:ImageVolumeSource
VsphereVirtualDiskVolumeSource volumePath:1:!s fsType:2:s storagePolicyName:3:s
  storagePolicyID:4:s
WeightedPodAffinityTerm weight:1:!i podAffinityTerm:2:PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName:1:!s gmsaCredentialSpec:2:!s
  runAsUserName:3:!s hostProcess:4:!b
WorkloadReference name:1:!s podGroup:2:!s podGroupReplicaKey:3:s
)";
}

}  // namespace kube::server
