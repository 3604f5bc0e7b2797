// Remembers what failed the last time, so that success is reported as an event when it ends a
// failure and not at every pass.
//
// This is memory of one process: after a restart nothing counts as failing, so that the success
// which ends an earlier failure is not reported. Conditions, which the objects keep, still show it.
#ifndef KUBE_RUNTIME_FAILING_SET_H_
#define KUBE_RUNTIME_FAILING_SET_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace kube {

// Thread-safe.
class FailingSet {
 public:
  // Records whether `what` succeeded; returns true if it has succeeded now and failed the last
  // time.
  bool Recovered(absl::string_view what, bool ok) {
    absl::MutexLock lock(&mu_);
    if (ok) return failing_.erase(what) > 0;
    failing_.emplace(what);
    return false;
  }
  // Call it when `what` does not exist any more.
  void Forget(absl::string_view what) {
    absl::MutexLock lock(&mu_);
    failing_.erase(what);
  }
  // As Forget, for everything whose name begins with `prefix`.
  void ForgetAll(absl::string_view prefix) {
    absl::MutexLock lock(&mu_);
    auto it = failing_.lower_bound(prefix);
    while (it != failing_.end() && absl::StartsWith(*it, prefix)) it = failing_.erase(it);
  }

 private:
  absl::Mutex mu_;
  absl::btree_set<std::string> failing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_RUNTIME_FAILING_SET_H_
