// The queue between event handlers and workers: de-duplicating, delaying, rate-limited, with
// priorities.
//
// Promises (as client-go's): equal priorities are served fairly; an item queued many times before
// it is taken is handed out once; an item is never handed to two workers at once, and one added
// while it is being processed is handed out again afterwards; after ShutDown the due items are
// still handed out, then Get returns nullopt. Workers either wait in Get, or are those of a
// WorkerPool, which calls Take and is told when there is something to take.
#ifndef KUBE_RUNTIME_WORK_QUEUE_H_
#define KUBE_RUNTIME_WORK_QUEUE_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/failing_keys.h"
#include "kube/runtime/reconciler.h"

namespace metrics {
class Registry;
}

namespace kube {

// Items of an informer's first list wait behind fresh changes.
inline constexpr int kInitialListPriority = -100;
inline constexpr int kNormalPriority = 0;

// Limits how soon a failed item is tried again: after the longer of its own exponential back-off
// and of the wait for a token bucket shared by all items.
struct RateLimiterOptions {
  absl::Duration base_delay = absl::Milliseconds(5);
  absl::Duration max_delay = absl::Seconds(1000);
  double qps = 10;  // Rate of the shared bucket; 0 leaves only the exponential part.
  int burst = 100;
};

// Keeps servers that are slow, or do not answer at all, from holding all workers: items that
// concern the same server share a lane, of which only a limited number are handed out at once; the
// others keep their places. And an item that has been held for a second no longer counts as keeping
// a worker busy: another one is handed out in addition, to one more thread.
struct LaneOptions {
  // Additional threads, which wait for slow servers.
  static constexpr int kSpareThreads = 16;

  // Returns the lane of an item: a member's name. An empty function: no lanes.
  std::function<std::string(const Request&)> of;
  // How many items of one lane are held at once. Only one item is held of a slow lane, that is, one
  // whose last item, or one that is still held, took a second or more.
  int max_held = 1;
  // How many items of all slow lanes together are held at once.
  int max_held_slow = 1;
  // How many items are held at once, not counting those of slow lanes and those held for a second
  // or more.
  int max_held_quick = 1;

  // Each lane gets three of five workers, all slow lanes together the spare threads.
  static LaneOptions For(int workers, std::function<std::string(const Request&)> of) {
    return {std::move(of), std::max(1, workers * 3 / 5), kSpareThreads, workers};
  }
};

// Thread-safe.
class WorkQueue {
 public:
  struct Options {
    std::string name;  // The labels `name` and `controller` of the workqueue_* metrics.
    RateLimiterOptions limiter;
    metrics::Registry* registry = nullptr;  // Null: no metrics.
    LaneOptions lanes;
  };
  // REQUIRES: `clock` and the registry outlive the queue.
  WorkQueue(Options options, const base::Clock& clock);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;

  // An item that is queued already takes the higher priority and the earlier time. After ShutDown
  // nothing is added. A delay of 100 ms or more may be up to 50 ms longer, so that delays end
  // together.
  void Add(const Request& item, int priority = kNormalPriority);
  void AddAfter(const Request& item, absl::Duration delay, int priority = kNormalPriority);
  // Adds the item after its back-off, which doubles each time until Forget is called.
  void AddRateLimited(const Request& item, int priority = kNormalPriority);
  // Ends the item's back-off. It does not count as failing any more.
  void Forget(const Request& item);
  // Returns how many times in a row the item was added rate-limited.
  int Requeues(const Request& item) const;

  struct Taken {
    Request request;
    int priority = kNormalPriority;
  };
  // Blocks until an item is due; returns nullopt once the queue is shut down and drained.
  std::optional<Taken> Get();
  // Gives an item back; every item that was taken must be given back.
  void Done(const Request& item);

  // What somebody gets who does not wait.
  struct Offer {
    std::optional<Taken> taken;
    bool has_more = false;  // True if another item could be taken at once.
    bool is_over = false;   // True when the queue is shut down, and drained but for what is held.
    // When there is something to take without any call: an item becomes due, or finds room.
    base::SteadyTime next = base::SteadyTime::InfiniteFuture();
  };
  // Gives `done` back, if it is set, and takes an item if one is due, in one step.
  Offer Take(const std::optional<Request>& done);
  // When a Take has said that there is no more, `call` is called once as soon as that is not true
  // any more: because of an item that can be taken, a time before `next`, or the end. Then it is
  // not called until the next Take. It is called on any thread with the queue's lock held, so that
  // it must neither block nor call the queue. nullptr ends that: no call runs when this returns.
  void TellWhenDue(std::function<void()> call);

  // The items whose last pass failed, by what the workers have noted. It is emptied and closed by
  // ShutDown.
  FailingKeys& failing();
  const FailingKeys& failing() const;

  // Drops items that are not due yet; due ones are still handed out.
  void ShutDown();
  size_t size() const;  // The number of due and delayed items.
  // Returns whether nothing is due and nothing is being processed; delayed items do not count.
  bool Idle() const;

  // Updates the gauges that change with time alone (work in progress).
  void UpdateMetrics();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_WORK_QUEUE_H_
