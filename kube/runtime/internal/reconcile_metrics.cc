#include "kube/runtime/internal/reconcile_metrics.h"

#include <vector>

namespace kube::internal {
namespace {

using metrics::Counter;
using metrics::Registry;

Counter& ResultCounter(Registry& registry, const std::string& controller, const char* result) {
  return registry.GetCounter("controller_runtime_reconcile_total",
                             "Total number of reconciliations per controller",
                             {{"controller", controller}, {"result", result}});
}

const std::vector<double>& TimeBuckets() {
  static const auto& kBuckets = *new std::vector<double>{
      .005, .01, .025, .05, .1,  .15, .2,  .25, .3, .35, .4, .45, .5, .6, .7, .8, .9, 1,  1.25, 1.5,
      1.75, 2,   2.5,  3,   3.5, 4,   4.5, 5,   6,  7,   8,  9,   10, 15, 20, 25, 30, 40, 50,   60};
  return kBuckets;
}

}  // namespace

ReconcileMetrics::ReconcileMetrics(Registry& registry, const std::string& controller, int workers)
    : success(ResultCounter(registry, controller, "success")),
      error(ResultCounter(registry, controller, "error")),
      requeue(ResultCounter(registry, controller, "requeue")),
      requeue_after(ResultCounter(registry, controller, "requeue_after")),
      errors(registry.GetCounter("controller_runtime_reconcile_errors_total",
                                 "Total number of reconciliation errors per controller",
                                 {{"controller", controller}})),
      terminal_errors(
          registry.GetCounter("controller_runtime_terminal_reconcile_errors_total",
                              "Total number of terminal reconciliation errors per controller",
                              {{"controller", controller}})),
      panics(registry.GetCounter("controller_runtime_reconcile_panics_total",
                                 "Total number of reconciliation panics per controller",
                                 {{"controller", controller}})),
      time(registry.GetHistogram("controller_runtime_reconcile_time_seconds",
                                 "Length of time per reconciliation per controller", TimeBuckets(),
                                 {{"controller", controller}})),
      active_workers(registry.GetGauge("controller_runtime_active_workers",
                                       "Number of currently used workers per controller",
                                       {{"controller", controller}})) {
  // No reconcile here has a time-out of its own, but dashboards expect the series.
  registry.GetCounter("controller_runtime_reconcile_timeouts_total",
                      "Total number of reconciliation timeouts per controller",
                      {{"controller", controller}});
  registry
      .GetGauge("controller_runtime_max_concurrent_reconciles",
                "Maximum number of concurrent reconciles per controller",
                {{"controller", controller}})
      .Set(workers);
}

}  // namespace kube::internal
