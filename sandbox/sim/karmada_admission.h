// What karmada-webhook and karmada-aggregated-apiserver do to objects that are written to a Karmada
// control plane, as far as controllers rely on it.
#ifndef SANDBOX_SIM_KARMADA_ADMISSION_H_
#define SANDBOX_SIM_KARMADA_ADMISSION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// The steps below in one hook for Backend::AddAdmission. `clock` must outlive the hook.
AdmissionHook KarmadaAdmission(const base::Clock& clock);

// PropagationPolicy and ClusterPropagationPolicy: permanent id and finalizer on creation, defaults,
// and the checks that keep policies sane.
absl::Status AdmitPolicy(const AdmissionRequest& request, kube::Object& policy);

// Work: permanent id; every manifest pruned of what must not travel, with its managed labels and
// annotations listed. Does nothing to a Work that went through it before.
void AdmitWork(kube::Object& work);

// Cluster: zones, taint times, resource models.
void AdmitCluster(const AdmissionRequest& request, kube::Object& cluster, absl::Time now);

// Removes from a manifest what the API server of a template's cluster filled in, as upstream's
// prune.RemoveIrrelevantFields.
void PruneManifest(json::Value& manifest);

// "admission webhook "<webhook>" denied the request: <messages>" (403); OK without messages.
absl::Status Denied(absl::string_view webhook, const std::vector<std::string>& messages);

}  // namespace sandbox

#endif  // SANDBOX_SIM_KARMADA_ADMISSION_H_
