// Defaults run on every write of the main resource, before admission and validation, and so must
// change nothing when they run again on their own result. Only defaults that users or controllers
// can notice are here; pods have their own file (pod_defaults.cc). What only a creation sets
// (status, finalizer, generated selector) is apart, because it needs the object's uid. The table
// says which function a kind has; a kind without one keeps its spec as written.

#include "sandbox/write/builtin_defaults.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sandbox/kinds/default_to.h"

namespace sandbox {
namespace {

void DefaultDeployment(json::Value& spec) {
  DefaultTo(spec, "replicas", 1);
  DefaultTo(spec, "revisionHistoryLimit", 10);
  DefaultTo(spec, "progressDeadlineSeconds", 600);
  json::Value& strategy = spec.Mutable("strategy");
  DefaultTo(strategy, "type", "RollingUpdate");
  if (strategy["type"].AsString() == "RollingUpdate") {
    json::Value& rolling = strategy.Mutable("rollingUpdate");
    DefaultTo(rolling, "maxSurge", "25%");
    DefaultTo(rolling, "maxUnavailable", "25%");
  }
  DefaultPodTemplate(spec.Mutable("template"));
}

void DefaultReplicaSet(json::Value& spec) {
  DefaultTo(spec, "replicas", 1);
  DefaultPodTemplate(spec.Mutable("template"));
}

void DefaultStatefulSet(json::Value& spec) {
  DefaultTo(spec, "replicas", 1);
  DefaultTo(spec, "podManagementPolicy", "OrderedReady");
  DefaultTo(spec, "revisionHistoryLimit", 10);
  DefaultTo(spec, "persistentVolumeClaimRetentionPolicy",
            json::Value::Object({{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}));
  json::Value& strategy = spec.Mutable("updateStrategy");
  DefaultTo(strategy, "type", "RollingUpdate");
  if (strategy["type"].AsString() == "RollingUpdate") {
    DefaultTo(strategy.Mutable("rollingUpdate"), "partition", 0);
  }
  DefaultPodTemplate(spec.Mutable("template"));
}

void DefaultDaemonSet(json::Value& spec) {
  DefaultTo(spec, "revisionHistoryLimit", 10);
  json::Value& strategy = spec.Mutable("updateStrategy");
  DefaultTo(strategy, "type", "RollingUpdate");
  if (strategy["type"].AsString() == "RollingUpdate") {
    json::Value& rolling = strategy.Mutable("rollingUpdate");
    DefaultTo(rolling, "maxSurge", 0);
    DefaultTo(rolling, "maxUnavailable", 1);
  }
  DefaultPodTemplate(spec.Mutable("template"));
}

void DefaultJobSpec(json::Value& spec) {
  // If both are absent the Job has one completion; a work queue sets only parallelism.
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.Set("completions", 1);
  DefaultTo(spec, "parallelism", 1);
  DefaultTo(spec, "backoffLimit",
            spec["backoffLimitPerIndex"].is_null() ? json::Value(6) : json::Value(2147483647));
  DefaultTo(spec, "completionMode", "NonIndexed");
  DefaultTo(spec, "suspend", false);
  DefaultTo(spec, "manualSelector", false);
  DefaultTo(spec, "podReplacementPolicy",
            spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  DefaultPodTemplate(spec.Mutable("template"));
}

void DefaultCronJob(json::Value& spec) {
  DefaultTo(spec, "concurrencyPolicy", "Allow");
  DefaultTo(spec, "suspend", false);
  DefaultTo(spec, "successfulJobsHistoryLimit", 3);
  DefaultTo(spec, "failedJobsHistoryLimit", 1);
  json::Value& job = spec.Mutable("jobTemplate");
  DefaultTo(job, "metadata", json::Value::Object());
  DefaultPodTemplate(job.Mutable(json::Path({"spec", "template"})));
}

void DefaultService(json::Value& spec) {
  DefaultTo(spec, "type", "ClusterIP");
  DefaultTo(spec, "sessionAffinity", "None");
  for (size_t i = 0; i < spec["ports"].size(); ++i) {
    json::Value& port = spec.Mutable("ports").MutableAt(i);
    DefaultTo(port, "protocol", "TCP");
    DefaultTo(port, "targetPort", port["port"]);
  }
  // A copy, because adding members moves the value.
  const std::string type = spec["type"].ToString();
  if (type == "ExternalName") return;
  DefaultTo(spec, "internalTrafficPolicy", "Cluster");
  if (type == "NodePort" || type == "LoadBalancer") {
    DefaultTo(spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer") DefaultTo(spec, "allocateLoadBalancerNodePorts", true);
}

// Merges stringData, which is write-only, into data.
void FoldStringData(json::Value& secret) {
  DefaultTo(secret, "type", "Opaque");
  const json::Value given = secret["stringData"];
  if (given.is_null()) return;
  for (const json::Member& entry : given.members()) {
    secret.Set({"data", entry.name()}, absl::Base64Escape(entry.value.AsString()));
  }
  secret.Erase("stringData");
}

void DefaultNamespace(kube::Object& object) {
  if (!object.name().empty()) object.SetLabel("kubernetes.io/metadata.name", object.name());
}

void DefaultAutoscaler(json::Value& spec) { DefaultTo(spec, "minReplicas", 1); }

void DefaultIngress(json::Value& spec) {
  for (size_t i = 0; i < spec["rules"].size(); ++i) {
    const size_t paths = spec["rules"].At(i)["http"]["paths"].size();
    for (size_t k = 0; k < paths; ++k) {
      json::Value& http = spec.Mutable("rules").MutableAt(i).Mutable("http");
      DefaultTo(http.Mutable("paths").MutableAt(k), "pathType", "ImplementationSpecific");
    }
  }
}

void DefaultClaim(json::Value& spec) { DefaultTo(spec, "volumeMode", "Filesystem"); }

void DefaultNetworkPolicy(json::Value& spec) {
  json::Value types = json::Value::Array({"Ingress"});
  if (!spec["egress"].is_null()) types.Append("Egress");
  DefaultTo(spec, "policyTypes", std::move(types));
}

struct SpecDefaults {
  absl::string_view group;
  absl::string_view kind;
  void (*apply)(json::Value& spec);
};

constexpr SpecDefaults kSpecDefaults[] = {
    {"apps", "Deployment", DefaultDeployment},
    {"apps", "ReplicaSet", DefaultReplicaSet},
    {"apps", "StatefulSet", DefaultStatefulSet},
    {"apps", "DaemonSet", DefaultDaemonSet},
    {"batch", "Job", DefaultJobSpec},
    {"batch", "CronJob", DefaultCronJob},
    {"", "Service", DefaultService},
    {"", "Pod", DefaultPod},
    {"", "ReplicationController", DefaultReplicaSet},
    {"", "PersistentVolumeClaim", DefaultClaim},
    {"autoscaling", "HorizontalPodAutoscaler", DefaultAutoscaler},
    {"networking.k8s.io", "Ingress", DefaultIngress},
    {"networking.k8s.io", "NetworkPolicy", DefaultNetworkPolicy},
};

// Selects only the Job's own pods, like generateSelector of kube-apiserver's job strategy. Labels
// that the client chose stay, so that validation refuses them.
void SelectJobPods(kube::Object& job) {
  json::Value& spec = job.mutable_root().Mutable("spec");
  if (spec["manualSelector"].AsBool()) return;
  json::Value& labels = spec.Mutable(json::Path({"template", "metadata", "labels"}));
  for (absl::string_view key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
    DefaultTo(labels, key, job.uid());
  }
  for (absl::string_view key : {"job-name", "batch.kubernetes.io/job-name"}) {
    DefaultTo(labels, key, job.name());
  }
  json::Value& selected = spec.Mutable(json::Path({"selector", "matchLabels"}));
  DefaultTo(selected, "batch.kubernetes.io/controller-uid", job.uid());
}

json::Value InitialStatus(absl::string_view kind, const kube::Object& object) {
  if (kind == "Namespace") return json::Value::Object({{"phase", "Active"}});
  if (kind == "Pod") {
    return json::Value::Object({{"phase", "Pending"}, {"qosClass", QosClassOf(object.spec())}});
  }
  if (kind == "PersistentVolume" || kind == "PersistentVolumeClaim") {
    return json::Value::Object({{"phase", "Pending"}});
  }
  if (kind == "Service" || kind == "Ingress") {
    return json::Value::Object({{"loadBalancer", json::Value::Object()}});
  }
  return json::Value::Object();
}

}  // namespace

void ApplyBuiltinDefaults(const ResourceInfo& info, kube::Object& object) {
  const kube::Gvk& gvk = info.resource.gvk;
  if (gvk.group.empty() && gvk.kind == "Namespace") DefaultNamespace(object);
  if (gvk.group.empty() && gvk.kind == "Secret") FoldStringData(object.mutable_root());
  for (const SpecDefaults& defaults : kSpecDefaults) {
    if (defaults.group == gvk.group && defaults.kind == gvk.kind) {
      defaults.apply(object.mutable_root().Mutable("spec"));
    }
  }
}

void PrepareBuiltinForCreate(const ResourceInfo& info, kube::Object& object) {
  const std::string& kind = info.resource.gvk.kind;
  if (info.status_reset_on_create) object.Set({"status"}, InitialStatus(kind, object));
  if (kind == "Job") SelectJobPods(object);
  if (kind == "Namespace") {
    object.Set({"spec", "finalizers"}, json::Value::Array({"kubernetes"}));
  }
}

}  // namespace sandbox
