// Which kinds can be templates at all: those that a policy selects or a binding refers to.
//
// A control plane serves dozens of kinds; watching one that nobody propagates would cost a
// connection and a copy of every object, for nothing.
#ifndef DETECTOR_NEEDED_KINDS_H_
#define DETECTOR_NEEDED_KINDS_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"

namespace detector {

// Grows only: a kind whose last policy goes stays until the process ends. Thread-safe.
class NeededKinds {
 public:
  // REQUIRES: the clock outlives this.
  explicit NeededKinds(const base::Clock& clock) : clock_(clock) {}

  // Kinds in the resource selectors of a policy of either scope; malformed ones are passed over.
  void AddPolicy(const kube::Object& policy);
  // The kind of a binding's template.
  void AddBinding(const kube::Object& binding);

  std::vector<kube::Gvk> All() const;
  // Whether a binding of a template of that kind was seen.
  bool IsBound(const kube::Gvk& gvk) const;
  // Waits until a kind came that the last call did not know of (true), the deadline, or the stop.
  bool AwaitNews(base::SteadyTime deadline, const base::StopToken& stop);

 private:
  void Add(const kube::Gvk& gvk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::Gvk> kinds_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<kube::Gvk> bound_ ABSL_GUARDED_BY(mu_);
  bool news_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace detector

#endif  // DETECTOR_NEEDED_KINDS_H_
