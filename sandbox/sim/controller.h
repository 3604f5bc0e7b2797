// The base of every simulated controller: the keys that are to be reconciled, and the subscriptions
// that add them.
//
//   class ReplicaSets {
//     ...
//     Controller controller_;  // Last member: destroyed first.
//   };
//   ReplicaSets::ReplicaSets(...) : controller_(backend, loop, [this](const kube::ObjectKey& key) {
//     return Reconcile(key);
//   }) {
//     controller_.WatchKeys(kReplicaSets);
//   }
#ifndef SANDBOX_SIM_CONTROLLER_H_
#define SANDBOX_SIM_CONTROLLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kube/meta/names.h"
#include "sandbox/sim/event_loop.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Calls `reconcile` on the loop's thread for every key that was enqueued, once even if it was
// enqueued several times. A reconcile that fails is tried again, first after 5 ms and later after
// at most one second. Thread-safe.
class Controller {
 public:
  using Reconcile = std::function<absl::Status(const kube::ObjectKey& key)>;

  // `name` is for the log. REQUIRES: `backend` and `loop` outlive the controller.
  Controller(std::string name, Backend& backend, EventLoop& loop, Reconcile reconcile);
  // Ends subscriptions and waits for a running reconcile.
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Enqueues every object of `r` that exists or changes.
  void WatchKeys(const kube::Gvr& r);
  // Enqueues the controlling owner, if it is of `kind`, of every object of `r` that exists or
  // changes.
  void WatchOwned(const kube::Gvr& r, std::string kind);
  // Calls `callback` for every object of `r` that exists or changes; on any thread, in order.
  void Watch(const kube::Gvr& r, std::function<void(const Event&)> callback);

  // Of the keys that wait, the one with the highest rank is reconciled next, and of several the
  // one that waits longest; without this each has its turn. `rank` is called on the loop's thread,
  // once for each time that a key waits. REQUIRES: nothing was enqueued or watched.
  void RankBy(std::function<int64_t(const kube::ObjectKey&)> rank) { rank_ = std::move(rank); }

  void Enqueue(const kube::ObjectKey& key);
  // Enqueues the key after `delay`. The shortest of several delays of one key counts, so a
  // reconcile that comes too early has to ask again.
  void EnqueueAfter(const kube::ObjectKey& key, absl::Duration delay);

  absl::Time Now() const { return loop_.clock().Now(); }

 private:
  // A key that waits for its reconcile.
  struct Pending {
    int64_t sequence = 0;  // When it was enqueued, among all keys.
    std::optional<int64_t> rank;
  };

  // Reconciles the key that was posted, or the one whose turn it is where keys are ranked.
  void RunOnce(const kube::ObjectKey& posted);
  // Returns the key of the highest rank. REQUIRES: a key waits.
  kube::ObjectKey HighestRanked();
  void TimerFired(const kube::ObjectKey& key, absl::Time due);

  const std::string name_;
  Backend& backend_;
  EventLoop& loop_;
  const Reconcile reconcile_;
  std::function<int64_t(const kube::ObjectKey&)> rank_;  // May be empty.
  std::vector<int64_t> subscriptions_;
  absl::Mutex mu_;
  std::map<kube::ObjectKey, Pending> pending_ ABSL_GUARDED_BY(mu_);
  int64_t enqueued_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<kube::ObjectKey, absl::Time> timers_ ABSL_GUARDED_BY(mu_);
  std::map<kube::ObjectKey, int> failures_;  // Used on the loop's thread only.
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_CONTROLLER_H_
