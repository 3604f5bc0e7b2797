// The queue of bindings that have to leave a cluster, and the workers that make them leave one
// after the other (upstream's eviction worker).
#ifndef CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_
#define CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/context/context.h"
#include "controllers/taint_manager/eviction_pace.h"
#include "kube/meta/names.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/outcomes.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// The result of one look at a binding.
struct EvictionOutcome {
  bool evicted = false;
  absl::Duration again = absl::InfiniteDuration();  // When to look again.
};
// Looks at the binding `request.key` in the cluster `request.cluster`.
using EvictFn = std::function<absl::StatusOr<EvictionOutcome>(const kube::Request& request,
                                                              const base::StopToken& stop)>;

// Thread-safe.
class EvictionQueue {
 public:
  // Workers for each queue, as upstream has them.
  static constexpr int kWorkers = 3;

  // `name` is the label of the metrics, `kind` that of the bindings. REQUIRES: what the context
  // refers to outlives the queue.
  EvictionQueue(std::string name, std::string kind, const Context& context, EvictFn evict);

  // Queues a request, to be looked at after this time, for a binding of this resourceVersion. One
  // that is queued already keeps the earlier time. One that has failed keeps its back-off, unless
  // the binding has changed since or the failure is a minute old.
  void Add(const kube::Request& request, absl::Duration after, int64_t version);
  // Returns whether Add would change nothing, whatever the time: the request is due already, or has
  // failed for this version of the binding less than a minute ago.
  bool IsSettled(const kube::Request& request, int64_t version);

  // Works on requests, and rests after each eviction, until stopped. Each worker calls it on a
  // thread of its own.
  void Work(const base::StopToken& stop);

  void UpdateMetrics();
  // Returns whether no request is due or being worked on; workers that rest do not count.
  bool IsIdle() const { return queue_.Idle(); }
  const std::string& name() const { return name_; }
  const kube::FailingKeys& failing() const { return queue_.failing(); }

 private:
  absl::StatusOr<EvictionOutcome> Look(const kube::Request& request);
  // Returns whether the worker has to rest.
  bool Process(const kube::WorkQueue::Taken& taken, const base::StopToken& stop);
  void Fail(const kube::WorkQueue::Taken& taken, const absl::Status& error);
  // What is known of a request that is queued or being looked at.
  struct Waiting {
    base::SteadyTime due;  // Its back-off does not count.
    int64_t version = -1;  // The binding's resourceVersion when it was added.
    bool has_failed = false;
    base::SteadyTime retry;  // When one that has failed is looked at again whatever its back-off.
  };
  // Thousands of bindings may wait to leave each of many clusters, so the cluster's name is not in
  // each of their keys.
  using OfCluster = absl::flat_hash_map<kube::ObjectKey, Waiting>;
  bool IsSettled(const Waiting& waiting, int64_t version) const {
    const base::SteadyTime now = manager_.clock().SteadyNow();
    return waiting.has_failed ? waiting.version == version && now < waiting.retry
                              : waiting.due <= now;
  }
  // Returns what is known of the request; nullptr when it is not waiting.
  Waiting* Find(const kube::Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The gauge of the bindings that wait to leave a cluster.
  metrics::Gauge& GaugeOf(const std::string& cluster);
  void Left(const kube::Request& request);
  void Failed(const kube::Request& request);
  void Tolerated(const kube::Request& request, absl::Duration stay);

  const std::string name_, kind_;
  kube::Manager& manager_;
  const EvictFn evict_;
  EvictionPace pace_;
  kube::WorkQueue queue_;
  metrics::Gauge& depth_;
  metrics::Histogram& latency_;
  metrics::Counter& succeeded_;
  metrics::Counter& failed_;
  base::RepeatedErrors failures_;
  kube::Outcomes outcomes_;  // Of looks.
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, OfCluster> waiting_ ABSL_GUARDED_BY(mu_);  // By cluster.
};

// Adds the workers of the queue to the manager.
void AddWorkers(const std::shared_ptr<EvictionQueue>& queue, kube::Manager& manager);

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_
