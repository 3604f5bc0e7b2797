// Watches kinds of an API server that users choose, beyond those that a program is built around.
//
// Several loops follow kinds that users choose: templates, their dependencies, targets of scaling.
// Each is a subscriber that names the kinds it needs and a reason for each; it gets the events of
// those kinds as soon as the server serves them. All share one informer per kind, which ends when
// the last reason was removed a while ago or the kind is not served any more, unless the informer
// was started before the loops began to work.
#ifndef KUBE_RUNTIME_WATCHED_KINDS_H_
#define KUBE_RUNTIME_WATCHED_KINDS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/served_kinds.h"

namespace kube {

// One loop's interest. Its functions are called by the runnable's thread, one at a time.
class KindSubscriber {
 public:
  virtual ~KindSubscriber() = default;
  // Returns the handler of the kind's events. A kind that is served or needed again is watched from
  // the beginning: all its objects are delivered as initial adds.
  virtual EventHandler HandlerFor(const Resource& resource) = 0;
  // The subscriber gets no further events of the kind, and no deletion events for its objects: what
  // it remembers of them can be forgotten. Called when the kind is not served any more, or was not
  // needed for a while; not at the end of the subscription.
  virtual void OnUnwatched(const Gvk&) {}
  // Called once, before the first round of discovery, when this process begins to work: after the
  // election, if there is one.
  virtual void OnStart() {}
  // Called after each round of discovery and before anything is watched because of it.
  virtual void OnDiscovered(const ServedKinds&) {}
  // Returns whether the kinds are watched in any version that is served, not in the preferred one
  // alone.
  virtual bool TakesAnyVersion() const { return false; }
  // Returns whether to watch a needed kind already; while it is false, it is called again every
  // half a second.
  virtual bool MayWatch(const Gvk&) { return true; }
};

// Asks discovery every 30 s (first at once, and sooner while a needed kind is not served yet), for
// resources in their preferred version that can be listed, watched and deleted. The client's mapper
// learns from each round. Thread-safe.
class WatchedKinds {
 public:
  // A kind is watched for this time after its last reason was removed, so that it is not listed
  // again when a policy is replaced.
  static constexpr absl::Duration kLinger = absl::Seconds(30);

  // REQUIRES: `cluster` and `clock` outlive this object.
  WatchedKinds(ClusterClient& cluster, const base::Clock& clock);
  ~WatchedKinds();

  class Subscription;
  // REQUIRES: the subscriber outlives the subscription, and the subscription ends before this
  // object does.
  [[nodiscard]] Subscription Subscribe(KindSubscriber& subscriber);

  // Returns the runnable that finds out what is served and watches what is needed. It belongs to
  // the manager; there is one at a time. REQUIRES: this object outlives it.
  std::unique_ptr<Runnable> NewRunnable();

  // Starts the informers of the kinds that are needed and served, so that a runnable which begins
  // later finds them read. It removes them like those that it starts itself. For a stand-by; nobody
  // is told of anything. REQUIRES: the runnable does not run yet.
  absl::Status WarmUp(const base::StopToken& stop);

  // Returns what keeps needed kinds from being watched, although they may be served, by what the
  // last round of discovery could not read: each such kind, or "discovery" for a round that failed
  // as a whole, with the reason.
  std::map<std::string, std::string> Unread() const;

  // Returns why a kind is watched or to be watched: the reasons of all subscribers, each once,
  // sorted.
  std::vector<std::string> ReasonsFor(const Gvk& gvk) const;

 private:
  struct Impl;
  class Loop;
  std::unique_ptr<Impl> impl_;
};

// The subscription ends when it is destroyed: no handler of the subscriber is running or called
// afterwards, so it must not be destroyed inside one. Movable.
class WatchedKinds::Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept
      : impl_(std::exchange(other.impl_, nullptr)), id_(other.id_) {}
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription();

  // Need adds one reason of that name for the kind, Release takes one away. They are counted, so
  // each Need has to be matched by one Release. May be called from handlers.
  void Need(const Gvk& gvk, const std::string& reason);
  void Release(const Gvk& gvk, const std::string& reason);

 private:
  friend class WatchedKinds;
  Subscription(Impl* impl, int id) : impl_(impl), id_(id) {}

  Impl* impl_ = nullptr;
  int id_ = 0;
};

// Returns a handler for objects that name kinds: the subscription needs the kinds of each object,
// for `reason`, as long as the object exists and names them. REQUIRES: the subscription outlives
// the handler's registration.
EventHandler NeedKindsOf(WatchedKinds::Subscription& subscription, const std::string& reason,
                         std::function<std::set<Gvk>(const Object&)> kinds_of);

}  // namespace kube

#endif  // KUBE_RUNTIME_WATCHED_KINDS_H_
