// How often the passes of a controller have ended in which way, by its metrics.
//
// A controller may make more passes than a test has caused: several events are one pass, or one
// each, as it happens. So a test waits for at least one pass, or compares with what was before.
#ifndef TESTS_SUPPORT_PASSES_H_
#define TESTS_SUPPORT_PASSES_H_

#include <string>

#include "base/metrics.h"

namespace tests {

// `result` is a value of the metric's label: success, error, requeue or requeue_after. A pass that
// is counted has left the queue as it is to be.
inline double Passes(metrics::Registry& registry, const std::string& controller,
                     const std::string& result) {
  return registry
      .GetCounter("controller_runtime_reconcile_total", "",
                  {{"controller", controller}, {"result", result}})
      .Value();
}

}  // namespace tests

#endif  // TESTS_SUPPORT_PASSES_H_
