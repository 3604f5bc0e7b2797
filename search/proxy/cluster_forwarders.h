// The ways to all member clusters, as their Cluster objects and Secrets describe them.
#ifndef SEARCH_PROXY_CLUSTER_FORWARDERS_H_
#define SEARCH_PROXY_CLUSTER_FORWARDERS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "search/proxy/forwarder.h"

namespace search {

// A forwarder is made when a cluster is first needed, and made again when its address, authorities,
// proxy or so changes; a new token is taken over in place. Requests under way keep the forwarder
// that they began with. Thread-safe.
class ClusterForwarders : public MemberForwarders {
 public:
  // All functions are thread-safe and do not block.
  struct Parts {
    // Return the object; nullptr when there is none.
    std::function<kube::ObjectPtr(const std::string& name)> cluster;
    std::function<kube::ObjectPtr(const kube::ObjectKey& key)> secret;
    // Determines how to reach a member, but for the token.
    std::function<absl::StatusOr<kube::ConnectionConfig>(const kube::Object& cluster)> connection;
    std::function<absl::StatusOr<std::shared_ptr<Forwarder>>(const std::string& cluster,
                                                             const kube::ConnectionConfig& config)>
        create;
  };
  explicit ClusterForwarders(Parts parts) : parts_(std::move(parts)) {}

  absl::StatusOr<std::shared_ptr<Forwarder>> For(const std::string& cluster) override;
  // Drops what is kept for a cluster that is gone.
  void Forget(const std::string& cluster);

 private:
  struct Entry {
    kube::ConnectionConfig config;
    std::shared_ptr<Forwarder> forwarder;
  };
  absl::StatusOr<kube::ConnectionConfig> ConfigOf(const std::string& cluster) const;

  const Parts parts_;
  absl::Mutex mu_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // SEARCH_PROXY_CLUSTER_FORWARDERS_H_
