// Types of access control, admission, networking and storage. See wire_schema.h for the notation.
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

absl::string_view AccessWireTypes() {
  return R"(package rbac
AggregationRule clusterRoleSelectors:1:*meta.LabelSelector
ClusterRole metadata:1:meta.ObjectMeta rules:2:*PolicyRule aggregationRule:3:AggregationRule
ClusterRoleBinding metadata:1:meta.ObjectMeta subjects:2:*Subject roleRef:3:RoleRef
PolicyRule verbs:1:*s apiGroups:2:*s resources:3:*s resourceNames:4:*s nonResourceURLs:5:*s
Role metadata:1:meta.ObjectMeta rules:2:*PolicyRule
RoleBinding metadata:1:meta.ObjectMeta subjects:2:*Subject roleRef:3:RoleRef
RoleRef apiGroup:1:!s kind:2:!s name:3:!s
Subject kind:1:!s apiGroup:2:s name:3:!s namespace:4:s
package networking
HTTPIngressPath path:1:s pathType:3:!s backend:2:IngressBackend
HTTPIngressRuleValue paths:1:*HTTPIngressPath
IPBlock cidr:1:!s except:2:*s
Ingress metadata:1:meta.ObjectMeta spec:2:IngressSpec status:3:IngressStatus
IngressBackend service:4:IngressServiceBackend resource:3:core.TypedLocalObjectReference
IngressClass metadata:1:meta.ObjectMeta spec:2:IngressClassSpec
IngressClassParametersReference apiGroup:1:!s kind:2:!s name:3:!s scope:4:!s namespace:5:!s
IngressClassSpec controller:1:s parameters:2:IngressClassParametersReference
IngressLoadBalancerIngress ip:1:s hostname:2:s ports:4:*IngressPortStatus
IngressLoadBalancerStatus ingress:1:*IngressLoadBalancerIngress
IngressPortStatus port:1:!i protocol:2:!s error:3:!s
IngressRule host:1:s ~:2:IngressRuleValue
IngressRuleValue http:1:HTTPIngressRuleValue
IngressServiceBackend name:1:!s port:2:ServiceBackendPort
IngressSpec ingressClassName:4:!s defaultBackend:1:IngressBackend tls:2:*IngressTLS
  rules:3:*IngressRule
IngressStatus loadBalancer:1:IngressLoadBalancerStatus
IngressTLS hosts:1:*s secretName:2:s
NetworkPolicy metadata:1:meta.ObjectMeta spec:2:NetworkPolicySpec
NetworkPolicyEgressRule ports:1:*NetworkPolicyPort to:2:*NetworkPolicyPeer
NetworkPolicyIngressRule ports:1:*NetworkPolicyPort from:2:*NetworkPolicyPeer
NetworkPolicyPeer podSelector:1:meta.LabelSelector namespaceSelector:2:meta.LabelSelector
  ipBlock:3:IPBlock
NetworkPolicyPort protocol:1:!s port:2:I endPort:3:!i
NetworkPolicySpec podSelector:1:meta.LabelSelector ingress:2:*NetworkPolicyIngressRule
  egress:3:*NetworkPolicyEgressRule policyTypes:4:*s
ServiceBackendPort name:1:s number:2:i
package storage
CSIDriver metadata:1:meta.ObjectMeta spec:2:CSIDriverSpec
CSIDriverSpec attachRequired:1:!b podInfoOnMount:2:!b volumeLifecycleModes:3:*s
  storageCapacity:4:!b fsGroupPolicy:5:!s tokenRequests:6:*TokenRequest requiresRepublish:7:!b
  seLinuxMount:8:!b nodeAllocatableUpdatePeriodSeconds:9:!i serviceAccountTokenInSecrets:10:!b
CSINode metadata:1:meta.ObjectMeta spec:2:CSINodeSpec
CSINodeDriver name:1:!s nodeID:2:!s topologyKeys:3:*s allocatable:4:VolumeNodeResources
CSINodeSpec drivers:1:*CSINodeDriver
CSIStorageCapacity metadata:1:meta.ObjectMeta nodeTopology:2:meta.LabelSelector
  storageClassName:3:!s capacity:4:Q maximumVolumeSize:5:Q
StorageClass metadata:1:meta.ObjectMeta provisioner:2:!s parameters:3:%s reclaimPolicy:4:!s
  mountOptions:5:*s allowVolumeExpansion:6:!b volumeBindingMode:7:!s
  allowedTopologies:8:*core.TopologySelectorTerm
TokenRequest audience:1:!s expirationSeconds:2:!i
VolumeAttachment metadata:1:meta.ObjectMeta spec:2:VolumeAttachmentSpec
  status:3:VolumeAttachmentStatus
VolumeAttachmentSource persistentVolumeName:1:!s inlineVolumeSpec:2:core.PersistentVolumeSpec
VolumeAttachmentSpec attacher:1:!s source:2:VolumeAttachmentSource nodeName:3:!s
VolumeAttachmentStatus attached:1:!b attachmentMetadata:2:%s attachError:3:VolumeError
  detachError:4:VolumeError
VolumeError time:1:T message:2:s errorCode:3:!i
VolumeNodeResources count:1:!i
package admissionregistration
AuditAnnotation key:1:!s valueExpression:2:!s
ExpressionWarning fieldRef:2:!s warning:3:!s
MatchCondition name:1:!s expression:2:!s
MatchResources namespaceSelector:1:meta.LabelSelector objectSelector:2:meta.LabelSelector
  resourceRules:3:*NamedRuleWithOperations excludeResourceRules:4:*NamedRuleWithOperations
  matchPolicy:7:!s
MutatingWebhook name:1:!s clientConfig:2:WebhookClientConfig rules:3:*RuleWithOperations
  failurePolicy:4:!s matchPolicy:9:!s namespaceSelector:5:meta.LabelSelector
  objectSelector:11:meta.LabelSelector sideEffects:6:!s timeoutSeconds:7:!i
  admissionReviewVersions:8:*s reinvocationPolicy:10:!s matchConditions:12:*MatchCondition
MutatingWebhookConfiguration metadata:1:meta.ObjectMeta webhooks:2:*MutatingWebhook
NamedRuleWithOperations resourceNames:1:*s ~:2:RuleWithOperations
ParamKind apiVersion:1:s kind:2:s
ParamRef name:1:s namespace:2:s selector:3:meta.LabelSelector parameterNotFoundAction:4:!s
Rule apiGroups:1:*s apiVersions:2:*s resources:3:*s scope:4:!s
RuleWithOperations operations:1:*s ~:2:Rule
ServiceReference namespace:1:!s name:2:!s path:3:!s port:4:!i
TypeChecking expressionWarnings:1:*ExpressionWarning
ValidatingAdmissionPolicy metadata:1:meta.ObjectMeta spec:2:ValidatingAdmissionPolicySpec
  status:3:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding metadata:1:meta.ObjectMeta
  spec:2:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec policyName:1:s paramRef:2:ParamRef
  matchResources:3:MatchResources validationActions:4:*s
ValidatingAdmissionPolicySpec paramKind:1:ParamKind matchConstraints:2:MatchResources
  validations:3:*Validation failurePolicy:4:!s auditAnnotations:5:*AuditAnnotation
  matchConditions:6:*MatchCondition variables:7:*Variable
ValidatingAdmissionPolicyStatus observedGeneration:1:i typeChecking:2:TypeChecking
  conditions:3:*meta.Condition
ValidatingWebhook name:1:!s clientConfig:2:WebhookClientConfig rules:3:*RuleWithOperations
  failurePolicy:4:!s matchPolicy:9:!s namespaceSelector:5:meta.LabelSelector
  objectSelector:10:meta.LabelSelector sideEffects:6:!s timeoutSeconds:7:!i
  admissionReviewVersions:8:*s matchConditions:11:*MatchCondition
ValidatingWebhookConfiguration metadata:1:meta.ObjectMeta webhooks:2:*ValidatingWebhook
Validation expression:1:!s message:2:s reason:3:!s messageExpression:4:s
Variable name:1:!s expression:2:!s
WebhookClientConfig url:3:!s service:1:ServiceReference caBundle:2:y
package authorization
FieldSelectorAttributes rawSelector:1:s requirements:2:*meta.FieldSelectorRequirement
LabelSelectorAttributes rawSelector:1:s requirements:2:*meta.LabelSelectorRequirement
LocalSubjectAccessReview metadata:1:meta.ObjectMeta spec:2:SubjectAccessReviewSpec
  status:3:SubjectAccessReviewStatus
NonResourceAttributes path:1:s verb:2:s
NonResourceRule verbs:1:*s nonResourceURLs:2:*s
ResourceAttributes namespace:1:s verb:2:s group:3:s version:4:s resource:5:s subresource:6:s
  name:7:s fieldSelector:8:FieldSelectorAttributes labelSelector:9:LabelSelectorAttributes
ResourceRule verbs:1:*s apiGroups:2:*s resources:3:*s resourceNames:4:*s
SelfSubjectAccessReview metadata:1:meta.ObjectMeta spec:2:SelfSubjectAccessReviewSpec
  status:3:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes:1:ResourceAttributes
  nonResourceAttributes:2:NonResourceAttributes
SelfSubjectRulesReview metadata:1:meta.ObjectMeta spec:2:SelfSubjectRulesReviewSpec
  status:3:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace:1:s
SubjectAccessReview metadata:1:meta.ObjectMeta spec:2:SubjectAccessReviewSpec
  status:3:SubjectAccessReviewStatus
SubjectAccessReviewSpec resourceAttributes:1:ResourceAttributes
  nonResourceAttributes:2:NonResourceAttributes user:3:s groups:4:*s extra:5:%X uid:6:s
SubjectAccessReviewStatus allowed:1:!b denied:4:b reason:2:s evaluationError:3:s
SubjectRulesReviewStatus resourceRules:1:*ResourceRule nonResourceRules:2:*NonResourceRule
  incomplete:3:!b evaluationError:4:s
package authentication
SelfSubjectReview metadata:1:meta.ObjectMeta status:2:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo:1:UserInfo
TokenReview metadata:1:meta.ObjectMeta spec:2:TokenReviewSpec status:3:TokenReviewStatus
TokenReviewSpec token:1:s audiences:2:*s
TokenReviewStatus authenticated:1:b user:2:UserInfo audiences:4:*s error:3:s
UserInfo username:1:s uid:2:s groups:3:*s extra:4:%X
package certificates
CertificateSigningRequest metadata:1:meta.ObjectMeta spec:2:CertificateSigningRequestSpec
  status:3:CertificateSigningRequestStatus
CertificateSigningRequestCondition type:1:!s status:6:!s reason:2:s message:3:s lastUpdateTime:4:T
  lastTransitionTime:5:T
CertificateSigningRequestSpec request:1:!y signerName:7:!s expirationSeconds:8:!i usages:5:*s
  username:2:s uid:3:s groups:4:*s extra:6:%X
CertificateSigningRequestStatus conditions:1:*CertificateSigningRequestCondition certificate:2:y
)";
}

}  // namespace kube::server
