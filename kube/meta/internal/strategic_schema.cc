// A table of what the tags patchStrategy and patchMergeKey of k8s.io/api say, reduced to the fields
// where they say something. Types here are not Go's: kinds with the same rules share one
// ("Conditioned" has nothing but conditions to merge). A field that is not in the table has the
// default rule: objects merge, lists are replaced.

#include "kube/meta/internal/strategic_schema.h"

#include <algorithm>
#include <iterator>

namespace kube::internal {
namespace {

struct Root {
  absl::string_view group;
  absl::string_view kind;
  absl::string_view type;
};

constexpr Root kRoots[] = {
    {"", "Namespace", "Conditioned"},
    {"", "Node", "Node"},
    {"", "PersistentVolumeClaim", "Conditioned"},
    {"", "Pod", "Pod"},
    {"", "PodTemplate", "PodTemplate"},
    {"", "ReplicationController", "Workload"},
    {"", "Service", "Service"},
    {"", "ServiceAccount", "ServiceAccount"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "WebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "AdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "WebhookConfiguration"},
    {"apps", "DaemonSet", "Workload"},
    {"apps", "Deployment", "Deployment"},
    {"apps", "ReplicaSet", "Workload"},
    {"apps", "StatefulSet", "Workload"},
    {"autoscaling", "HorizontalPodAutoscaler", "Conditioned"},
    {"batch", "CronJob", "CronJob"},
    {"batch", "Job", "Workload"},
    {"networking.k8s.io", "ServiceCIDR", "Conditioned"},
    {"policy", "PodDisruptionBudget", "PodDisruptionBudget"},
    {"storage.k8s.io", "CSINode", "CsiNode"},
};

constexpr absl::string_view kAnyObject = "AnyObject";

struct Field {
  absl::string_view type;
  absl::string_view name;
  FieldRule rule;
};

constexpr FieldRule Nested(absl::string_view type) { return {FieldStrategy::kDefault, "", type}; }
constexpr FieldRule MergeBy(absl::string_view key, absl::string_view type = "") {
  return {FieldStrategy::kMerge, key, type};
}
constexpr FieldRule MergeScalars() { return {FieldStrategy::kMerge, "", ""}; }
constexpr FieldRule Replace() { return {FieldStrategy::kReplace, "", ""}; }

// metadata is the same in every root type, so it has its own entries.
constexpr Field kFields[] = {
    {"Metadata", "finalizers", MergeScalars()},
    {"Metadata", "ownerReferences", MergeBy("uid")},

    {"Conditioned", "status", Nested("ConditionedStatus")},
    {"ConditionedStatus", "conditions", MergeBy("type")},

    {"Workload", "spec", Nested("WorkloadSpec")},
    {"Workload", "status", Nested("ConditionedStatus")},
    {"WorkloadSpec", "template", Nested("PodTemplateSpec")},
    {"Deployment", "spec", Nested("DeploymentSpec")},
    {"Deployment", "status", Nested("ConditionedStatus")},
    {"DeploymentSpec", "strategy", Nested("DeploymentStrategy")},
    {"DeploymentSpec", "template", Nested("PodTemplateSpec")},
    {"PodTemplate", "template", Nested("PodTemplateSpec")},
    {"PodTemplateSpec", "metadata", Nested("Metadata")},
    {"PodTemplateSpec", "spec", Nested("PodSpec")},
    {"CronJob", "spec", Nested("CronJobSpec")},
    {"CronJobSpec", "jobTemplate", Nested("JobTemplateSpec")},
    {"JobTemplateSpec", "metadata", Nested("Metadata")},
    {"JobTemplateSpec", "spec", Nested("WorkloadSpec")},

    {"Pod", "spec", Nested("PodSpec")},
    {"Pod", "status", Nested("PodStatus")},
    {"PodSpec", "containers", MergeBy("name", "Container")},
    {"PodSpec", "ephemeralContainers", MergeBy("name", "Container")},
    {"PodSpec", "hostAliases", MergeBy("ip")},
    {"PodSpec", "imagePullSecrets", MergeBy("name")},
    {"PodSpec", "initContainers", MergeBy("name", "Container")},
    {"PodSpec", "resourceClaims", MergeBy("name")},
    {"PodSpec", "schedulingGates", MergeBy("name")},
    {"PodSpec", "topologySpreadConstraints", MergeBy("topologyKey")},
    {"PodSpec", "volumes", MergeBy("name", "Volume")},
    {"Container", "env", MergeBy("name")},
    {"Container", "ports", MergeBy("containerPort")},
    {"Container", "volumeDevices", MergeBy("devicePath")},
    {"Container", "volumeMounts", MergeBy("mountPath")},
    {"Volume", "ephemeral", Nested("EphemeralVolume")},
    {"EphemeralVolume", "volumeClaimTemplate", Nested("VolumeClaimTemplate")},
    {"VolumeClaimTemplate", "metadata", Nested("Metadata")},
    {"PodStatus", "conditions", MergeBy("type")},
    {"PodStatus", "hostIPs", MergeBy("ip")},
    {"PodStatus", "podIPs", MergeBy("ip")},
    {"PodStatus", "resourceClaimStatuses", MergeBy("name")},

    {"Node", "spec", Nested("NodeSpec")},
    {"Node", "status", Nested("NodeStatus")},
    {"NodeSpec", "podCIDRs", MergeScalars()},
    {"NodeStatus", "addresses", MergeBy("type")},
    {"NodeStatus", "conditions", MergeBy("type")},

    {"Service", "spec", Nested("ServiceSpec")},
    {"Service", "status", Nested("ConditionedStatus")},
    {"ServiceSpec", "ports", MergeBy("port")},
    {"ServiceAccount", "secrets", MergeBy("name")},

    {"WebhookConfiguration", "webhooks", MergeBy("name", "Webhook")},
    {"Webhook", "matchConditions", MergeBy("name")},
    {"AdmissionPolicy", "spec", Nested("AdmissionPolicySpec")},
    {"AdmissionPolicySpec", "matchConditions", MergeBy("name")},
    {"AdmissionPolicySpec", "variables", MergeBy("name")},

    {"PodDisruptionBudget", "spec", Nested("PodDisruptionBudgetSpec")},
    {"PodDisruptionBudget", "status", Nested("ConditionedStatus")},
    {"PodDisruptionBudgetSpec", "selector", Replace()},
    {"CsiNode", "spec", Nested("CsiNodeSpec")},
    {"CsiNodeSpec", "drivers", MergeBy("name")},
};

bool IsRootType(absl::string_view type) {
  return type == kAnyObject || std::any_of(std::begin(kRoots), std::end(kRoots),
                                           [&](const Root& root) { return root.type == type; });
}

}  // namespace

absl::string_view RootType(absl::string_view group, absl::string_view kind) {
  for (const Root& root : kRoots) {
    if (root.group == group && root.kind == kind) return root.type;
  }
  return kAnyObject;
}

FieldRule FindFieldRule(absl::string_view type, absl::string_view field) {
  if (field == "metadata" && IsRootType(type)) return Nested("Metadata");
  for (const Field& known : kFields) {
    if (known.type == type && known.name == field) return known.rule;
  }
  return {};
}

bool RetainsOnlyNamed(absl::string_view type) {
  return type == "Volume" || type == "DeploymentStrategy";
}

}  // namespace kube::internal
