// The table of built-in kinds, in the order of kube-apiserver's registry folders.

#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "sandbox/kinds/autoscaler_conversion.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {
namespace {

// Traits of a kind, named after the fields of ResourceInfo.
enum : unsigned {
  kClusterWide = 1u << 0,
  kStatus = 1u << 1,      // There is a status subresource; creation resets the status.
  kKeepStatus = 1u << 2,  // There is a status subresource; creation keeps the status.
  kSpecGen = 1u << 3,     // The generation follows the spec.
  kAllGen = 1u << 4,      // The generation follows everything but metadata.
  kScale = 1u << 5,
  kPutCreates = 1u << 6,
  kStrictPut = 1u << 7,  // A PUT needs a resourceVersion.
  kReview = 1u << 8,
  kLabelName = 1u << 9,
  kPathName = 1u << 10,
  kServiceName = 1u << 11,
  kOrphans = 1u << 12,
};

struct Row {
  const char* api_version;
  const char* kind;
  const char* plural;
  const char* short_names;  // Separated by commas.
  const char* categories;
  unsigned traits;
};

constexpr Row kRows[] = {
    {"v1", "ConfigMap", "configmaps", "cm", "", 0},
    {"v1", "Endpoints", "endpoints", "ep", "", kPutCreates},
    {"v1", "Event", "events", "ev", "", kPutCreates},
    {"v1", "LimitRange", "limitranges", "limits", "", kPutCreates},
    {"v1", "Namespace", "namespaces", "ns", "", kClusterWide | kStatus | kLabelName},
    {"v1", "Node", "nodes", "no", "", kClusterWide | kKeepStatus},
    {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", "", kStatus},
    {"v1", "PersistentVolume", "persistentvolumes", "pv", "", kClusterWide | kStatus},
    {"v1", "Pod", "pods", "po", "all", kStatus | kSpecGen},
    {"v1", "PodTemplate", "podtemplates", "", "", kAllGen},
    {"v1", "ReplicationController", "replicationcontrollers", "rc", "all",
     kStatus | kSpecGen | kScale | kOrphans},
    {"v1", "ResourceQuota", "resourcequotas", "quota", "", kStatus},
    {"v1", "Secret", "secrets", "", "", 0},
    {"v1", "ServiceAccount", "serviceaccounts", "sa", "", 0},
    {"v1", "Service", "services", "svc", "all", kStatus | kPutCreates | kServiceName},
    {"apps/v1", "ControllerRevision", "controllerrevisions", "", "", 0},
    {"apps/v1", "DaemonSet", "daemonsets", "ds", "all", kStatus | kSpecGen},
    {"apps/v1", "Deployment", "deployments", "deploy", "all", kStatus | kSpecGen | kScale},
    {"apps/v1", "ReplicaSet", "replicasets", "rs", "all", kStatus | kSpecGen | kScale},
    {"apps/v1", "StatefulSet", "statefulsets", "sts", "all", kStatus | kSpecGen | kScale},
    {"events.k8s.io/v1", "Event", "events", "ev", "", kPutCreates},
    {"authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", "", "",
     kClusterWide | kReview},
    {"authentication.k8s.io/v1", "TokenReview", "tokenreviews", "", "", kClusterWide | kReview},
    {"authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", "", "",
     kReview},
    {"authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "", "",
     kClusterWide | kReview},
    {"authorization.k8s.io/v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "", "",
     kClusterWide | kReview},
    {"authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", "", "",
     kClusterWide | kReview},
    {"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", "all",
     kStatus},
    {"autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", "all",
     kStatus},
    {"batch/v1", "CronJob", "cronjobs", "cj", "all", kStatus | kSpecGen},
    {"batch/v1", "Job", "jobs", "", "all", kStatus | kSpecGen | kOrphans},
    {"certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", "csr", "",
     kClusterWide | kStatus | kPathName},
    {"networking.k8s.io/v1", "IngressClass", "ingressclasses", "", "", kClusterWide | kAllGen},
    {"networking.k8s.io/v1", "Ingress", "ingresses", "ing", "", kStatus | kSpecGen},
    {"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "netpol", "", kSpecGen},
    {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", "", kStatus | kSpecGen},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", "", "",
     kClusterWide | kPutCreates | kPathName},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "", "",
     kClusterWide | kPutCreates | kPathName},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", "", "",
     kPutCreates | kPathName},
    {"rbac.authorization.k8s.io/v1", "Role", "roles", "", "", kPutCreates | kPathName},
    {"storage.k8s.io/v1", "CSIDriver", "csidrivers", "", "", kClusterWide},
    {"storage.k8s.io/v1", "CSINode", "csinodes", "", "", kClusterWide},
    {"storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", "", "", 0},
    {"storage.k8s.io/v1", "StorageClass", "storageclasses", "sc", "", kClusterWide},
    {"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", "", "", kClusterWide | kStatus},
    {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
     "mutatingwebhookconfigurations", "", "api-extensions", kClusterWide | kAllGen},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
     "", "api-extensions", kClusterWide | kStatus | kSpecGen},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
     "validatingadmissionpolicybindings", "", "api-extensions", kClusterWide | kSpecGen},
    {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
     "validatingwebhookconfigurations", "", "api-extensions", kClusterWide | kAllGen},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", "crd,crds",
     "api-extensions", kClusterWide | kStatus | kSpecGen | kStrictPut},
    {"apiregistration.k8s.io/v1", "APIService", "apiservices", "", "api-extensions",
     kClusterWide | kStatus | kStrictPut},
    {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "pc", "", kClusterWide | kAllGen},
    {"coordination.k8s.io/v1", "Lease", "leases", "", "", kPutCreates | kStrictPut},
    {"node.k8s.io/v1", "RuntimeClass", "runtimeclasses", "", "", kClusterWide},
    {"discovery.k8s.io/v1", "EndpointSlice", "endpointslices", "", "", kAllGen},
};

std::vector<std::string> Words(const char* list) {
  return absl::StrSplit(list, ',', absl::SkipEmpty());
}

ResourceInfo::NameRule NameRuleOf(unsigned traits) {
  if (traits & kLabelName) return ResourceInfo::NameRule::kLabel;
  if (traits & kPathName) return ResourceInfo::NameRule::kPathSegment;
  if (traits & kServiceName) return ResourceInfo::NameRule::kServiceName;
  return ResourceInfo::NameRule::kSubdomain;
}

ResourceInfo::Generation GenerationOf(unsigned traits) {
  if (traits & kSpecGen) return ResourceInfo::Generation::kSpec;
  if (traits & kAllGen) return ResourceInfo::Generation::kAllButMetadata;
  return ResourceInfo::Generation::kNone;
}

ResourceInfo FromRow(const Row& row) {
  ResourceInfo info;
  info.resource = {*kube::ParseGvk(row.api_version, row.kind), row.plural,
                   (row.traits & kClusterWide) == 0};
  info.stored_as = info.resource.gvk;
  info.singular = absl::AsciiStrToLower(row.kind);
  info.short_names = Words(row.short_names);
  info.categories = Words(row.categories);
  info.status_subresource = (row.traits & (kStatus | kKeepStatus)) != 0;
  info.status_reset_on_create = (row.traits & kStatus) != 0;
  if (row.traits & kScale) info.scale = ScalePaths{.selector = "spec.selector"};
  info.name_rule = NameRuleOf(row.traits);
  info.generation = GenerationOf(row.traits);
  info.create_on_update = (row.traits & kPutCreates) != 0;
  info.unconditional_update = (row.traits & kStrictPut) == 0;
  info.review = (row.traits & kReview) != 0;
  info.orphans_by_default = (row.traits & kOrphans) != 0;
  return info;
}

// Events of both groups are stored as the same objects; their member names differ.
void ShareEventStorage(ResourceInfo& info) {
  info.stored_as = {"", "v1", "Event"};
  info.renames = {{"message", "note"},
                  {"involvedObject", "regarding"},
                  {"source", "deprecatedSource"},
                  {"firstTimestamp", "deprecatedFirstTimestamp"},
                  {"lastTimestamp", "deprecatedLastTimestamp"},
                  {"count", "deprecatedCount"},
                  {"reportingComponent", "reportingController"}};
}

// Old clients create autoscalers in autoscaling/v1.
void ShareAutoscalerStorage(ResourceInfo& info) {
  info.stored_as.version = "v2";
  info.convert_to_served = AutoscalerToV1;
  info.convert_to_stored = AutoscalerFromV1;
}

}  // namespace

std::vector<ResourceInfo> BuiltinResources() {
  std::vector<ResourceInfo> all;
  all.reserve(std::size(kRows));
  for (const Row& row : kRows) {
    all.push_back(FromRow(row));
    const kube::Gvk& gvk = all.back().resource.gvk;
    if (gvk.group == "events.k8s.io") ShareEventStorage(all.back());
    if (gvk.group == "autoscaling" && gvk.version == "v1") ShareAutoscalerStorage(all.back());
  }
  return all;
}

}  // namespace sandbox
