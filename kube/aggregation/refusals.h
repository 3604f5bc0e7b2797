// Refuses requests because too much is being done already, and counts them.
#ifndef KUBE_AGGREGATION_REFUSALS_H_
#define KUBE_AGGREGATION_REFUSALS_H_

#include <string>

#include "absl/status/status.h"
#include "base/metrics.h"

namespace kube::aggregation {

// Those of one bound, in a series that is there from the beginning. Whoever answers 429 counts.
// Thread-safe.
class Refusals {
 public:
  // Counts nothing without a registry. REQUIRES: the registry outlives this object. `cause` is one
  // of few words that the program knows, never a client's. `bound`: sentences that say what there
  // is too much of, by which flag that is set, and how much of it one user gets.
  Refusals(metrics::Registry* registry, const std::string& cause, std::string bound);

  // Counts one, and returns a 429 that asks the client to come back in a second. Its message
  // begins with kube-apiserver's, followed by the bound.
  absl::Status Refuse() const;

 private:
  metrics::Counter* const counter_;
  const std::string bound_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REFUSALS_H_
