// The Cluster API detector: clusters that Cluster API provisions become member clusters, and leave
// when they are deleted there (upstream's pkg/clusterdiscovery/clusterapi).
#ifndef CONTROLLERS_CLUSTER_API_CLUSTER_API_RECONCILER_H_
#define CONTROLLERS_CLUSTER_API_CLUSTER_API_RECONCILER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cluster_api.h"
#include "controllers/cluster_api/management_cluster.h"
#include "controllers/cluster_api/registration.h"
#include "controllers/context/context.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// Makes the transport to a cluster that is about to join.
using NewTransport =
    std::function<absl::StatusOr<std::shared_ptr<kube::Transport>>(const kube::ConnectionConfig&)>;

// A request names a member cluster, which has the name of Cluster API's Cluster.
class ClusterApiReconciler : public kube::Reconciler {
 public:
  // How often the kubeconfig of a cluster that has joined is compared with what was taken from it,
  // and what only a person can repair is looked at again; and the longest back-off of anything
  // else.
  static constexpr absl::Duration kRecheck = absl::Minutes(5);
  // How soon a pass that was too early is repeated.
  static constexpr absl::Duration kWait = absl::Seconds(2);

  // REQUIRES: `manager` and `management` outlive the reconciler.
  ClusterApiReconciler(kube::Manager& manager, ManagementCluster& management,
                       NewTransport new_transport);

  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // One side of a join, and the other: `cluster` is null before it has joined.
  struct Pair {
    const kube::Object& source;
    kube::ObjectPtr cluster;
    api::JoinMark mark;
  };

  absl::StatusOr<kube::Action> Follow(const kube::ObjectPtr& cluster, const api::JoinMark& mark,
                                      const base::StopToken& stop);
  absl::StatusOr<kube::Action> Join(const Pair& pair, const base::StopToken& stop);
  absl::Status TryJoin(const Pair& pair, const base::StopToken& stop);
  absl::Status JoinMember(const Pair& pair, const kube::ConnectionConfig& config,
                          const api::JoinMark& wanted, const base::StopToken& stop);
  absl::Status CheckIdentity(const Pair& pair, const std::string& name,
                             const std::string& id) const;
  // Returns whether it is certain that the Cluster from which something was made does not exist.
  absl::StatusOr<bool> IsGone(const api::JoinMark& mark, const base::StopToken& stop);
  absl::Status Unjoin(const kube::ObjectPtr& cluster, const std::string& why,
                      const base::StopToken& stop);
  absl::StatusOr<kube::Action> CleanUp(const std::string& name, const api::JoinMark& mark,
                                       const base::StopToken& stop);
  kube::Action Refuse(const std::string& name, const absl::Status& why);
  void ReportNamesakes(const std::string& name, const kube::ObjectKey& joined);
  std::vector<kube::ObjectPtr> Provisioned(const std::string& name) const;

  kube::Manager& manager_;
  ManagementCluster& management_;
  const NewTransport new_transport_;
  Registrations registrations_;
  kube::EventRecorder recorder_;
};

// What leads to the management cluster and from there to the members.
struct ClusterApiConnections {
  std::shared_ptr<kube::Transport> management;
  std::string host;  // For metrics.
  NewTransport new_transport;
};
absl::Status BuildClusterApi(const Context& context, ClusterApiConnections connections,
                             int workers);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_API_CLUSTER_API_RECONCILER_H_
