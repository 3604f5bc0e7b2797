// Reads the spec of a FederatedHPA and writes its status. The admission webhook of Karmada sets
// defaults; they are applied here again, because the webhook may be missing, or may have been
// absent when the object was written. Quantities are either texts ("100m") or whole numbers.
// Metrics are kept in thousandths (`_milli`), the unit in which Kubernetes' autoscaler computes and
// prints them.

#include "api/federated_hpa.h"

#include <utility>

#include "absl/status/statusor.h"
#include "api/known_fields.h"

namespace api {
namespace {

// The defaults of upstream's webhook.
constexpr int64_t kDefaultMinReplicas = 1;
constexpr int64_t kDefaultCpuUtilization = 80;
constexpr int64_t kDefaultPods = 4;
constexpr int64_t kDefaultPercent = 100;
constexpr absl::Duration kDefaultPeriod = absl::Seconds(15);

// What is not a quantity counts as absent: the CRD's schema lets clients write whatever is an
// integer or a text.
std::optional<kube::Quantity> QuantityOf(const json::Value& value) {
  if (value.is_int()) return kube::Quantity::FromInt(value.AsInt());
  if (!value.is_string()) return std::nullopt;
  const absl::StatusOr<kube::Quantity> parsed = kube::Quantity::Parse(value.AsString());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

// Returns the name of the field of a metric's type: "containerResource".
absl::string_view FieldOf(absl::string_view type) {
  if (type == kResourceMetric) return "resource";
  if (type == kContainerResourceMetric) return "containerResource";
  if (type == kPodsMetric) return "pods";
  if (type == kObjectMetric) return "object";
  if (type == kExternalMetric) return "external";
  return "";
}

// What upstream's webhook adds to an object without metrics.
MetricSpec DefaultMetric() {
  MetricSpec metric;
  metric.type = kResourceMetric;
  metric.resource = "cpu";
  metric.target.type = "Utilization";
  metric.target.average_utilization = kDefaultCpuUtilization;
  return metric;
}

std::vector<ScalingPolicy> PoliciesOf(const json::Value& list) {
  std::vector<ScalingPolicy> policies;
  for (const json::Value& item : list.items()) {
    policies.push_back({item["type"].ToString(), item["value"].AsInt(),
                        absl::Seconds(item["periodSeconds"].AsInt())});
  }
  return policies;
}

// `rules` has the defaults and is completed by what the object has.
ScalingRules RulesOf(const json::Value& json, ScalingRules rules) {
  const json::Value& window = json["stabilizationWindowSeconds"];
  if (window.is_number()) rules.stabilization_window = absl::Seconds(window.AsInt());
  if (json["selectPolicy"].is_string()) rules.select_policy = json["selectPolicy"].ToString();
  if (!json["policies"].empty()) rules.policies = PoliciesOf(json["policies"]);
  const std::optional<kube::Quantity> tolerance = QuantityOf(json["tolerance"]);
  if (tolerance.has_value()) rules.tolerance = tolerance->AsApproximateFloat();
  return rules;
}

// The field status.currentMetrics.
KnownField CurrentMetricsField() {
  const KnownField current = {"current", {{"averageUtilization"}, {"averageValue"}, {"value"}}};
  const KnownField metric = {"metric", {{"name"}, {"selector"}}};
  return {"currentMetrics",
          {{"type"},
           {"resource", {{"name"}, current}},
           {"containerResource", {{"name"}, {"container"}, current}},
           {"pods", {metric, current}},
           {"object", {metric, {"describedObject"}, current}},
           {"external", {metric, current}}},
          {"type", "resource.name", "containerResource.name", "containerResource.container",
           "pods.metric", "object.metric", "object.describedObject", "external.metric"}};
}

std::string MilliText(int64_t milli) { return kube::Quantity::FromMilli(milli).ToString(); }

}  // namespace

MetricTarget MetricTarget::FromJson(const json::Value& target) {
  MetricTarget out;
  out.type = target["type"].ToString();
  out.value = QuantityOf(target["value"]);
  out.average_value = QuantityOf(target["averageValue"]);
  const json::Value& utilization = target["averageUtilization"];
  if (utilization.is_number()) out.average_utilization = utilization.AsInt();
  return out;
}

MetricSpec MetricSpec::FromJson(const json::Value& item) {
  MetricSpec out;
  out.type = item["type"].ToString();
  const json::Value& source = item[FieldOf(out.type)];
  out.resource = source["name"].ToString();
  out.container = source["container"].ToString();
  // A type reads only the fields that it has; the others are empty.
  out.metric = source["metric"]["name"].ToString();
  out.metric_selector = source["metric"]["selector"];
  out.described_object = source["describedObject"];
  out.target = MetricTarget::FromJson(source["target"]);
  return out;
}

json::Value MetricStatus::ToJson() const {
  json::Value current = json::Value::Object();
  if (average_utilization.has_value()) current.Set("averageUtilization", *average_utilization);
  if (average_milli.has_value()) current.Set("averageValue", MilliText(*average_milli));
  if (value_milli.has_value()) current.Set("value", MilliText(*value_milli));
  json::Value source = json::Value::Object({{"current", std::move(current)}});
  if (!spec.resource.empty()) source.Set("name", spec.resource);
  if (!spec.container.empty()) source.Set("container", spec.container);
  if (!spec.metric.empty()) source.Set({"metric", "name"}, spec.metric);
  if (!spec.metric_selector.is_null()) source.Set({"metric", "selector"}, spec.metric_selector);
  if (!spec.described_object.is_null()) source.Set("describedObject", spec.described_object);
  return json::Value::Object({{"type", spec.type}, {FieldOf(spec.type), std::move(source)}});
}

int64_t FederatedHpaView::MinReplicas() const {
  return object_.spec()["minReplicas"].AsInt(kDefaultMinReplicas);
}

int64_t FederatedHpaView::MaxReplicas() const { return object_.spec()["maxReplicas"].AsInt(); }

std::vector<MetricSpec> FederatedHpaView::Metrics() const {
  std::vector<MetricSpec> metrics;
  for (const json::Value& item : object_.spec()["metrics"].items()) {
    metrics.push_back(MetricSpec::FromJson(item));
  }
  if (metrics.empty()) metrics.push_back(DefaultMetric());
  return metrics;
}

std::optional<ScalingBehavior> FederatedHpaView::Behavior() const {
  const json::Value& behavior = object_.spec()["behavior"];
  if (!behavior.is_object()) return std::nullopt;
  // Upwards the larger of "4 pods" and "double" is allowed in 15 seconds, downwards everything;
  // only the downward direction waits for stabilization (its default window depends on a flag, so
  // it is not set here).
  const ScalingPolicy percent = {kPercentPolicy, kDefaultPercent, kDefaultPeriod};
  ScalingRules up;
  up.stabilization_window = absl::ZeroDuration();
  up.select_policy = kSelectMax;
  up.policies = {{kPodsPolicy, kDefaultPods, kDefaultPeriod}, percent};
  ScalingRules down;
  down.select_policy = kSelectMax;
  down.policies = {percent};
  return ScalingBehavior{RulesOf(behavior["scaleUp"], std::move(up)),
                         RulesOf(behavior["scaleDown"], std::move(down))};
}

void SetScalingStatus(kube::Object& hpa, const ScalingStatus& status) {
  hpa.Set({"status", "currentReplicas"}, status.current_replicas);
  // A pass that failed early knows less: what it does not know stays as an earlier pass wrote it.
  if (status.desired_replicas.has_value()) {
    hpa.Set({"status", "desiredReplicas"}, *status.desired_replicas);
  }
  if (status.metrics.has_value()) {
    json::Value list = json::Value::Array();
    for (const MetricStatus& metric : *status.metrics) list.Append(metric.ToJson());
    // An empty list is not written where there is none: it would be a write without a change.
    const bool has_none = list.empty() && hpa.status()["currentMetrics"].empty();
    static const auto& field = *new KnownField(CurrentMetricsField());
    const json::Value held = hpa.status()["currentMetrics"];
    if (!has_none) {
      hpa.Set({"status", "currentMetrics"}, WithUnknown(std::move(list), held, field));
    }
  }
}

void SetLastScaleTime(kube::Object& hpa, absl::Time time) {
  hpa.Set({"status", "lastScaleTime"}, kube::FormatTime(time));
}

void SetScalingCondition(kube::Object& hpa, const kube::Condition& condition, absl::Time now) {
  json::Value conditions = hpa.status()["conditions"];
  kube::SetCondition(conditions, condition, now);
  hpa.Set({"status", "conditions"}, std::move(conditions));
  // A status without it would be refused by the CRD's schema.
  if (!hpa.status().Has("desiredReplicas")) hpa.Set({"status", "desiredReplicas"}, 0);
}

}  // namespace api
