// The workqueue_* series of one queue, named as client-go's.
#ifndef KUBE_RUNTIME_INTERNAL_QUEUE_METRICS_H_
#define KUBE_RUNTIME_INTERNAL_QUEUE_METRICS_H_

#include <map>
#include <string>

#include "absl/time/time.h"

namespace metrics {
class Counter;
class Gauge;
class Histogram;
class Registry;
}  // namespace metrics

namespace kube::internal {

// Does nothing when constructed without a registry. Not thread-safe.
class QueueMetrics {
 public:
  QueueMetrics(metrics::Registry* registry, const std::string& queue);
  void Added(int priority);
  void Raised(int from, int to);
  void Retried();
  void Taken(int priority, absl::Duration waited);
  void Worked(absl::Duration worked);
  void InProgress(absl::Duration total, absl::Duration longest);

 private:
  metrics::Gauge& Depth(int priority);

  metrics::Registry* registry_;
  std::string queue_;
  std::map<int, metrics::Gauge*> depth_;
  metrics::Counter* adds_ = nullptr;
  metrics::Counter* retries_ = nullptr;
  metrics::Histogram* waited_ = nullptr;
  metrics::Histogram* worked_ = nullptr;
  metrics::Gauge* unfinished_ = nullptr;
  metrics::Gauge* longest_ = nullptr;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_QUEUE_METRICS_H_
