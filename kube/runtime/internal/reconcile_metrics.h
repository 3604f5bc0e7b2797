// The controller_runtime_* series of one controller, named as controller-runtime's and present from
// the start.
#ifndef KUBE_RUNTIME_INTERNAL_RECONCILE_METRICS_H_
#define KUBE_RUNTIME_INTERNAL_RECONCILE_METRICS_H_

#include <string>

#include "base/metrics.h"

namespace kube::internal {

struct ReconcileMetrics {
  ReconcileMetrics(metrics::Registry& registry, const std::string& controller, int workers);

  // controller_runtime_reconcile_total by result.
  metrics::Counter& success;
  metrics::Counter& error;
  metrics::Counter& requeue;
  metrics::Counter& requeue_after;

  metrics::Counter& errors;
  metrics::Counter& terminal_errors;
  metrics::Counter& panics;
  metrics::Histogram& time;
  metrics::Gauge& active_workers;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_RECONCILE_METRICS_H_
