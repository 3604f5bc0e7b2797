// The queue of bindings that have to leave a cluster, and the workers that make them leave one
// after the other (upstream's eviction worker).
#ifndef CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_
#define CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/taint_manager/eviction_pace.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/work_queue.h"
#include "loops/context.h"

namespace controllers {

// What came of one look at a binding.
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
  EvictionQueue(std::string name, std::string kind, const loops::Context& context, EvictFn evict);

  // Queues a request, to be looked at after this time. One that is queued already keeps the earlier
  // time.
  void Add(const kube::Request& request, absl::Duration after);
  // Returns whether the request is queued, is being looked at, or is to be tried again.
  bool Has(const kube::Request& request) const;

  // Works on requests, and rests after each eviction, until stopped. Each worker calls it on a
  // thread of its own.
  void Work(const base::StopToken& stop);

  void UpdateMetrics();
  const std::string& name() const { return name_; }

 private:
  absl::StatusOr<EvictionOutcome> Look(const kube::Request& request);
  // Returns whether the worker has to rest.
  bool Process(const kube::WorkQueue::Taken& taken, const base::StopToken& stop);
  void Fail(const kube::WorkQueue::Taken& taken, const absl::Status& error);
  // The gauge of the bindings that wait to leave a cluster.
  metrics::Gauge& Waiting(const std::string& cluster);
  void Left(const kube::Request& request);

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
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::Request> waiting_ ABSL_GUARDED_BY(mu_);
};

// Adds the workers of the queue to the manager.
void AddWorkers(const std::shared_ptr<EvictionQueue>& queue, kube::Manager& manager);

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_EVICTION_QUEUE_H_
