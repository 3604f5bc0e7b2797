// The member clusters' clients and informers: created when a cluster is first needed, replaced when
// its endpoint, CA, proxy or certificate changes, stopped when the cluster is removed. A new token
// is taken over in place: connections, watches and caches stay. While the member refuses the one in
// use, a new one makes a new connection, since everything that uses the old one is in a back-off.
#ifndef KUBE_RUNTIME_CLUSTER_SET_H_
#define KUBE_RUNTIME_CLUSTER_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cache/cluster_client.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Returns how to reach a member; implemented over Cluster objects and Secrets.
class ClusterConfigSource {
 public:
  virtual ~ClusterConfigSource() = default;
  // kNotFound when there is no such cluster. Other errors name the field or secret that is
  // unusable.
  virtual absl::StatusOr<ConnectionConfig> ConfigFor(const std::string& cluster) = 0;
};

// One member. It lives as long as somebody holds it; its informers stop when the cluster is removed
// from the set.
class MemberCluster {
 public:
  virtual ~MemberCluster() = default;
  virtual const std::string& name() const = 0;
  virtual ClusterClient& client() = 0;
  // A second set of informers, for kinds of which a loop reads more objects than the client's
  // informers hold, because ClusterSet::Options::on_new has narrowed those down.
  virtual InformerSet& unfiltered() = 0;
};

// Thread-safe. No function may be called from an informer's handler of the same member.
class ClusterSet {
 public:
  struct Options {
    double qps = 0;  // Per member; 0 leaves only the adaptive limit.
    int burst = 0;
    std::string user_agent;
    // Run the lists of all members' informers; with nullptr each member has a few threads of its
    // own.
    std::shared_ptr<InformerThreads> informer_threads;
    // The most bytes that the objects and unfinished events of one member may take; 0: no limit.
    // See InformerSet::SetBudget.
    int64_t member_bytes = 0;
    // What the members of several sets may take together; with nullptr there is no such limit.
    // Counts only with member_bytes.
    std::shared_ptr<base::TotalBytes> total_bytes;
    // The part of them that the objects of unfiltered() may take, so that they leave room for those
    // of client().
    double unfiltered_share = 1;
    // Called when objects of the member have no room. Must not block.
    std::function<void(const std::string& cluster)> on_bytes_exceeded;
    // Called with each new member before anybody else sees it, to set informer defaults. Optional.
    std::function<void(MemberCluster&)> on_new;
    // Makes the transport to a member. Optional; the default is NewHttpTransport.
    std::function<absl::StatusOr<std::shared_ptr<Transport>>(const ConnectionConfig&)>
        new_transport;
    // Returns what the member's client uses instead of its transport. Optional.
    std::function<std::shared_ptr<Transport>(const std::string& cluster,
                                             std::shared_ptr<Transport> transport)>
        decorate;
    // In which equal discoveries of members are found; nullptr: one of the set's own.
    std::shared_ptr<DiscoveryPool> discoveries;
  };
  // REQUIRES: `source`, `clock` and `registry` outlive the set and its members. `registry` may be
  // null.
  ClusterSet(Options options, ClusterConfigSource& source, const base::Clock& clock,
             metrics::Registry* registry);
  ~ClusterSet();

  // Returns the member; it is created if need be, which causes no network traffic yet.
  absl::StatusOr<std::shared_ptr<MemberCluster>> Get(const std::string& cluster);
  // Returns nullptr when the member is not connected.
  std::shared_ptr<MemberCluster> Find(const std::string& cluster) const;
  // Compares the configuration with the one in use. A new token alone is handed to the member,
  // unless it refuses the one in use; any other difference makes a new MemberCluster. OK when the
  // cluster is not connected; after an error, which is the source's or the transport's, the
  // connection stays as it is.
  absl::Status Refresh(const std::string& cluster);
  // Stops the member's informers and forgets the member.
  void Remove(const std::string& cluster);
  std::vector<std::string> Names() const;

  // A subscription ends when it is destroyed: then no call is running and none follows.
  class Subscription;
  using ClusterFn = std::function<void(const std::string& cluster)>;
  // Calls `fn` whenever Refresh has replaced a member by a new MemberCluster: the informers of the
  // old one have stopped, and the new one, which Get returns by then, has none. A loop that has
  // handlers on a member's informers attaches them to the new ones, and queues the cluster's keys,
  // since it may have missed events. Members that Remove and Get replace are not announced: they
  // are added and removed with the Cluster object.
  //
  // `fn` is called on the thread of Refresh, one call at a time; it must not block (it should only
  // put keys in a queue), and must not subscribe or end a subscription. A subscription may outlive
  // the set.
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
