// The steps for each manifest of a Work, as upstream's webhook: first the fields are removed that
// the control plane has set and members set for themselves, for all kinds and then for the kind of
// the manifest; then the id of the Work is put on as a label, and the names of all labels and
// annotations, these included, are recorded in two annotations. Each write repeats them with the
// same result.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "base/random.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

// What belongs to the object in the control plane alone; a member cluster has its own of these.
constexpr const char* kServerMetadata[] = {"creationTimestamp",
                                           "deletionTimestamp",
                                           "deletionGracePeriodSeconds",
                                           "generation",
                                           "managedFields",
                                           "resourceVersion",
                                           "selfLink",
                                           "uid",
                                           "ownerReferences",
                                           "finalizers"};

constexpr const char* kJobUidLabels[] = {"controller-uid", "batch.kubernetes.io/controller-uid"};
constexpr const char* kJobNameLabels[] = {"job-name", "batch.kubernetes.io/job-name"};

void EraseAnnotation(json::Value& manifest, absl::string_view name) {
  if (manifest["metadata"]["annotations"].Has(name)) {
    manifest.Erase({"metadata", "annotations", name});
  }
}

void PruneJob(json::Value& job) {
  // A member that deleted the finished Job would only get it again.
  job.Erase({"spec", "ttlSecondsAfterFinished"});
  if (job["spec"]["manualSelector"].AsBool()) return;
  for (const char* label : kJobUidLabels) {
    job.Erase({"spec", "selector", "matchLabels", label});
    job.Erase({"spec", "template", "metadata", "labels", label});
  }
  for (const char* label : kJobNameLabels) {
    job.Erase({"spec", "template", "metadata", "labels", label});
  }
}

void PruneSecret(json::Value& secret) {
  if (secret["type"].AsString() != "kubernetes.io/service-account-token") return;
  EraseAnnotation(secret, "kubernetes.io/service-account.uid");
  // The token is valid in the control plane alone; the member fills in one of its own.
  secret.Set("data", json::Value());
}

void PruneServiceAccount(json::Value& account) {
  const std::string prefix = absl::StrCat(account["metadata"]["name"].ToString(), "-token-");
  if (account["secrets"].is_null()) return;
  json::Value kept = json::Value::Array();
  for (const json::Value& secret : account["secrets"].items()) {
    if (!absl::StartsWith(secret["name"].AsString(), prefix)) kept.Append(secret);
  }
  account.Set("secrets", std::move(kept));
}

void PruneService(json::Value& service) {
  // Addresses belong to the cluster that gave them; "None" is the wish for a headless Service.
  if (service["spec"]["clusterIP"].AsString() == "None") return;
  service.Erase({"spec", "clusterIP"});
  service.Erase({"spec", "clusterIPs"});
}

std::string KeysOf(const json::Value& map, std::vector<std::string> keys = {}) {
  for (const json::Member& member : map.members()) {
    if (std::find(keys.begin(), keys.end(), member.name()) == keys.end()) {
      keys.emplace_back(member.name());
    }
  }
  std::sort(keys.begin(), keys.end());
  return absl::StrJoin(keys, ",");
}

}  // namespace

void PruneManifest(json::Value& manifest) {
  if (manifest["metadata"].is_object()) {
    for (const char* field : kServerMetadata) manifest.Erase({"metadata", field});
  }
  manifest.Erase("status");
  const absl::string_view kind = manifest["kind"].AsString();
  if (kind == "Deployment") {
    EraseAnnotation(manifest, "deployment.kubernetes.io/revision");
    EraseAnnotation(manifest, "deployment.kubernetes.io/revision-history");
  }
  if (kind == "Job") PruneJob(manifest);
  if (kind == "Secret") PruneSecret(manifest);
  if (kind == "ServiceAccount") PruneServiceAccount(manifest);
  if (kind == "Service") PruneService(manifest);
  if (kind == "PersistentVolumeClaim") {
    EraseAnnotation(manifest, "volume.kubernetes.io/selected-node");
  }
}

void AdmitWork(kube::Object& work) {
  if (work.Label(api::kWorkIdLabel).empty()) work.SetLabel(api::kWorkIdLabel, base::NewUuid());
  const std::string id(work.Label(api::kWorkIdLabel));
  const size_t count = work.Get({"spec", "workload", "manifests"}).size();
  for (size_t i = 0; i < count; ++i) {
    json::Value& slot = work.mutable_root().Mutable({"spec", "workload", "manifests"}).MutableAt(i);
    json::Value root = slot;
    PruneManifest(root);
    kube::Object manifest(std::move(root));
    // The keys are recorded last, and include the two annotations themselves: they say which ones
    // may be removed from the member when the manifest has them no longer.
    manifest.SetAnnotation(api::kManagedAnnotationsAnnotation,
                           KeysOf(manifest.annotations(), {api::kManagedAnnotationsAnnotation,
                                                           api::kManagedLabelsAnnotation}));
    manifest.SetLabel(api::kWorkIdLabel, id);
    manifest.SetAnnotation(api::kManagedLabelsAnnotation, KeysOf(manifest.labels()));
    slot = manifest.root();
  }
}

}  // namespace sandbox
