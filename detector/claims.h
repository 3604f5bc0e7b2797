// Claims of policies on templates and bindings: a label and annotations record which policy governs
// an object.
#ifndef DETECTOR_CLAIMS_H_
#define DETECTOR_CLAIMS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"

namespace detector {

struct ClaimRequest {
  kube::ObjectPtr object;
  const kube::Object* policy;
};

// Returns the template with the claim of the policy.
template <class PolicyScope>
kube::Object Claimed(const ClaimRequest& request);

// Marks the template as claimed by the policy; a namespaced policy also removes a cluster-scoped
// policy's claim. Returns the template as it is afterwards.
template <class PolicyScope>
absl::StatusOr<kube::ObjectPtr> Claim(kube::ClusterClient& client, const kube::Resource& resource,
                                      const ClaimRequest& request, const base::StopToken& stop);

struct ReleaseRequest {
  kube::ObjectPtr object;
  const char* why;  // The end of the sentence "<policy> ...", for the event on the template.
};
// Values of ReleaseRequest::why.
inline constexpr char kPolicyDeleted[] = "was deleted";
inline constexpr char kPolicyDoesNotMatch[] = "does not select the object any more";

// Takes the claim from the binding first and then from the template, so that a failure half-way can
// still be found by the template's label. A template that has lost its claim by this call gets an
// event. kAborted when the object has changed since it was read, so that a newer claim of another
// policy stays.
template <class PolicyScope>
absl::Status Release(kube::Manager& manager, const kube::Resource& resource,
                     const ReleaseRequest& request, const base::StopToken& stop);

}  // namespace detector

#endif  // DETECTOR_CLAIMS_H_
