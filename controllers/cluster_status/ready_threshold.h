// Damps a member's Ready condition: a flip counts only when it has lasted (upstream's
// clusterConditionStore), and a text that goes back and forth is not written again and again.
#ifndef CONTROLLERS_CLUSTER_STATUS_READY_THRESHOLD_H_
#define CONTROLLERS_CLUSTER_STATUS_READY_THRESHOLD_H_

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
  // For so long another message of the same status and reason must have been observed until it is
  // reported: the cause of an outage may differ from probe to probe.
  static constexpr absl::Duration kMessageHold = absl::Minutes(1);

  ReadyThreshold(absl::Duration success, absl::Duration failure)
      : success_(success), failure_(failure) {}

  struct Observation {
    kube::Condition ready;
    // A text that differs whenever the member was reached in another way (ConfigurationOf).
    std::string configuration;
    // Why the member is not reachable, which the condition does not say.
    std::string cause = {};
  };
  // Returns the condition to report: the observed one, or `current` (the stored one, null when
  // there is none) while a flip between True and not-True is younger than its threshold. The first
  // observation of a cluster is reported as it is. A change of the configuration is a repair: what
  // was observed through the old connection has no meaning for the new one, so a success counts at
  // once, and so does another message. That holds until the stored condition shows the success,
  // however many writes of it fail, or until a failure has lasted for its threshold since the
  // repair. A first observation that is a success counts as a repair, too.
  kube::Condition Adjust(const std::string& cluster, const Observation& observed,
                         const json::Value* current, base::SteadyTime now);
  // Returns the cause for an event about the last observation: the observed one, or an earlier one
  // of the same outage until another one has been observed for kMessageHold. A repair ends that.
  std::string CauseToTell(const std::string& cluster);
  void Forget(const std::string& cluster);

 private:
  struct Seen {
    std::string configuration;
    bool repaired = false;  // True while the repair's success is not stored yet.
    base::SteadyTime repaired_at;
    std::string status;
    base::SteadyTime since;  // Since then the status has been the same.
    std::string message;
    base::SteadyTime message_since;  // Since then the message has been the same.
    std::string cause;
    base::SteadyTime cause_since;  // Since then the cause has been the same.
    std::string cause_told;
  };
  // Records the observation.
  void Note(Seen& seen, const Observation& observed, base::SteadyTime now) const;

  const absl::Duration success_, failure_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Seen> seen_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_READY_THRESHOLD_H_
