// The member clusters' clients and informers: made when a cluster appears, rebuilt when its
// endpoint, CA, proxy or certificate changes, stopped when it goes. A new token is taken over in
// place: connections, watches and caches stay.
#ifndef KUBE_RUNTIME_CLUSTER_SET_H_
#define KUBE_RUNTIME_CLUSTER_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cache/cluster_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/transport.h"

namespace kube {

// How to reach a member; implemented over Cluster objects and Secrets.
class ClusterConfigSource {
 public:
  virtual ~ClusterConfigSource() = default;
  // kNotFound: no such cluster. Other errors say which field or secret is unusable.
  virtual absl::StatusOr<ConnectionConfig> ConfigFor(const std::string& cluster) = 0;
};

// One member. Kept alive by whoever holds it; informers stop when the cluster leaves the set.
class MemberCluster {
 public:
  virtual ~MemberCluster() = default;
  virtual const std::string& name() const = 0;
  virtual ClusterClient& client() = 0;
  // Informers of their own for kinds of which more is read than the client's informers hold, where
  // ClusterSet::Options::on_new has narrowed those down.
  virtual InformerSet& unfiltered() = 0;
};

// Thread-safe. Nothing here is called from an informer's handler of the same member.
class ClusterSet {
 public:
  struct Options {
    double qps = 0;  // Per member; 0: adaptive only.
    int burst = 0;
    std::string user_agent;
    // Run the lists of all members' informers; nullptr: each member has a few of its own.
    std::shared_ptr<InformerThreads> informer_threads;
    // Called with each new member before anybody else sees it (sets informer defaults). Optional.
    std::function<void(MemberCluster&)> on_new;
    // How to speak HTTP to a member. Optional: NewHttpTransport.
    std::function<absl::StatusOr<std::shared_ptr<Transport>>(const ConnectionConfig&)>
        new_transport;
  };
  // REQUIRES: source, clock and registry (may be null) outlive the set and its members.
  ClusterSet(Options options, ClusterConfigSource& source, const base::Clock& clock,
             metrics::Registry* registry);
  ~ClusterSet();

  // The member, connected if need be (no network traffic yet).
  absl::StatusOr<std::shared_ptr<MemberCluster>> Get(const std::string& cluster);
  // nullptr when not connected.
  std::shared_ptr<MemberCluster> Find(const std::string& cluster) const;
  // Compares the configuration with the one in use. A new token alone is handed to the member;
  // anything else gives a new MemberCluster. OK when the cluster is not connected; the source's
  // error leaves the connection as it is.
  absl::Status Refresh(const std::string& cluster);
  // Stops and forgets.
  void Remove(const std::string& cluster);
  std::vector<std::string> Names() const;

  // Ends when it is destroyed: no call is running or comes afterwards.
  class Subscription;
  using ClusterFn = std::function<void(const std::string& cluster)>;
  // Calls `fn` whenever Refresh has replaced a member by a new MemberCluster: the informers of the
  // old one have stopped, and the new one, which Get returns by then, has none. Whoever has
  // handlers on a member's informers attaches them to the new ones, and does again what it may have
  // missed (it queues the cluster's keys). Members that Remove and Get replace are not announced:
  // those come and go with the Cluster object.
  //
  // Calls come on the thread of Refresh, one at a time; they must not block (put keys in a queue,
  // no more), and must not subscribe or end a subscription. A subscription may outlive the set.
  [[nodiscard]] Subscription OnReconnected(ClusterFn fn);

 private:
  struct Impl;
  struct Subscribers;
  std::unique_ptr<Impl> impl_;
};

// Movable; an empty one stands for no subscription.
class ClusterSet::Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept
      : subscribers_(std::move(other.subscribers_)), id_(other.id_) {}
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { End(); }

 private:
  friend class ClusterSet;
  Subscription(std::weak_ptr<Subscribers> subscribers, int64_t id)
      : subscribers_(std::move(subscribers)), id_(id) {}
  void End();

  std::weak_ptr<Subscribers> subscribers_;
  int64_t id_ = 0;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_CLUSTER_SET_H_
