// The management cluster of Cluster API: which Clusters it has, and the kubeconfigs of these.
#ifndef CONTROLLERS_CLUSTER_API_MANAGEMENT_CLUSTER_H_
#define CONTROLLERS_CLUSTER_API_MANAGEMENT_CLUSTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// Watches the Clusters in the version that the server prefers, from when it serves one. While the
// server cannot be reached, or Cluster API is not installed there, discovery asks it again from
// time to time, and nobody waits for it. Thread-safe.
class ManagementCluster : public kube::KindSubscriber {
 public:
  // REQUIRES: `clock` outlives this object.
  ManagementCluster(std::shared_ptr<kube::Transport> transport, const std::string& host,
                    const base::Clock& clock);
  ~ManagementCluster() override;

  // Returns the runnable that connects to the server. REQUIRES: this object outlives it.
  std::unique_ptr<kube::Runnable> NewRunnable() { return kinds_.NewRunnable(); }
  // The name of each Cluster that is added, changes in what matters, or is removed, is put into the
  // queue as the key of a member cluster. Call it once. REQUIRES: the queue outlives this object.
  void Feed(kube::WorkQueue& queue);

  // Returns whether all Clusters are in the cache.
  bool HasSynced() const;
  // Read from the cache.
  kube::ObjectPtr Find(const kube::ObjectKey& cluster) const;
  // Returns the Clusters of this name in all namespaces, the oldest first.
  std::vector<kube::ObjectPtr> Named(const std::string& name) const;

  // Asks the server whether the Cluster exists. An error unless it is certain: also while the kind
  // is not served.
  absl::StatusOr<bool> Exists(const kube::ObjectKey& cluster, const base::StopToken& stop);
  // Returns the uid of the namespace kube-system, which identifies a Kubernetes cluster. Id asks
  // the server until it has answered once, AskId each time.
  absl::StatusOr<std::string> Id(const base::StopToken& stop);
  absl::StatusOr<std::string> AskId(const base::StopToken& stop);
  // Reads the Cluster's Secret and its kubeconfig from the server. kNotFound without the Secret;
  // kInvalidArgument when its content cannot be used.
  absl::StatusOr<kube::ConnectionConfig> KubeconfigOf(const kube::ObjectKey& cluster,
                                                      const base::StopToken& stop);

  kube::EventHandler HandlerFor(const kube::Resource& resource) override;
  void OnUnwatched(const kube::Gvk& gvk) override;

 private:
  std::shared_ptr<kube::Informer> Watched() const;

  kube::Client client_;
  kube::RestMapper mapper_;
  kube::InformerSet informers_;
  kube::ClusterClient cluster_;
  kube::WatchedKinds kinds_;
  kube::WorkQueue* queue_ = nullptr;
  mutable absl::Mutex mu_;
  // How the server has the Clusters; absent while it does not have any.
  std::optional<kube::Resource> watched_ ABSL_GUARDED_BY(mu_);
  std::string id_ ABSL_GUARDED_BY(mu_);  // "" before the server has answered.
  std::optional<kube::WatchedKinds::Subscription> subscription_;  // Ends first.
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_API_MANAGEMENT_CLUSTER_H_
