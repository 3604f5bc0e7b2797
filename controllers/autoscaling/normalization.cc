// Two steps: the desired number is stabilised, by what was asked for in the windows, and then
// limited, by rates and bounds. Without spec.behavior there is one window, for fewer replicas, and
// one rate, for more: twice the present number, or four. With it, each direction has a window, in
// which the number that changes least counts, and policies.

#include "controllers/autoscaling/normalization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/condition.h"
#include "api/scaling_reasons.h"

namespace autoscaling {
namespace {

using api::ScalingBehavior;
using api::ScalingPolicy;
using api::ScalingRules;
namespace scaling = api::scaling;
namespace message = api::scaling::message;
using base::SteadyTime;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
// Without a behavior: how far the number may rise at once.
constexpr int64_t kUpFactor = 2;
constexpr int64_t kUpMinimum = 4;

struct Stabilized {
  int64_t replicas = 0;
  absl::string_view reason, message;  // If that is not the desired number.
};

Stabilized StabilizeDown(const NormalizationRequest& request, History& history) {
  int64_t highest = request.desired;
  const SteadyTime since = request.now - request.down_window;
  for (const History::Recommendation& earlier : history.recommendations()) {
    if (earlier.at >= since) highest = std::max(highest, earlier.replicas);
  }
  history.Recommend(request.desired, request.now, since);
  return {highest, scaling::kScaleDownStabilized, message::kScaleDownStabilized};
}

Stabilized Stabilize(const NormalizationRequest& request, const ScalingBehavior& behavior,
                     History& history) {
  const SteadyTime up = request.now - behavior.up.stabilization_window.value_or(absl::Duration());
  const SteadyTime down =
      request.now - behavior.down.stabilization_window.value_or(request.down_window);
  int64_t lowest = request.desired;
  int64_t highest = request.desired;
  for (const History::Recommendation& earlier : history.recommendations()) {
    if (earlier.at > up) lowest = std::min(lowest, earlier.replicas);
    if (earlier.at > down) highest = std::max(highest, earlier.replicas);
  }
  history.Recommend(request.desired, request.now, std::min(up, down));
  // The present number, moved as little as the two windows demand.
  const int64_t replicas = std::min(std::max(request.current, lowest), highest);
  if (request.desired >= request.current)
    return {replicas, scaling::kScaleUpStabilized, message::kScaleUpStabilized};
  return {replicas, scaling::kScaleDownStabilized, message::kScaleDownStabilized};
}

// What one policy lets the number become. `start` is the number at the beginning of its period.
int64_t Allowed(const ScalingPolicy& policy, int64_t start, bool up) {
  const double change = static_cast<double>(policy.value) / 100;
  const double replicas = static_cast<double>(start);
  if (policy.type == api::kPodsPolicy) return up ? start + policy.value : start - policy.value;
  // Rounded up, so that a small number rises at all.
  const double limit =
      up ? std::ceil(replicas * (1 + change)) : std::trunc(replicas * (1 - change));
  return static_cast<int64_t>(std::clamp(limit, -1.0 * kMost, 1.0 * kMost));
}

// Returns how far the rules let the number go in their direction: at least not back.
int64_t RateLimit(const NormalizationRequest& request, const History& history,
                  const ScalingRules& rules, bool up) {
  if (rules.select_policy == api::kSelectDisabled) return request.current;
  std::optional<int64_t> limit;
  // The largest change is the highest number on the way up, and the lowest one on the way down.
  const bool highest = up == (rules.select_policy != api::kSelectMin);
  for (const ScalingPolicy& policy : rules.policies) {
    // The number at the beginning of the period: what this program has changed since is taken back.
    const int64_t start = request.current - history.ChangeSince(request.now - policy.period);
    const int64_t allowed = Allowed(policy, start, up);
    if (!limit.has_value()) limit = allowed;
    limit = highest ? std::max(*limit, allowed) : std::min(*limit, allowed);
  }
  if (!limit.has_value()) return request.current;
  return up ? std::max(*limit, request.current) : std::min(*limit, request.current);
}

struct Limited {
  int64_t replicas = 0;
  absl::string_view reason, message;
};

Limited Within(int64_t replicas) {
  return {replicas, scaling::kDesiredWithinRange, message::kDesiredWithinRange};
}

Limited AtMost(int64_t wanted, int64_t rate, int64_t max) {
  if (wanted <= std::min(rate, max)) return Within(wanted);
  if (rate < max) {
    return {rate, scaling::kScaleUpLimit, message::kScaleUpLimit};
  }
  return {max, scaling::kTooManyReplicas, message::kTooManyReplicas};
}

Limited AtLeast(int64_t wanted, int64_t rate, int64_t min) {
  if (wanted >= std::max(rate, min)) return Within(wanted);
  if (rate > min) {
    return {rate, scaling::kScaleDownLimit, message::kScaleDownLimit};
  }
  return {min, scaling::kTooFewReplicas, message::kTooFewReplicas};
}

Limited Limit(const NormalizationRequest& request, int64_t wanted, const History& history) {
  if (!request.behavior.has_value()) {
    if (wanted < request.min) return AtLeast(wanted, request.min, request.min);
    return AtMost(wanted, std::max(kUpFactor * request.current, kUpMinimum), request.max);
  }
  if (wanted > request.current) {
    return AtMost(wanted, RateLimit(request, history, request.behavior->up, true), request.max);
  }
  if (wanted < request.current) {
    return AtLeast(wanted, RateLimit(request, history, request.behavior->down, false), request.min);
  }
  return Within(wanted);
}

absl::Duration LongestPeriod(const ScalingBehavior& behavior) {
  absl::Duration longest;
  for (const ScalingRules* rules : {&behavior.up, &behavior.down}) {
    for (const ScalingPolicy& policy : rules->policies) longest = std::max(longest, policy.period);
  }
  return longest;
}

}  // namespace

void History::Begin(int64_t current, SteadyTime now) {
  // After a restart the present number stands for the recommendations that were lost.
  if (recommendations_.empty()) recommendations_.push_back({current, now});
}

void History::Recommend(int64_t replicas, SteadyTime now, SteadyTime since) {
  recommendations_.erase(
      std::remove_if(recommendations_.begin(), recommendations_.end(),
                     [&](const Recommendation& earlier) { return earlier.at < since; }),
      recommendations_.end());
  recommendations_.push_back({replicas, now});
}

void History::Scaled(int64_t from, int64_t to, const std::optional<ScalingBehavior>& behavior,
                     SteadyTime now) {
  if (!behavior.has_value()) return;
  const SteadyTime since = now - LongestPeriod(*behavior);
  changes_.erase(std::remove_if(changes_.begin(), changes_.end(),
                                [&](const Change& earlier) { return earlier.at < since; }),
                 changes_.end());
  changes_.push_back({to - from, now});
}

int64_t History::ChangeSince(SteadyTime since) const {
  int64_t sum = 0;
  for (const Change& change : changes_) {
    if (change.at > since) sum += change.by;
  }
  return sum;
}

Normalized Normalize(const NormalizationRequest& request, History& history) {
  const Stabilized stabilized = request.behavior.has_value()
                                    ? Stabilize(request, *request.behavior, history)
                                    : StabilizeDown(request, history);
  const bool is_held = stabilized.replicas != request.desired;
  const Limited limited = Limit(request, stabilized.replicas, history);
  Normalized result;
  result.replicas = limited.replicas;
  result.able = api::ConditionOf(
      api::kAbleToScale, true, is_held ? stabilized.reason : scaling::kReadyForNewScale,
      std::string(is_held ? stabilized.message : message::kReadyForNewScale));
  result.limited = api::ConditionOf(api::kScalingLimited, limited.replicas != stabilized.replicas,
                                    limited.reason, std::string(limited.message));
  return result;
}

}  // namespace autoscaling
