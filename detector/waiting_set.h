// Templates that wait for something: those that no policy has matched yet, which a new policy looks
// through; those whose pods could not be told, which changed rules bring back.
#ifndef DETECTOR_WAITING_SET_H_
#define DETECTOR_WAITING_SET_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe. Requests are kept without their changed_by_karmada mark.
class WaitingSet {
 public:
  // Whether it was not waiting before.
  bool Add(kube::Request request);
  void Remove(kube::Request request);
  std::vector<kube::Request> All() const;

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::Request> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_WAITING_SET_H_
