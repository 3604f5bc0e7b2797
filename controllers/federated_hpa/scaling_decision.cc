// In upstream's order: bounds that contradict each other are refused; a target outside its bounds
// is moved to the nearer one without a look at metrics; otherwise the selector is checked, the
// metrics are evaluated (controllers/autoscaling), and the result is normalized by behaviour and
// history. Each failure sets the condition and event that upstream has for it on the pass, and the
// caller writes the status even then. The only state is ScalingMemory: selectors, by which
// autoscalers of the same pods are found, and the history for stabilization; both are filled again
// after a restart by the passes.

#include "controllers/federated_hpa/scaling_decision.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "api/condition.h"
#include "api/resources.h"
#include "api/scaling_reasons.h"
#include "base/status.h"
#include "controllers/autoscaling/metric_evaluation.h"
#include "controllers/autoscaling/normalization.h"

namespace controllers {
namespace {

namespace scaling = api::scaling;
namespace message = api::scaling::message;

bool ScalesSame(const kube::Object& a, const kube::Object& b) {
  const json::Value& one = a.spec()["scaleTargetRef"];
  const json::Value& other = b.spec()["scaleTargetRef"];
  return one["kind"] == other["kind"] && one["name"] == other["name"];
}

// How CheckSelector reports that the metrics cannot be asked for.
struct SelectorProblem {
  const char* reason;     // Of the condition ScalingActive.
  std::string condition;  // Its message.
  const char* event;      // The reason of the event.
  std::string message;    // Its message.
};

absl::Status Report(ScalingPass& pass, const SelectorProblem& problem) {
  pass.Warn(problem.event, problem.message);
  pass.Set(
      api::ConditionOf(api::kScalingActive, false, problem.reason, std::string(problem.condition)));
  return pass.FailToCompute(problem.message);
}

}  // namespace

absl::StatusOr<ScalingDecision> ScalingDecider::Decide(ScalingPass& pass, const MemberScaleSum& sum,
                                                       const base::StopToken& stop) {
  const int64_t min = pass.view().MinReplicas();
  const int64_t max = pass.view().MaxReplicas();
  const int64_t current = pass.current();
  if (min > max) {
    // Upstream, where its webhook does not refuse this, scales to either of them in turn.
    return pass.Fail(
        {scaling::kFailedRescale, scaling::kFailedUpdateScale, message::kUnableToUpdateScale},
        absl::InvalidArgumentError(absl::StrCat("spec.minReplicas (", min,
                                                ") is greater than spec.maxReplicas (", max, ")")));
  }
  if (current > max) {
    return ScalingDecision{max, "Current number of replicas above Spec.MaxReplicas", {}};
  }
  if (current < min) {
    return ScalingDecision{min, "Current number of replicas below Spec.MinReplicas", {}};
  }
  return DecideByMetrics(pass, sum, stop);
}

autoscaling::TargetState ScalingDecider::StateOf(const ScalingPass& pass,
                                                 const MemberScaleSum& sum) const {
  autoscaling::TargetState state;
  state.replicas = pass.current();
  state.status_replicas = sum.status_replicas;
  if (state.replicas > 0) {
    // A template that is duplicated has its replicas in each cluster.
    state.calibration = static_cast<double>(sum.replicas) / static_cast<double>(state.replicas);
  }
  state.pods = sum.pods;
  state.tolerance = {flags_.tolerance, flags_.tolerance};
  if (const auto behavior = pass.view().Behavior(); behavior.has_value()) {
    state.tolerance = {behavior->up.tolerance.value_or(flags_.tolerance),
                       behavior->down.tolerance.value_or(flags_.tolerance)};
  }
  state.cpu_period = flags_.cpu_initialization_period;
  state.readiness_delay = flags_.initial_readiness_delay;
  state.now = pass.now;
  return state;
}

absl::StatusOr<ScalingDecision> ScalingDecider::DecideByMetrics(ScalingPass& pass,
                                                                const MemberScaleSum& sum,
                                                                const base::StopToken& stop) {
  RETURN_IF_ERROR(CheckSelector(pass, sum));
  autoscaling::Evaluation evaluation =
      autoscaling::Evaluate(pass.view().Metrics(), StateOf(pass, sum),
                            {pass.target.key.ns, sum.selector}, *metrics_, stop);
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  for (const autoscaling::MetricFailure& failure : evaluation.failures) {
    pass.Warn(failure.reason, failure.message);
  }
  pass.Set(evaluation.active);
  if (!evaluation.replicas.has_value()) return pass.FailToCompute(evaluation.error);

  autoscaling::NormalizationRequest request;
  request.current = pass.current();
  request.desired = *evaluation.replicas;
  request.min = pass.view().MinReplicas();
  request.max = pass.view().MaxReplicas();
  request.behavior = pass.view().Behavior();
  request.down_window = flags_.downscale_stabilization;
  request.now = manager_.clock().SteadyNow();
  const autoscaling::Normalized normalized = autoscaling::Normalize(request, pass.memory->history);
  pass.Set(normalized.able);
  pass.Set(normalized.limited);
  return ScalingDecision{normalized.replicas,
                         request.desired > request.current
                             ? absl::StrCat(evaluation.metric, " above target")
                             : "All metrics below target",
                         std::move(evaluation.statuses)};
}

absl::Status ScalingDecider::CheckSelector(ScalingPass& pass, const MemberScaleSum& sum) {
  if (!sum.selector_error.empty()) {
    const std::string text =
        absl::StrCat("couldn't convert selector into a corresponding internal selector object: ",
                     sum.selector_error);
    return Report(pass, {scaling::kInvalidSelector, text, scaling::kInvalidSelector, text});
  }
  if (sum.selector.empty()) {
    return Report(pass, {scaling::kInvalidSelector, message::kSelectorMissing,
                         scaling::kSelectorRequired, message::kSelectorRequired});
  }
  const std::vector<kube::ObjectKey> controlling = Controlling(*pass.hpa, sum);
  if (controlling.size() <= 1) return absl::OkStatus();
  const auto name = [](std::string* out, const kube::ObjectKey& key) {
    absl::StrAppend(out, key.ToString());
  };
  const std::string text =
      absl::Substitute("pods by selector $0 are controlled by multiple HPAs: [$1]", sum.selector,
                       absl::StrJoin(controlling, " ", name));
  return Report(pass, {scaling::kAmbiguousSelector, text, scaling::kAmbiguousSelector, text});
}

std::vector<kube::ObjectKey> ScalingDecider::Controlling(const kube::Object& hpa,
                                                         const MemberScaleSum& sum) {
  const std::string ns(hpa.ns());
  if (const auto parsed = kube::LabelSelector::Parse(sum.selector); parsed.ok()) {
    memory_.SetSelector(hpa.key(), *parsed);
  }
  std::vector<kube::ObjectKey> keys = memory_.Selecting(ns, sum.pods);
  // Those with the same target are known before they have had a pass.
  for (const kube::ObjectPtr& other : manager_.cluster().List(api::FederatedHpas(), ns)) {
    if (!other->IsDeleting() && ScalesSame(hpa, *other)) keys.push_back(other->key());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace controllers
