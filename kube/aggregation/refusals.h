// Counts the requests that a server refuses because too much is being done already.
#ifndef KUBE_AGGREGATION_REFUSALS_H_
#define KUBE_AGGREGATION_REFUSALS_H_

#include <string>

#include "base/metrics.h"

namespace kube::aggregation {

// Those of one cause, in a series that is there from the beginning. Whoever answers 429 counts.
// Thread-safe.
class Refusals {
 public:
  // Counts nothing without a registry. REQUIRES: the registry outlives this object. `cause` is one
  // of few words that the program knows, never a client's.
  Refusals(metrics::Registry* registry, const std::string& cause)
      : counter_(registry == nullptr
                     ? nullptr
                     : &registry->GetCounter("karmada_refused_requests_total",
                                             "Number of requests that were refused with 429 "
                                             "because too much was being done, by cause.",
                                             {{"cause", cause}})) {}

  void Count() const {
    if (counter_ != nullptr) counter_->Increment();
  }

 private:
  metrics::Counter* const counter_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REFUSALS_H_
