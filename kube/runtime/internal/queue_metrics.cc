#include "kube/runtime/internal/queue_metrics.h"

#include "absl/strings/str_cat.h"
#include "base/metrics.h"

namespace kube::internal {

QueueMetrics::QueueMetrics(metrics::Registry* registry, const std::string& queue)
    : registry_(registry), queue_(queue) {
  if (registry_ == nullptr) return;
  const metrics::Labels labels = {{"name", queue}, {"controller", queue}};
  const std::vector<double> buckets = metrics::ExponentialBuckets(1e-8, 10, 12);
  adds_ = &registry_->GetCounter("workqueue_adds_total",
                                 "Total number of adds handled by workqueue", labels);
  retries_ = &registry_->GetCounter("workqueue_retries_total",
                                    "Total number of retries handled by workqueue", labels);
  waited_ = &registry_->GetHistogram(
      "workqueue_queue_duration_seconds",
      "How long in seconds an item stays in workqueue before being requested", buckets, labels);
  worked_ = &registry_->GetHistogram("workqueue_work_duration_seconds",
                                     "How long in seconds processing an item from workqueue takes.",
                                     buckets, labels);
  unfinished_ = &registry_->GetGauge(
      "workqueue_unfinished_work_seconds",
      "How many seconds of work is in progress and has not been observed by work_duration. Large "
      "values indicate stuck threads.",
      labels);
  longest_ = &registry_->GetGauge(
      "workqueue_longest_running_processor_seconds",
      "How many seconds the longest running processor of workqueue has been running.", labels);
  Depth(0);  // Creates the series from the start.
}

metrics::Gauge& QueueMetrics::Depth(int priority) {
  metrics::Gauge*& gauge = depth_[priority];
  if (gauge == nullptr) {
    gauge = &registry_->GetGauge(
        "workqueue_depth", "Current depth of workqueue by workqueue and priority",
        {{"name", queue_}, {"controller", queue_}, {"priority", absl::StrCat(priority)}});
  }
  return *gauge;
}

void QueueMetrics::Added(int priority) {
  if (registry_ == nullptr) return;
  adds_->Increment();
  Depth(priority).Add(1);
}

void QueueMetrics::Raised(int from, int to) {
  if (registry_ == nullptr) return;
  Depth(from).Add(-1);
  Depth(to).Add(1);
}

void QueueMetrics::Retried() {
  if (registry_ != nullptr) retries_->Increment();
}

void QueueMetrics::Taken(int priority, absl::Duration waited) {
  if (registry_ == nullptr) return;
  Depth(priority).Add(-1);
  waited_->Observe(absl::ToDoubleSeconds(waited));
}

void QueueMetrics::Worked(absl::Duration worked) {
  if (registry_ != nullptr) worked_->Observe(absl::ToDoubleSeconds(worked));
}

void QueueMetrics::InProgress(absl::Duration total, absl::Duration longest) {
  if (registry_ == nullptr) return;
  unfinished_->Set(absl::ToDoubleSeconds(total));
  longest_->Set(absl::ToDoubleSeconds(longest));
}

}  // namespace kube::internal
