// The Works of one binding: which they are, and how the binding lets go of them.
//
// What others need, or what the binding should never have had, is not deleted in members: such a
// Work loses the binding's marks, or is deleted in a way that leaves the member's object there.
#ifndef BINDING_BINDING_WORKS_H_
#define BINDING_BINDING_WORKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/binding.h"
#include "base/stop_token.h"
#include "binding/other_claims.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/fan_out.h"

namespace binding {

// Thread-safe.
template <class Scope>
class BindingWorks {
 public:
  // REQUIRES: all outlive this object, and Works are declared as read by Scope::kIdLabel.
  BindingWorks(kube::ClusterClient& client, kube::FanOut& fan_out, const OtherClaims& others)
      : client_(client), fan_out_(fan_out), others_(others) {}

  // Returns those that the cache shows.
  std::vector<kube::ObjectPtr> Known(const api::BindingView& binding) const;
  // Returns the binding's Works, also those that the cache does not show yet.
  absl::StatusOr<std::vector<kube::ObjectPtr>> All(const api::BindingView& binding,
                                                   const base::StopToken& stop);
  // Lets go of Works that are the binding's. One that nobody else needs is deleted, with its object
  // in the member; but an object that was never the binding's to bring (api::CheckBindingResource)
  // stays in the member.
  absl::Status LetGo(const kube::Object& binding, const std::vector<kube::ObjectPtr>& works,
                     const base::StopToken& stop);

 private:
  // Asks the server for the binding's Works; to answer that, it reads all Works.
  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const api::BindingView& binding,
                                                    const base::StopToken& stop);
  // Returns whether the cache has all Works except those of the last moments.
  bool CacheFollowsWorks() const;

  absl::Status LetGoOf(const kube::Object& binding, const kube::ObjectPtr& work,
                       const base::StopToken& stop);
  // Takes the binding's marks off, and what it has set where the next owner sets nothing. That
  // change brings the other owner's pass (works::ChangedHands).
  absl::Status HandOver(const kube::ObjectPtr& work, OtherClaims::Claimant to,
                        const base::StopToken& stop);

  kube::ClusterClient& client_;
  kube::FanOut& fan_out_;
  const OtherClaims& others_;
};

}  // namespace binding

#endif  // BINDING_BINDING_WORKS_H_
