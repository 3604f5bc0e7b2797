// Limits how often the end of an outage is reported that the Ready condition never showed: a member
// that answers every other probe would use up the events that its Cluster may have.
#ifndef CONTROLLERS_CLUSTER_STATUS_BRIEF_OUTAGES_H_
#define CONTROLLERS_CLUSTER_STATUS_BRIEF_OUTAGES_H_

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace controllers {

// Thread-safe.
class BriefOutages {
 public:
  static constexpr absl::Duration kPause = absl::Minutes(10);

  // Records a failed probe.
  void Began(const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    by_cluster_[cluster].lasts = true;
  }
  // Records a success. Returns whether it may be reported: false while the last end of an outage
  // that was reported is less than kPause ago.
  bool EndIsNews(const std::string& cluster, base::SteadyTime now) {
    absl::MutexLock lock(&mu_);
    Outage& outage = by_cluster_[cluster];
    if (!std::exchange(outage.lasts, false)) return true;
    if (now - outage.reported < kPause) return false;
    outage.reported = now;
    return true;
  }
  void Forget(const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    by_cluster_.erase(cluster);
  }

 private:
  struct Outage {
    bool lasts = false;
    base::SteadyTime reported = base::SteadyTime::InfinitePast();
  };
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Outage> by_cluster_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_BRIEF_OUTAGES_H_
