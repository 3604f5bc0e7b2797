#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "interpreter/interpreter.h"

namespace interpreter {

namespace {

void PruneMetadata(kube::Object& manifest) {
  for (const absl::string_view field :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
        "managedFields", "resourceVersion", "selfLink", "uid", "ownerReferences", "finalizers"}) {
    if (manifest.metadata().Has(field)) manifest.Erase({"metadata", field});
  }
}

// Checks first, because erasing a path that does not exist would copy its parents.
void EraseIfThere(kube::Object& manifest, json::Path path) {
  if (manifest.root().FindPath(path) != nullptr) manifest.Erase(path);
}

void PruneDeployment(kube::Object& deployment) {
  deployment.EraseAnnotation("deployment.kubernetes.io/revision");
  deployment.EraseAnnotation("deployment.kubernetes.io/revision-history");
}

// Removes the labels that a member's job controller makes from the uid of the Job.
void PruneJob(kube::Object& job) {
  EraseIfThere(job, {"spec", "ttlSecondsAfterFinished"});
  if (job.spec()["manualSelector"].AsBool()) return;
  for (const absl::string_view label : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
    EraseIfThere(job, {"spec", "selector", "matchLabels", label});
  }
  for (const absl::string_view label : {"controller-uid", "batch.kubernetes.io/controller-uid",
                                        "job-name", "batch.kubernetes.io/job-name"}) {
    EraseIfThere(job, {"spec", "template", "metadata", "labels", label});
  }
}

// What lets a member delete an object by itself when it has finished: Karmada would make it again,
// and it would run again.
struct TimeToLive {
  absl::string_view group, kind;
  std::array<absl::string_view, 3> path;  // Ends with "" if it is shorter.
};
constexpr TimeToLive kTimesToLive[] = {
    {"apps.kruise.io", "BroadcastJob", {"spec", "completionPolicy", "ttlSecondsAfterFinished"}},
    {"argoproj.io", "Workflow", {"spec", "ttlStrategy"}},
    {"jobset.x-k8s.io", "JobSet", {"spec", "ttlSecondsAfterFinished"}},
    {"kubeflow.org", "PyTorchJob", {"spec", "runPolicy", "ttlSecondsAfterFinished"}},
    {"kubeflow.org", "TFJob", {"spec", "runPolicy", "ttlSecondsAfterFinished"}},
    {"sparkoperator.k8s.io", "SparkApplication", {"spec", "timeToLiveSeconds"}},
};

void PruneTimeToLive(kube::Object& manifest) {
  for (const TimeToLive& entry : kTimesToLive) {
    if (manifest.kind() != entry.kind || manifest.gvk().group != entry.group) continue;
    const auto& [top, middle, last] = entry.path;
    if (last.empty()) return EraseIfThere(manifest, {top, middle});
    return EraseIfThere(manifest, {top, middle, last});
  }
}

void PruneSecret(kube::Object& secret) {
  if (secret.root()["type"].AsString() != "kubernetes.io/service-account-token") return;
  secret.EraseAnnotation("kubernetes.io/service-account.uid");
  secret.Set({"data"}, nullptr);
}

// Removes all token secrets; upstream keeps every second of several adjacent ones.
void PruneServiceAccount(kube::Object& account) {
  const std::string prefix = absl::StrCat(account.name(), "-token-");
  const auto is_token = [&](const json::Value& entry) {
    return absl::StartsWith(entry["name"].AsString(), prefix);
  };
  const auto secrets = account.root()["secrets"].items();
  if (std::none_of(secrets.begin(), secrets.end(), is_token)) return;
  json::Value kept = json::Value::Array();
  for (const json::Value& entry : secrets) {
    if (!is_token(entry)) kept.Append(entry);
  }
  account.Set({"secrets"}, std::move(kept));
}

void PruneService(kube::Object& service) {
  // A headless Service is headless in every cluster.
  if (service.spec()["clusterIP"].AsString() == "None") return;
  EraseIfThere(service, {"spec", "clusterIP"});
  EraseIfThere(service, {"spec", "clusterIPs"});
}

}  // namespace

void Prune(kube::Object& manifest) {
  PruneMetadata(manifest);
  EraseIfThere(manifest, {"status"});
  // Compares the kind's name alone, as upstream does.
  const absl::string_view kind = manifest.kind();
  if (kind == "Deployment") return PruneDeployment(manifest);
  if (kind == "Job") return PruneJob(manifest);
  if (kind == "Secret") return PruneSecret(manifest);
  if (kind == "ServiceAccount") return PruneServiceAccount(manifest);
  if (kind == "Service") return PruneService(manifest);
  if (kind == "PersistentVolumeClaim") {
    manifest.EraseAnnotation("volume.kubernetes.io/selected-node");
  }
  PruneTimeToLive(manifest);
}

}  // namespace interpreter
