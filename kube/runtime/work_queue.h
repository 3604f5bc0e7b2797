// The queue between event handlers and workers: de-duplicating, delaying, rate-limited, with
// priorities.
//
// Promises (as client-go's): fair among equal priorities; an item queued many times before it is
// taken is handed out once; an item is never handed to two workers at once, one added while being
// processed comes again afterwards; after ShutDown the rest is drained, then Get returns nullopt.
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
#include "kube/runtime/reconciler.h"

namespace metrics {
class Registry;
}

namespace kube {

// Items of an informer's first list wait behind fresh changes.
inline constexpr int kInitialListPriority = -100;
inline constexpr int kNormalPriority = 0;

// How long a failed item waits: the longer of its own exponential back-off and of a token bucket
// shared by all items.
struct RateLimiterOptions {
  absl::Duration base_delay = absl::Milliseconds(5);
  absl::Duration max_delay = absl::Seconds(1000);
  double qps = 10;  // Overall bucket for re-queues of all items; 0: exponential part only.
  int burst = 100;
};

// Keeps servers that are slow, or do not answer at all, from holding all workers: items that
// concern the same server share a lane, of which only so many are handed out at once; the others
// keep their places. And an item that has been held for a second does not count as one that a
// worker is busy with: another one is handed out beside it, to a thread more.
struct LaneOptions {
  // Threads that wait for slow servers, beside the workers.
  static constexpr int kSpareThreads = 16;

  // The lane of an item: a member's name. Empty: no lanes.
  std::function<std::string(const Request&)> of;
  // Items of one lane that are held at once. Of a slow lane, whose last item or one that is held
  // took a second or more, only one is.
  int max_held = 1;
  // Items of all slow lanes together.
  int max_held_slow = 1;
  // Items that are held at once, without those of slow lanes and those held for a second or more.
  int max_held_quick = 1;

  // Three of five workers for each lane, the spare threads for all slow lanes together.
  static LaneOptions For(int workers, std::function<std::string(const Request&)> of) {
    return {std::move(of), std::max(1, workers * 3 / 5), kSpareThreads, workers};
  }
};

// Threads: all methods may be called from any thread.
class WorkQueue {
 public:
  struct Options {
    std::string name;  // Labels `name` and `controller` of the workqueue_* metrics.
    RateLimiterOptions limiter;
    metrics::Registry* registry = nullptr;  // Null: no metrics.
    LaneOptions lanes;
  };
  // REQUIRES: clock and registry outlive the queue.
  WorkQueue(Options options, const base::Clock& clock);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;

  // An item added twice takes the higher priority and the earlier time. After ShutDown nothing is
  // added.
  void Add(const Request& item, int priority = kNormalPriority);
  void AddAfter(const Request& item, absl::Duration delay, int priority = kNormalPriority);
  // Adds the item after its back-off, which doubles each time until Forget.
  void AddRateLimited(const Request& item, int priority = kNormalPriority);
  // Ends the item's back-off.
  void Forget(const Request& item);
  // How many times in a row it was added rate-limited.
  int Requeues(const Request& item) const;

  struct Taken {
    Request request;
    int priority = kNormalPriority;
  };
  // Blocks until an item is due; nullopt once shut down and drained.
  std::optional<Taken> Get();
  // Every item from Get must be given back.
  void Done(const Request& item);

  // What a worker does next.
  struct Turn {
    std::optional<Taken> taken;
    bool is_over = false;  // The queue is shut down and drained.
  };
  // Done(), when there is something to give back, and Get() in one step. With `may_end` it also
  // returns, with neither, when for some time more workers have waited than were needed.
  Turn Next(const std::optional<Request>& done, bool may_end);

  // Waiting (not yet due) items are dropped, due ones still handed out.
  void ShutDown();
  size_t size() const;  // Due and delayed items.
  bool Idle() const;    // Nothing due, nothing being processed (delayed items do not count).

  // Brings the gauges that move with time alone (work in progress) up to date.
  void UpdateMetrics();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_WORK_QUEUE_H_
