// Functions that loops over Works share: they find a cluster's Works and the template behind a
// manifest.
#ifndef WORKS_RELATED_H_
#define WORKS_RELATED_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/work_queue.h"
#include "works/rechecks.h"

namespace works {

// Returns whether a cluster's Ready condition turned true.
bool BecameReady(const kube::Object& before, const kube::Object& after);

// Returns whether Works can be written for the cluster: it is not being deleted, and has its
// execution namespace, which the cluster loop makes a moment after the cluster has joined.
// REQUIRES: the caller reads Namespaces.
bool TakesWorks(kube::ClusterClient& control_plane, const kube::Object& cluster);

// Returns `written`, the failure to write a Work for the cluster, with what is wrong with the
// cluster if anything is: it does not exist, is being removed, its execution namespace is not
// there, or it is not ready while an earlier Work has to be deleted (a kFailedPrecondition that is
// not the server's).
// REQUIRES: the caller reads Clusters and Namespaces.
absl::Status ExplainedByCluster(kube::ClusterClient& control_plane, const std::string& cluster,
                                const absl::Status& written);

// Returns the error with which a server refuses the Work of a cluster that does not exist, without
// asking it: somebody who writes bindings by hand may name any number of them. OK if the cluster is
// there. REQUIRES: as above.
absl::Status CheckClusterExists(kube::ClusterClient& control_plane, const std::string& cluster);

// Maps a Cluster to requests for all Works in its execution namespace. `works` is the informer of
// Works.
kube::MapFn WorksOf(std::shared_ptr<kube::Informer> works);

// Maps an update of a Cluster to requests for those of its Works that have a manifest of a kind
// which status.apiEnablements did not list before.
kube::UpdateMapFn WorksOfNewKinds(std::shared_ptr<kube::Informer> works);

// Returns whether the cluster's status.apiEnablements changed.
bool ServesOtherKinds(const kube::Object& before, const kube::Object& after);

// Queues the Works of each member that is connected again: its informers are new, and events
// between the two connections were missed. `works` is the informer of Works. REQUIRES: the queue
// outlives the subscription.
[[nodiscard]] kube::ClusterSet::Subscription QueueWhenReconnected(
    kube::ClusterSet& members, std::shared_ptr<kube::Informer> works, kube::WorkQueue& queue);

// Asks the execution loop to apply the cluster's Works that could not be applied and have an object
// in the namespace, which has just been made there. REQUIRES: the caller reads Works.
void RecheckWorksIn(const kube::ObjectKey& ns, const std::string& cluster,
                    kube::ClusterClient& control_plane, const Rechecks& rechecks);

// Returns whether the Work has not put anything into its cluster, and must not: it carries what was
// collected there, or what only Karmada itself reads, of a kind that the cluster may not serve. A
// loop over objects in members must not ask the cluster for it.
bool HasNoObjects(const kube::Object& work);

// Maps a Cluster to one request for each object that its Works put there: cluster, gvk and key.
kube::MapFn ObjectsOf(std::shared_ptr<kube::Informer> works);

// Returns a reference to the template behind a Work's manifest, for events; its uid is "" when the
// manifest does not record one.
kube::InvolvedObject TemplateOf(const kube::Object& manifest);

// Returns the binding that a Work names, of either scope; nullptr when it names none, or one that
// is gone. REQUIRES: the caller reads ResourceBindings and ClusterResourceBindings.
kube::ObjectPtr BindingOfWork(kube::ClusterClient& control_plane, const kube::Object& work);

}  // namespace works

#endif  // WORKS_RELATED_H_
