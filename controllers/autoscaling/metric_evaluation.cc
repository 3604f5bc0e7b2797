// Each type of metric has a function that gets its values from the source and has the number
// computed. Its errors are nested as upstream nests them: what failed, in which metric, in how many
// of them; events and conditions show different parts.

#include "controllers/autoscaling/metric_evaluation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "api/condition.h"
#include "api/scaling_reasons.h"
#include "base/status.h"

namespace autoscaling {
namespace {

using api::MetricSpec;
using api::MetricTarget;
namespace scaling = api::scaling;

struct Inputs {
  const TargetState& state;
  const PodSelection& pods;
  MetricsSource& source;
  const base::StopToken& stop;
};

// What one metric asks for, and how it is called.
struct Result {
  Proposal proposal;
  std::string name;
};

absl::Status WithContext(const absl::Status& status, const std::string& context) {
  return base::Annotate(status, context);
}

absl::Status InvalidSource(absl::string_view kind, absl::string_view targets) {
  return absl::InvalidArgumentError(
      absl::StrCat("invalid ", kind, " metric source: neither ", targets, " was set"));
}

// A target that nothing can be divided by. (karmada-webhook refuses it.)
absl::Status CheckPositive(int64_t target) {
  if (target > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the target of the metric has to be positive");
}

absl::StatusOr<Result> EvaluateResource(const Inputs& in, const MetricSpec& spec) {
  const MetricTarget& target = spec.target;
  const bool is_average = target.average_value.has_value();
  if (!is_average && !target.average_utilization.has_value()) {
    return InvalidSource("resource", "an average utilization target nor an average value target");
  }
  const int64_t aim = is_average ? target.average_value->MilliValue() : *target.average_utilization;
  const auto compute = [&]() -> absl::StatusOr<Proposal> {
    RETURN_IF_ERROR(CheckPositive(aim));
    auto samples = in.source.Resource(in.pods, spec, in.stop);
    RETURN_IF_ERROR(WithContext(
        samples.status(), absl::StrCat("unable to get metrics for resource ", spec.resource)));
    const ResourceUse use = {spec.resource, spec.container, *samples};
    return is_average ? ReplicasForAverage(in.state, use, aim)
                      : ReplicasForUtilization(in.state, use, aim);
  };
  absl::StatusOr<Proposal> proposal = compute();
  RETURN_IF_ERROR(WithContext(proposal.status(),
                              absl::StrCat("failed to get ", spec.resource, " utilization")));
  if (is_average) return Result{*proposal, absl::StrCat(spec.resource, " resource")};
  return Result{*proposal, absl::StrCat(spec.resource, spec.container.empty() ? "" : " container",
                                        " resource utilization (percentage of request)")};
}

absl::StatusOr<Result> EvaluatePods(const Inputs& in, const MetricSpec& spec) {
  if (!spec.target.average_value.has_value()) {
    return InvalidSource("pods", "an average value target");
  }
  const int64_t aim = spec.target.average_value->MilliValue();
  RETURN_IF_ERROR(CheckPositive(aim));
  const auto samples = in.source.Pods(in.pods, spec, in.stop);
  RETURN_IF_ERROR(
      WithContext(samples.status(), absl::StrCat("unable to get metric ", spec.metric)));
  ASSIGN_OR_RETURN(Proposal proposal, ReplicasForAverage(in.state, {"", "", *samples}, aim));
  return Result{std::move(proposal), absl::StrCat("pods metric ", spec.metric)};
}

std::string RequirementText(const json::Value& requirement) {
  std::vector<absl::string_view> values;
  for (const json::Value& value : requirement["values"].items()) values.push_back(value.AsString());
  return absl::Substitute("LabelSelectorRequirement{Key:$0,Operator:$1,Values:[$2],},",
                          requirement["key"].AsString(), requirement["operator"].AsString(),
                          absl::StrJoin(values, " "));
}

// Returns the selector as Go's %+v writes it, for messages.
std::string SelectorText(const json::Value& selector) {
  if (selector.is_null()) return "nil";
  std::string labels, requirements;
  for (const json::Member& label : selector["matchLabels"].members()) {
    absl::StrAppend(&labels, label.name(), ": ", label.value.AsString(), ",");
  }
  for (const json::Value& requirement : selector["matchExpressions"].items()) {
    absl::StrAppend(&requirements, RequirementText(requirement));
  }
  return absl::Substitute(
      "&LabelSelector{MatchLabels:map[string]string{$0},"
      "MatchExpressions:[]LabelSelectorRequirement{$1},}",
      labels, requirements);
}

// Upstream calls the metric of an object external, too, if the aim is an average.
std::string ExternalName(const MetricSpec& spec) {
  return absl::StrCat("external metric ", spec.metric, "(", SelectorText(spec.metric_selector),
                      ")");
}

absl::StatusOr<int64_t> ObjectValue(const Inputs& in, const MetricSpec& spec) {
  const absl::StatusOr<int64_t> value = in.source.Object(in.pods.ns, spec, in.stop);
  if (value.ok()) return value;
  // The error stands where the object's name should, as with upstream.
  return absl::Status(
      value.status().code(),
      absl::Substitute("unable to get metric $0: $1 on $2 $3/$4", spec.metric,
                       spec.described_object["kind"].AsString(), in.pods.ns,
                       spec.described_object["name"].AsString(), value.status().message()));
}

absl::StatusOr<Result> EvaluateObject(const Inputs& in, const MetricSpec& spec) {
  const MetricTarget& target = spec.target;
  if (target.type == api::kTargetsValue && target.value.has_value()) {
    RETURN_IF_ERROR(CheckPositive(target.value->MilliValue()));
    ASSIGN_OR_RETURN(const int64_t milli, ObjectValue(in, spec));
    ASSIGN_OR_RETURN(Proposal proposal,
                     ReplicasForValue(in.state, {milli, target.value->MilliValue()}));
    return Result{std::move(proposal),
                  absl::StrCat(spec.described_object["kind"].AsString(), " metric ", spec.metric)};
  }
  if (target.type == api::kTargetsAverageValue && target.average_value.has_value()) {
    RETURN_IF_ERROR(CheckPositive(target.average_value->MilliValue()));
    const absl::StatusOr<int64_t> milli = ObjectValue(in, spec);
    RETURN_IF_ERROR(
        WithContext(milli.status(), absl::StrCat("failed to get ", spec.metric, " object metric")));
    return Result{ReplicasForValuePerPod(in.state, {*milli, target.average_value->MilliValue()}),
                  ExternalName(spec)};
  }
  return InvalidSource("object", "a value target nor an average value target");
}

absl::StatusOr<Result> EvaluateExternal(const Inputs& in, const MetricSpec& spec) {
  const MetricTarget& target = spec.target;
  const bool is_average = target.average_value.has_value();
  if (!is_average && !target.value.has_value()) {
    return InvalidSource("external", "a value target nor an average value target");
  }
  const int64_t aim = is_average ? target.average_value->MilliValue() : target.value->MilliValue();
  RETURN_IF_ERROR(CheckPositive(aim));
  const auto compute = [&]() -> absl::StatusOr<Proposal> {
    const absl::StatusOr<int64_t> milli = in.source.External(in.pods.ns, spec, in.stop);
    RETURN_IF_ERROR(WithContext(
        milli.status(), absl::Substitute("unable to get external metric $0/$1/$2", in.pods.ns,
                                         spec.metric, SelectorText(spec.metric_selector))));
    if (is_average) return ReplicasForValuePerPod(in.state, {*milli, aim});
    return ReplicasForValue(in.state, {*milli, aim});
  };
  absl::StatusOr<Proposal> proposal = compute();
  RETURN_IF_ERROR(WithContext(proposal.status(),
                              absl::StrCat("failed to get ", spec.metric, " external metric")));
  return Result{*std::move(proposal), ExternalName(spec)};
}

struct MetricType {
  const char* name;
  const char* failure;  // The reason.
  absl::StatusOr<Result> (*evaluate)(const Inputs& in, const MetricSpec& spec);
};

constexpr MetricType kTypes[] = {
    {api::kResourceMetric, scaling::kFailedGetResourceMetric, EvaluateResource},
    {api::kContainerResourceMetric, scaling::kFailedGetContainerResourceMetric, EvaluateResource},
    {api::kPodsMetric, scaling::kFailedGetPodsMetric, EvaluatePods},
    {api::kObjectMetric, scaling::kFailedGetObjectMetric, EvaluateObject},
    {api::kExternalMetric, scaling::kFailedGetExternalMetric, EvaluateExternal},
};

// What precedes the error of a metric in that of all of them.
std::string ContextOf(const MetricSpec& spec) {
  if (spec.type == api::kResourceMetric) {
    return absl::StrCat("failed to get ", spec.resource, " resource metric value: ");
  }
  if (spec.type == api::kContainerResourceMetric) {
    return absl::StrCat("failed to get ", spec.container, " container metric value: ");
  }
  if (spec.type == api::kPodsMetric) return "failed to get pods metric value: ";
  if (spec.type == api::kObjectMetric) return "failed to get object metric value: ";
  return absl::StrCat("failed to get ", spec.metric, " external metric value: ");
}

struct Failed {
  MetricFailure event;
  std::string error;  // With its context.
};

Failed UnknownType(const MetricSpec& spec) {
  const std::string error = absl::StrCat("unknown metric source type \"", spec.type, "\"");
  return {{scaling::kInvalidMetricSourceType, error}, error};
}

// Adds the result of one metric; returns its error if it has none.
std::optional<Failed> Add(const Inputs& in, const MetricSpec& spec, Evaluation& out) {
  for (const MetricType& type : kTypes) {
    if (type.name != spec.type) continue;
    const absl::StatusOr<Result> result = type.evaluate(in, spec);
    if (!result.ok()) {
      const std::string message(result.status().message());
      return Failed{{std::string(type.failure), message}, ContextOf(spec) + message};
    }
    const Proposal& proposal = result->proposal;
    out.statuses.push_back(
        {spec, proposal.average_utilization, proposal.average_milli, proposal.value_milli});
    // The metric that asks for most decides.
    if (!out.replicas.has_value() || proposal.replicas > *out.replicas) {
      out.replicas = proposal.replicas;
      out.metric = result->name;
    }
    return std::nullopt;
  }
  return UnknownType(spec);
}

Evaluation TooMany(size_t metrics) {
  Evaluation out;
  out.error = absl::StrCat("spec.metrics has ", metrics, " metrics, and at most ", kMostMetrics,
                           " are evaluated");
  out.failures.push_back({scaling::kInvalidMetricSourceType, out.error});
  out.active = api::ConditionOf(api::kScalingActive, false, scaling::kInvalidMetricSourceType,
                                absl::StrCat(scaling::message::kUnableToCompute, out.error));
  return out;
}

}  // namespace

Evaluation Evaluate(const std::vector<MetricSpec>& metrics, const TargetState& state,
                    const PodSelection& pods, MetricsSource& source, const base::StopToken& stop) {
  const Inputs in = {state, pods, source, stop};
  Evaluation out;
  if (metrics.size() > kMostMetrics) return TooMany(metrics.size());
  for (const MetricSpec& spec : metrics) {
    const std::optional<Failed> failed = Add(in, spec, out);
    if (!failed.has_value()) continue;
    out.failures.push_back(failed->event);
    if (out.error.empty()) out.error = failed->error;
  }
  if (!out.error.empty()) {
    out.error = absl::Substitute("invalid metrics ($0 invalid out of $1), first error is: $2",
                                 out.failures.size(), metrics.size(), out.error);
  }
  // A metric that could not be read might have asked for more: with it missing, nothing is scaled
  // down.
  if (!out.failures.empty() && out.replicas.value_or(0) < state.replicas) out.replicas.reset();
  if (!out.replicas.has_value()) {
    const MetricFailure& first = out.failures.front();
    out.active = api::ConditionOf(api::kScalingActive, false, first.reason,
                                  absl::StrCat(scaling::message::kUnableToCompute, first.message));
    return out;
  }
  out.active = api::ConditionOf(
      api::kScalingActive, true, scaling::kValidMetricFound,
      absl::StrCat("the HPA was able to successfully calculate a replica count from ", out.metric));
  return out;
}

}  // namespace autoscaling
