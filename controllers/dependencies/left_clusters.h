// Determines in which clusters a template still is from which its binding has been moved away, so
// that what the template needs stays there with it.
//
// All of it is read: from the control plane the Works of the template's binding, its eviction
// tasks, and the Clusters; from members, whether the object is still being deleted after its Work
// has gone, because of its finalizers. Nothing is remembered.
#ifndef CONTROLLERS_DEPENDENCIES_LEFT_CLUSTERS_H_
#define CONTROLLERS_DEPENDENCIES_LEFT_CLUSTERS_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "controllers/dependencies/attached_bindings.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/controller.h"
#include "works/member_objects.h"

namespace controllers {

// Returns whether the cluster may have the binding's template although spec.clusters does not name
// it: the template is being evicted from it gracefully, or the Work for it is there, and not for
// the sake of another binding that needs it there and stays, or that it needs itself. False for a
// cluster that does not exist or is being removed from the control plane. REQUIRES: Clusters and
// ResourceBindings are declared as read, and Works by the index of api::kResourceBindingIdLabel.
bool MayStillBeIn(kube::ClusterClient& client, const kube::Object& binding,
                  absl::string_view cluster);

// Looks into the cache of a member: returns whether the binding's template is being deleted there,
// or whether that is still being listed. Never waits. False when the member cannot be read.
// REQUIRES: what members' credentials need is declared as read. `objects` outlives the result.
StillIn TerminatingIn(works::MemberObjects& objects);

// Returns look-ups in the cache of the control plane, and in those of members that Karmada pushes
// to by `terminating` (nullptr: none). REQUIRES: what MayStillBeIn requires. The client outlives
// the result.
Lookups LookupsIn(kube::ClusterClient& client, StillIn terminating = nullptr);

// Maps a Work that is gone to its binding if that propagates dependencies: they can leave the
// cluster, too, or if the binding is placed there, the next Work may be made of another state of
// the template. REQUIRES: the client outlives the result.
kube::MapFn BindingThatLostWork(kube::ClusterClient& client);

// Returns whether somebody has begun to remove the cluster from the control plane.
bool BeginsToGo(const kube::Object& before, const kube::Object& after);
// Maps a Cluster to the referrers that take a dependency there.
kube::MapFn ReferrersInto(std::shared_ptr<kube::Informer> bindings);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_LEFT_CLUSTERS_H_
