// A claim and a release are patches with the version that was seen, so that a claim which was
// written in the meantime makes them fail with a conflict instead of being overwritten. Claim
// writes the template alone; the binding gets the claim when it is built. Release goes the other
// way round: it takes the claim from the binding, if that still has the same one, and then from the
// template. A failure between the two leaves the claim on the template, whose next pass repeats the
// release.

#include "detector/claims.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/binding_address.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/runtime/events.h"

namespace detector {
namespace {

// Claims and releases are written only onto the version that was read, because a claim that came
// since then is another policy's.
const kube::UpdateOptions kSeen = {.precondition = kube::UpdateOptions::Precondition::kAlways};

}  // namespace

template <class PolicyScope>
kube::Object Claimed(const ClaimRequest& request) {
  kube::Object after = *request.object;
  PolicyScope::Claim(*request.policy, after);
  if (PolicyScope::kNamespaced) api::policy_scope::Cluster::Unclaim(after);
  return after;
}

template <class PolicyScope>
absl::StatusOr<kube::ObjectPtr> Claim(kube::ClusterClient& client, const kube::Resource& resource,
                                      const ClaimRequest& request, const base::StopToken& stop) {
  return client.Update(resource, request.object, Claimed<PolicyScope>(request), kSeen, stop);
}

template <class PolicyScope>
absl::Status Release(kube::Manager& manager, const kube::Resource& resource,
                     const ReleaseRequest& request, const base::StopToken& stop) {
  kube::ClusterClient& client = manager.cluster();
  const kube::ObjectPtr& object = request.object;
  const std::string id(object->Label(PolicyScope::kIdLabel));
  const api::BindingAddress at = api::BindingOf(object->kind(), object->key());
  const kube::ObjectPtr binding = client.Find(at.resource, at.key);
  if (binding != nullptr && binding->Label(PolicyScope::kIdLabel) == id) {
    kube::Object after = *binding;
    PolicyScope::Unclaim(after);
    RETURN_IF_ERROR(
        kube::IgnoreGone(client.Update(at.resource, binding, after, kSeen, stop).status()));
  }
  kube::Object after = *object;
  PolicyScope::Unclaim(after);
  const auto released = client.Update(resource, object, after, kSeen, stop);
  if (released.ok() && *released != object && !object->IsDeleting()) {
    manager.events().Record(
        api::kDetectorSource, kube::InvolvedObject::Of(**released), kube::EventType::kNormal,
        api::reason::kPolicyReleased,
        absl::StrCat(PolicyScope::Describe(PolicyScope::ClaimOn(*object)), " ", request.why,
                     "; its clusters keep the object as it is there, whatever is edited or "
                     "overridden, until another policy selects it or it is deleted."));
  }
  return kube::IgnoreGone(released.status());
}

template kube::Object Claimed<api::policy_scope::Namespaced>(const ClaimRequest&);
template kube::Object Claimed<api::policy_scope::Cluster>(const ClaimRequest&);
template absl::StatusOr<kube::ObjectPtr> Claim<api::policy_scope::Namespaced>(
    kube::ClusterClient&, const kube::Resource&, const ClaimRequest&, const base::StopToken&);
template absl::StatusOr<kube::ObjectPtr> Claim<api::policy_scope::Cluster>(kube::ClusterClient&,
                                                                           const kube::Resource&,
                                                                           const ClaimRequest&,
                                                                           const base::StopToken&);
template absl::Status Release<api::policy_scope::Namespaced>(kube::Manager&, const kube::Resource&,
                                                             const ReleaseRequest&,
                                                             const base::StopToken&);
template absl::Status Release<api::policy_scope::Cluster>(kube::Manager&, const kube::Resource&,
                                                          const ReleaseRequest&,
                                                          const base::StopToken&);

}  // namespace detector
