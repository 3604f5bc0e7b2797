#include "sandbox/kinds/autoscaler_conversion.h"

#include <utility>

namespace sandbox {
namespace {

constexpr char kMetricsAnnotation[] = "autoscaling.alpha.kubernetes.io/metrics";
constexpr char kBehaviorAnnotation[] = "autoscaling.alpha.kubernetes.io/behavior";
constexpr char kTarget[] = "targetCPUUtilizationPercentage";

// Returns whether v1 can represent the metric; it knows no other kind.
bool IsCpuUtilization(const json::Value& metric) {
  return metric["type"].AsString() == "Resource" &&
         metric["resource"]["name"].AsString() == "cpu" &&
         metric["resource"]["target"]["averageUtilization"].is_int();
}

json::Value CpuMetric(const json::Value& utilization) {
  const json::Value target =
      json::Value::Object({{"type", "Utilization"}, {"averageUtilization", utilization}});
  return json::Value::Object(
      {{"type", "Resource"},
       {"resource", json::Value::Object({{"name", "cpu"}, {"target", target}})}});
}

// Removes the annotation and returns its value; null when it is absent or not JSON.
json::Value TakeAnnotation(json::Value& object, const char* name) {
  const json::Value* text = object.FindPath({"metadata", "annotations", name});
  if (text == nullptr) return nullptr;
  const auto parsed = json::Parse(text->AsString());
  object.Erase({"metadata", "annotations", name});
  if (object["metadata"]["annotations"].empty()) object.Erase({"metadata", "annotations"});
  return parsed.ok() ? *parsed : json::Value();
}

}  // namespace

void AutoscalerToV1(json::Value& object) {
  json::Value others = json::Value::Array();
  json::Value utilization;
  for (const json::Value& metric : json::Value(object["spec"]["metrics"]).items()) {
    if (utilization.is_null() && IsCpuUtilization(metric)) {
      utilization = metric["resource"]["target"]["averageUtilization"];
    } else {
      others.Append(metric);
    }
  }
  const json::Value behavior = object["spec"]["behavior"];
  object.Erase({"spec", "metrics"});
  object.Erase({"spec", "behavior"});
  object.Erase({"status", "currentMetrics"});
  object.Erase({"status", "conditions"});
  if (!utilization.is_null()) object.Set({"spec", kTarget}, utilization);
  if (!others.empty())
    object.Set({"metadata", "annotations", kMetricsAnnotation}, json::Write(others));
  if (!behavior.is_null()) {
    object.Set({"metadata", "annotations", kBehaviorAnnotation}, json::Write(behavior));
  }
}

void AutoscalerFromV1(json::Value& object) {
  json::Value metrics = json::Value::Array();
  const json::Value utilization = object["spec"][kTarget];
  if (!utilization.is_null()) metrics.Append(CpuMetric(utilization));
  const json::Value others = TakeAnnotation(object, kMetricsAnnotation);
  for (const json::Value& metric : others.items()) metrics.Append(metric);
  const json::Value behavior = TakeAnnotation(object, kBehaviorAnnotation);
  object.Erase({"spec", kTarget});
  object.Erase({"status", "currentCPUUtilizationPercentage"});
  if (!metrics.empty()) object.Set({"spec", "metrics"}, std::move(metrics));
  if (!behavior.is_null()) object.Set({"spec", "behavior"}, behavior);
}

}  // namespace sandbox
