// Counts conflicts in a row, to report those that trying again does not end.
//
// A write that meets a conflict (kAborted) is tried again silently, since the next pass has read
// what came in between. But a 409 may have other causes: an admission webhook may deny with it, and
// a cache may stay behind. After a few in a row a conflict counts as any other failure, and is
// reported as one. Its message is the server's, without a count: it is written into conditions and
// events, and a text that changes with each try would cause a write each time.
//
// This is memory of one process; when it is lost, the counting starts again.
#ifndef KUBE_RUNTIME_CONFLICT_STREAK_H_
#define KUBE_RUNTIME_CONFLICT_STREAK_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace kube {

// Thread-safe.
class ConflictStreak {
 public:
  // This many conflicts in a row are silent. With the back-off of queues they take a sixth of a
  // second, in which the changes of other writers come and go.
  static constexpr int kSilent = 5;

  // Takes the `result` of a pass for `what` and returns it; only a conflict after kSilent conflicts
  // in a row is returned as kFailedPrecondition, with the same message.
  absl::Status Judge(absl::string_view what, const absl::Status& result) {
    absl::MutexLock lock(&mu_);
    if (!IsConflict(result)) {
      if (!absl::IsCancelled(result)) conflicts_.erase(what);
      return result;
    }
    const int conflicts = ++conflicts_[what];
    if (conflicts <= kSilent) return result;
    if (base::VlogOn(1)) {
      base::LogInfo("conflicts do not end by trying again",
                    {{"what", what}, {"in a row", conflicts}, {"last", result.message()}});
    }
    return absl::FailedPreconditionError(result.message());
  }
  // Call it when `what` does not exist any more.
  void Forget(absl::string_view what) {
    absl::MutexLock lock(&mu_);
    conflicts_.erase(what);
  }
  // As Forget, for everything whose name begins with `prefix`.
  void ForgetAll(absl::string_view prefix) {
    absl::MutexLock lock(&mu_);
    absl::erase_if(conflicts_,
                   [&](const auto& entry) { return absl::StartsWith(entry.first, prefix); });
  }

 private:
  absl::Mutex mu_;
  // By name, conflicts in a row.
  absl::flat_hash_map<std::string, int> conflicts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_RUNTIME_CONFLICT_STREAK_H_
