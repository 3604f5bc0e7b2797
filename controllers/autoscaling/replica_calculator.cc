// Metrics of pods go through these steps. Pods that start, or have no measurement, are set aside,
// and the ratio of the others decides the direction. If pods were set aside, the ratio is computed
// again with the assumption about them that makes the change smallest: on the way down a missing
// pod uses what it requests (or the aim), on the way up a missing or starting one uses nothing. If
// that turns the direction round, or leaves too little of the change, there is none.

#include "controllers/autoscaling/replica_calculator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace autoscaling {
namespace {

constexpr int64_t kWhole = 100;  // Percent.
constexpr char kNoPods[] = "no pods returned by selector while calculating replica count";
constexpr char kNoMetrics[] = "did not receive metrics for any ready pods";

// Returns the number rounded up, within the range of the API's fields.
int64_t RoundUp(double replicas) {
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  if (!(replicas > 0)) return 0;  // Also if it is not a number.
  return static_cast<int64_t>(std::min(std::ceil(replicas), kMost));
}

// What pods use, and what they may use, by their positions. An absent use does not count.
struct Uses {
  std::vector<std::optional<int64_t>> used;
  std::vector<int64_t> requested;  // Empty if the aim is an average.
  int64_t target = 0;
};

struct Ratio {
  double value = 0;
  int64_t utilization = 0;
  int64_t average = 0;
  int64_t count = 0;  // How many pods count.
};

// The aims are whole numbers, and so are the averages (as with upstream).
absl::StatusOr<Ratio> RatioOf(const Uses& uses) {
  // Sums of numbers that members report, which may be any of 64 bits.
  absl::int128 used = 0, requested = 0;
  Ratio ratio;
  for (size_t i = 0; i < uses.used.size(); ++i) {
    if (!uses.used[i].has_value()) continue;
    used += *uses.used[i];
    if (!uses.requested.empty()) requested += uses.requested[i];
    ++ratio.count;
  }
  ratio.average = static_cast<int64_t>(used / ratio.count);
  if (uses.requested.empty()) {
    ratio.value = static_cast<double>(ratio.average) / static_cast<double>(uses.target);
    return ratio;
  }
  if (requested == 0) {
    return absl::FailedPreconditionError("no metrics returned matched known pods");
  }
  ratio.utilization = static_cast<int64_t>(used * kWhole / requested);
  ratio.value = static_cast<double>(ratio.utilization) / static_cast<double>(uses.target);
  return ratio;
}

// Assumes what pods use of which nothing is known, so that the change becomes smaller.
void Assume(const PodGroups& groups, double ratio, Uses& uses) {
  for (const size_t pod : groups.missing) {
    if (ratio > 1) uses.used[pod] = 0;
    if (ratio >= 1) continue;
    if (uses.requested.empty()) {
      uses.used[pod] = uses.target;
      continue;
    }
    const absl::int128 use =
        absl::int128(uses.requested[pod]) * std::max(kWhole, uses.target) / kWhole;
    uses.used[pod] =
        static_cast<int64_t>(std::min(use, absl::int128(std::numeric_limits<int64_t>::max())));
  }
  if (ratio <= 1) return;
  for (const size_t pod : groups.unready) uses.used[pod] = 0;
}

absl::StatusOr<int64_t> Replicas(const TargetState& state, const PodGroups& groups,
                                 const Ratio& first, Uses uses) {
  const bool ups_unready = !groups.unready.empty() && first.value > 1;
  if (!ups_unready && groups.missing.empty()) {
    if (state.tolerance.Covers(first.value)) return state.replicas;
    return RoundUp(first.value * static_cast<double>(groups.ready.size()) / state.calibration);
  }
  Assume(groups, first.value, uses);
  const absl::StatusOr<Ratio> second = RatioOf(uses);
  if (!second.ok()) return second.status();
  const bool turns =
      (first.value < 1 && second->value > 1) || (first.value > 1 && second->value < 1);
  if (state.tolerance.Covers(second->value) || turns) return state.replicas;
  const int64_t wanted =
      RoundUp(second->value * static_cast<double>(second->count) / state.calibration);
  // By the calibration or rounding the number may move against the ratio.
  const bool contradicts = second->value < 1 ? wanted > state.replicas : wanted < state.replicas;
  return contradicts ? state.replicas : wanted;
}

absl::StatusOr<Proposal> ReplicasForPods(const TargetState& state, const ResourceUse& use,
                                         bool utilization, int64_t target) {
  if (state.pods.empty()) return absl::FailedPreconditionError(kNoPods);
  const auto measured = MatchSamples(state.pods, use.samples, state.now);
  const PodGroups groups =
      GroupPods(state.pods, measured,
                {use.resource == "cpu", state.cpu_period, state.readiness_delay, state.now});
  Uses uses;
  uses.target = target;
  if (utilization) {
    auto requests = PodRequests(state.pods, use.container, use.resource);
    if (!requests.ok()) return requests.status();
    uses.requested = *std::move(requests);
  }
  if (groups.ready.empty()) return absl::FailedPreconditionError(kNoMetrics);
  uses.used.resize(state.pods.size());
  for (const size_t pod : groups.ready) uses.used[pod] = measured[pod]->milli;
  const absl::StatusOr<Ratio> ratio = RatioOf(uses);
  if (!ratio.ok()) return ratio.status();
  Proposal proposal;
  proposal.average_milli = ratio->average;
  if (utilization) proposal.average_utilization = ratio->utilization;
  const absl::StatusOr<int64_t> replicas = Replicas(state, groups, *ratio, std::move(uses));
  if (!replicas.ok()) return replicas.status();
  proposal.replicas = *replicas;
  return proposal;
}

}  // namespace

absl::StatusOr<Proposal> ReplicasForUtilization(const TargetState& state, const ResourceUse& use,
                                                int64_t target) {
  return ReplicasForPods(state, use, /*utilization=*/true, target);
}

absl::StatusOr<Proposal> ReplicasForAverage(const TargetState& state, const ResourceUse& use,
                                            int64_t target) {
  return ReplicasForPods(state, use, /*utilization=*/false, target);
}

absl::StatusOr<Proposal> ReplicasForValue(const TargetState& state, const Value& value) {
  const double ratio = static_cast<double>(value.milli) / static_cast<double>(value.target);
  Proposal proposal;
  proposal.value_milli = value.milli;
  if (state.replicas == 0) {
    // There are no pods to count: zero or n replicas, by the ratio alone.
    proposal.replicas = RoundUp(ratio);
    return proposal;
  }
  if (state.tolerance.Covers(ratio)) {
    proposal.replicas = state.replicas;
    return proposal;
  }
  if (state.pods.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("unable to calculate ready pods: ", kNoPods));
  }
  const double ready = static_cast<double>(CountReady(state.pods));
  proposal.replicas = RoundUp(ratio * ready / state.calibration);
  return proposal;
}

Proposal ReplicasForValuePerPod(const TargetState& state, const Value& value) {
  const double milli = static_cast<double>(value.milli);
  const double target = static_cast<double>(value.target);
  const double pods = static_cast<double>(state.status_replicas);
  double wanted = pods;
  // Without pods the ratio is infinite, or not a number.
  if (state.status_replicas == 0 || !state.tolerance.Covers(milli / (target * pods))) {
    wanted = milli / target;
  }
  Proposal proposal;
  proposal.replicas = RoundUp(wanted / state.calibration);
  proposal.average_milli =
      state.status_replicas == 0 ? value.milli : static_cast<int64_t>(std::ceil(milli / pods));
  return proposal;
}

}  // namespace autoscaling
