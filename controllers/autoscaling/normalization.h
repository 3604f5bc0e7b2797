// What becomes of the number of replicas that the metrics ask for: stabilisation windows, rates and
// bounds hold it back (upstream's normalizeDesiredReplicas and
// normalizeDesiredReplicasWithBehaviors, which are those of Kubernetes' autoscaler).
//
//   History& history = memory[key];
//   history.Begin(current, now);
//   const Normalized result = Normalize(request, history);
//   if (result.replicas != current && Scale(result.replicas).ok()) history.Scaled(...);
#ifndef CONTROLLERS_AUTOSCALING_NORMALIZATION_H_
#define CONTROLLERS_AUTOSCALING_NORMALIZATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/federated_hpa.h"
#include "base/clock.h"
#include "kube/meta/object.h"

namespace autoscaling {

// What has been asked for and done lately. It is memory of one process. When it is lost, Begin
// makes the present number the first recommendation, so that nothing is scaled down before a window
// has passed; and rates begin again, as if nothing had been scaled in the running period.
class History {
 public:
  struct Recommendation {
    int64_t replicas = 0;
    base::SteadyTime at;
  };
  struct Change {
    int64_t by = 0;  // Positive for more replicas.
    base::SteadyTime at;
  };

  // Records the present number if nothing has been recorded yet.
  void Begin(int64_t current, base::SteadyTime now);
  // Records a recommendation, and forgets those before `since`.
  void Recommend(int64_t replicas, base::SteadyTime now, base::SteadyTime since);
  // Records a change, and forgets those that no policy asks about any more. Without a behavior
  // nothing is recorded.
  void Scaled(int64_t from, int64_t to, const std::optional<api::ScalingBehavior>& behavior,
              base::SteadyTime now);

  const std::vector<Recommendation>& recommendations() const { return recommendations_; }
  // Returns the sum of the changes since then; that moment itself does not count.
  int64_t ChangeSince(base::SteadyTime since) const;

 private:
  std::vector<Recommendation> recommendations_;
  std::vector<Change> changes_;
};

struct NormalizationRequest {
  int64_t current = 0;
  int64_t desired = 0;  // What the metrics ask for.
  int64_t min = 0;
  int64_t max = 0;
  std::optional<api::ScalingBehavior> behavior;
  absl::Duration down_window;  // --horizontal-pod-autoscaler-downscale-stabilization
  base::SteadyTime now;
};

struct Normalized {
  int64_t replicas = 0;
  kube::Condition able;     // AbleToScale.
  kube::Condition limited;  // ScalingLimited.
};

// Records the desired number in the history.
Normalized Normalize(const NormalizationRequest& request, History& history);

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_NORMALIZATION_H_
