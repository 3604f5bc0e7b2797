// What failed the last time, so that success is told as an event when it ends a failure and not at
// every pass.
#ifndef KUBE_RUNTIME_FAILING_SET_H_
#define KUBE_RUNTIME_FAILING_SET_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace kube {

// Thread-safe.
class FailingSet {
 public:
  // Notes how `what` went; true if it goes well now and did not the last time.
  bool Recovered(absl::string_view what, bool ok) {
    absl::MutexLock lock(&mu_);
    if (ok) return failing_.erase(what) > 0;
    failing_.emplace(what);
    return false;
  }
  // Of something that is gone.
  void Forget(absl::string_view what) {
    absl::MutexLock lock(&mu_);
    failing_.erase(what);
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<std::string> failing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_RUNTIME_FAILING_SET_H_
