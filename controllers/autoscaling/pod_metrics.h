// Pods of a scale target, samples of their metrics, and which sample belongs to which pod.
#ifndef CONTROLLERS_AUTOSCALING_POD_METRICS_H_
#define CONTROLLERS_AUTOSCALING_POD_METRICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kube/meta/object.h"

namespace autoscaling {

// A pod in a cluster, as far as PodFields() says.
struct Pod {
  std::string cluster;
  kube::ObjectPtr object;
};

// Returns the fields of a pod that this folder reads, in the form of kube::ListOptions::fields.
std::vector<std::string> PodFields();

// What a metric was for one pod.
struct Measurement {
  int64_t milli = 0;  // In thousandths.
  // When it was taken; absl::InfiniteFuture() if the source does not say that.
  absl::Time at = absl::InfiniteFuture();
  absl::Duration window;  // Over which time it is an average.
};

// A measurement as a metrics API gives it.
struct Sample {
  std::string pod;
  std::string cluster;  // "" if the source does not say where the pod is.
  Measurement value;
};

struct Samples {
  std::vector<Sample> items;
  // The source adds up the values of pods that have the same name in several clusters, as
  // karmada-metrics-adapter does for custom metrics.
  bool adds_up_equal_names = false;
};

// Returns the sum, or the largest number if it is larger than that: what servers and pods say is
// not to be trusted. REQUIRES: neither is negative.
int64_t SaturatedSum(int64_t a, int64_t b);

// A sample that is older than this counts as missing: nothing is scaled by it.
inline constexpr absl::Duration kStale = absl::Minutes(10);

// Returns the measurement of each pod, in the order of `pods`. Samples of pods that are not there
// are left out, and so are those that are older than kStale at `now`. Pods of the same name: a
// sample that names a cluster is for the pod there; others are for the pods of that name in their
// order, each for one. If the source adds up equal names and there are fewer samples than pods,
// each of the pods gets an equal part of the sum.
std::vector<std::optional<Measurement>> MatchSamples(absl::Span<const Pod> pods,
                                                     const Samples& samples, absl::Time now);

// The pods by what they count for, by their positions (upstream's groupPods).
struct PodGroups {
  std::vector<size_t> ready;    // They are running and have a measurement that counts.
  std::vector<size_t> unready;  // Not running yet, or their CPU use is that of their start.
  std::vector<size_t> missing;  // Without a measurement.
};
struct Initialization {
  bool is_cpu = false;             // Only the CPU use of starting pods is distrusted.
  absl::Duration cpu_period;       // --horizontal-pod-autoscaler-cpu-initialization-period
  absl::Duration readiness_delay;  // --horizontal-pod-autoscaler-initial-readiness-delay
  absl::Time now;
};
// Pods that are being deleted, or have failed, are in no group.
PodGroups GroupPods(absl::Span<const Pod> pods,
                    absl::Span<const std::optional<Measurement>> measured,
                    const Initialization& init);

// Returns what each pod requests of the resource, in thousandths: all its containers, or the one of
// that name. An error names a container that requests nothing (upstream's calculatePodRequests).
absl::StatusOr<std::vector<int64_t>> PodRequests(absl::Span<const Pod> pods,
                                                 absl::string_view container,
                                                 absl::string_view resource);

// Returns how many pods run and are ready.
int64_t CountReady(absl::Span<const Pod> pods);

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_POD_METRICS_H_
