// Warnings about clusters that cannot take part in a MultiClusterService although it means them.
//
// A warning is recorded when somebody makes or edits the service, and when a cluster turns unfit,
// while this process leads: so there is one for each change, and a restart repeats nothing. Nothing
// is remembered for it.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_UNFIT_CLUSTERS_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_UNFIT_CLUSTERS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/multi_cluster_service.h"
#include "controllers/context/context.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The reason of requests for warnings: `key` is that of a MultiClusterService, and `cluster` that
// of the only cluster to look at, or "" for all of them.
inline constexpr kube::Reason kReportUnfit = "report unfit clusters";

// Returns whether the service means the cluster in that role.
bool Means(const kube::Object& service, api::ServiceRole role, absl::string_view cluster);

// Returns the names of the clusters that the service means in that role: those that it spells out,
// also of clusters that do not exist; all clusters if it names none. REQUIRES: the caller reads
// Clusters.
std::set<std::string> ClustersOf(kube::ClusterClient& control_plane, const kube::Object& service,
                                 api::ServiceRole role);

// Returns whether Works can be written for the cluster now. REQUIRES: the caller reads Namespaces.
bool TakesPart(kube::ClusterClient& control_plane, const kube::Object& cluster);

// Records the warnings that a request of kReportUnfit is about. REQUIRES: the caller reads
// MultiClusterServices and Clusters.
void ReportUnfitClusters(kube::ClusterClient& control_plane, kube::EventRecorder& recorder,
                         api::ServiceRole role, const kube::Request& request);

// Puts such requests into the controller's queue while this process leads.
void QueueUnfitReports(const Context& context, kube::Controller& controller, api::ServiceRole role);

// Returns the events of Clusters that change whether they take part, and when the controller's
// queue gets requests for the services that mean the cluster; `requests` makes them.
using RequestsFor = std::function<void(const kube::Object& service, std::vector<kube::Request>&)>;
kube::Enqueue OnFitnessOfClusters(const Context& context, RequestsFor requests,
                                  std::vector<api::ServiceRole> roles);
// As above, when a cluster gets its execution namespace.
void OnNewExecutionNamespace(const Context& context, kube::Controller& controller,
                             RequestsFor requests, std::vector<api::ServiceRole> roles);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_UNFIT_CLUSTERS_H_
