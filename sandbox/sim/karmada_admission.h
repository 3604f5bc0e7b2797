// Simulates karmada-webhook and karmada-aggregated-apiserver: changes and checks objects that are
// written to a Karmada control plane, as far as controllers rely on it.
#ifndef SANDBOX_SIM_KARMADA_ADMISSION_H_
#define SANDBOX_SIM_KARMADA_ADMISSION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "config/release.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Returns one hook with the steps below, as the release's webhook does them, for
// Backend::AddAdmission. REQUIRES: `clock` outlives the hook.
AdmissionHook KarmadaAdmission(const base::Clock& clock,
                               config::Release release = config::Release::kV1_18);

// For PropagationPolicy and ClusterPropagationPolicy: sets permanent id and finalizer on creation
// and defaults, and checks the policy.
absl::Status AdmitPolicy(const AdmissionRequest& request, config::Release release,
                         kube::Object& policy);

// For Work: sets the permanent id, and prunes every manifest of fields that must not reach members;
// its managed labels and annotations are listed. Does nothing to a Work that has been through it
// before.
void AdmitWork(kube::Object& work);

// For FederatedHPA: sets minReplicas, a metric and the rules of a behavior where they are missing.
void AdmitFederatedHpa(kube::Object& hpa);

// For MultiClusterService: sets the permanent id; checks types, which cannot change, and ports.
absl::Status AdmitMultiClusterService(const AdmissionRequest& request, kube::Object& service);

// For Cluster: sets zones, taint times and resource models.
void AdmitCluster(const AdmissionRequest& request, kube::Object& cluster, absl::Time now);

// Removes from a manifest the fields that the API server of a template's cluster has set, as
// upstream's prune.RemoveIrrelevantFields.
void PruneManifest(json::Value& manifest);

// Sets the label to a new UUID when it is missing or empty.
void EnsureId(kube::Object& object, absl::string_view label);

// Returns "admission webhook "<webhook>" denied the request: <messages>" (403); OK without
// messages.
absl::Status Denied(absl::string_view webhook, const std::vector<std::string>& messages);

}  // namespace sandbox

#endif  // SANDBOX_SIM_KARMADA_ADMISSION_H_
