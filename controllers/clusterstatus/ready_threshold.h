// Damps a member's Ready condition: a flip counts only when it has lasted (upstream's
// clusterConditionStore).
#ifndef CONTROLLERS_CLUSTERSTATUS_READY_THRESHOLD_H_
#define CONTROLLERS_CLUSTERSTATUS_READY_THRESHOLD_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/object.h"

namespace controllers {

// Thread-safe.
class ReadyThreshold {
 public:
  ReadyThreshold(absl::Duration success, absl::Duration failure)
      : success_(success), failure_(failure) {}

  // Returns the condition to report: `observed`, or `current` (the stored one, null when there is
  // none) while a flip between True and not-True is younger than its threshold. The first
  // observation of a cluster is reported as it is.
  kube::Condition Adjust(const std::string& cluster, const kube::Condition& observed,
                         const json::Value* current, base::SteadyTime now);
  void Forget(const std::string& cluster);

 private:
  struct Seen {
    std::string status;
    base::SteadyTime since;
  };
  const absl::Duration success_, failure_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Seen> seen_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTERSTATUS_READY_THRESHOLD_H_
