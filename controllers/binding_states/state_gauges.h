// Counts what of bindings is not as it should be, in gauges.
#ifndef CONTROLLERS_BINDING_STATES_STATE_GAUGES_H_
#define CONTROLLERS_BINDING_STATES_STATE_GAUGES_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "controllers/binding_states/binding_states.h"
#include "kube/meta/object.h"

namespace controllers {

// There is a series for each cluster and state that some binding has, and none for others, so that
// their number does not grow with the bindings; memory is taken for bindings that are not fine.
// Thread-safe.
class StateGauges {
 public:
  // REQUIRES: `registry` outlives this object.
  explicit StateGauges(metrics::Registry& registry) : registry_(registry) {}

  // Counts the binding as it is at this time; its earlier state counts no more. `is_new`: it has
  // not been seen before, so what it records of the past is believed; a later state begins now.
  void Count(const kube::Object& binding, absl::Time now, bool is_new);
  // The binding has gone.
  void Forget(const kube::Object& binding);

 private:
  // The cluster and the state.
  using Place = std::pair<std::string, BindingState>;
  using Times = std::map<Place, absl::Time>;

  void Replace(const std::string& binding, Times times) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Show(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  metrics::Registry& registry_;
  absl::Mutex mu_;
  // Since when bindings are not fine, by "ResourceBinding shop/web".
  absl::flat_hash_map<std::string, Times> times_ ABSL_GUARDED_BY(mu_);
  std::map<Place, std::multiset<absl::Time>> places_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATES_STATE_GAUGES_H_
