// What keeps Works, or the objects in members, when a binding lets Works go.
#ifndef BINDING_REMOVAL_H_
#define BINDING_REMOVAL_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/binding.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/fan_out.h"

namespace binding {

// Returns whether the Work in a cluster that the binding does not expect any more stays for now,
// because the binding suspends dispatching to the cluster: nothing there changes until that is
// resumed, whatever the scheduler decides (upstream's issue 6763). A Work is deleted while an
// eviction task says that the workload has left the cluster, and so does one in a cluster that is
// being removed.
bool StaysSuspended(const api::BindingView& binding, const std::string& cluster,
                    kube::ClusterClient& control_plane);

// Returns whether one of the binding's Works is in a cluster that an eviction task purges at once:
// it must be gone before the workload is made elsewhere. `works` returns them, and is called only
// if there is such a task.
bool IsPurging(const api::BindingView& binding,
               absl::FunctionRef<std::vector<kube::ObjectPtr>()> works);

// Has the members keep what the Work has put there when it is deleted; returns the Work as it is
// then. Nothing is written if it says so already.
absl::StatusOr<kube::ObjectPtr> Preserve(kube::ClusterClient& control_plane,
                                         const kube::ObjectPtr& work, const base::StopToken& stop);

// Prepares the Works of a binding that is being deleted: they leave their objects in the members if
// the binding says so or the policy that has claimed it, or those of a binding that requires it. A
// policy that was changed shortly before, or while nobody led, has not reached the binding, and
// never will. Nothing is written where the Work says so already. REQUIRES: the cache has policies.
absl::Status KeepPreserved(const api::BindingView& binding,
                           const std::vector<kube::ObjectPtr>& works,
                           kube::ClusterClient& control_plane, kube::FanOut& fan_out,
                           const base::StopToken& stop);

}  // namespace binding

#endif  // BINDING_REMOVAL_H_
