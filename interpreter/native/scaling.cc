// PodDisruptionBudget, HorizontalPodAutoscaler.

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

constexpr absl::string_view kBudgetCounters[] = {"currentHealthy", "desiredHealthy",
                                                 "disruptionsAllowed", "expectedPods"};

// Returns the map of disrupted pods to the times of their disruption, after checking the times.
const json::Value& DisruptedPods(Fields& status) {
  Fields pods = status.In("disruptedPods");
  for (const json::Member& pod : pods.value().members()) pods.Time(pod.name());
  return pods.value();
}

absl::StatusOr<json::Value> ReflectBudget(const kube::Object& object) {
  Fields status(object.status(), "status");
  json::Value out = json::Value::Object();
  for (const absl::string_view counter : kBudgetCounters) out.Set(counter, status.Int(counter));
  const json::Value& disrupted = DisruptedPods(status);
  if (!disrupted.empty()) out.Set("disruptedPods", disrupted);
  RETURN_IF_ERROR(status.error());
  return out;
}

absl::StatusOr<kube::Object> AggregateBudget(const kube::Object& object,
                                             const AggregatedItems& items, absl::Time) {
  std::array<int64_t, std::size(kBudgetCounters)> sums{};
  json::Value disrupted = json::Value::Object();
  for (const json::Value& item : items.items()) {
    const absl::string_view cluster = item["clusterName"].AsString();
    Fields status(item["status"], "status");
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += status.Int(kBudgetCounters[i]);
    for (const json::Member& pod : DisruptedPods(status).members()) {
      disrupted.Set(absl::StrCat(cluster, "/", pod.name()), pod.value);
    }
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", cluster));
  }
  json::Value status = json::Value::Object();
  for (size_t i = 0; i < sums.size(); ++i) status.Set(kBudgetCounters[i], sums[i]);
  if (!disrupted.empty()) status.Set("disruptedPods", std::move(disrupted));
  if (!object.status().empty() && SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<Health> BudgetHealth(const kube::Object& object) {
  Fields status(object.status(), "status");
  const int64_t healthy = status.Int("currentHealthy");
  const int64_t desired = status.Int("desiredHealthy");
  RETURN_IF_ERROR(status.error());
  if (healthy >= desired) return true;
  return Health(false, absl::StrCat(healthy, " of at least ", desired, " pods are healthy"));
}

// Returns the status as the typed struct writes it: currentMetrics is always present.
json::Value AutoscalerStatus(int64_t current, int64_t desired) {
  json::Value out =
      json::Value::Object({{"desiredReplicas", desired}, {"currentMetrics", nullptr}});
  SetOrOmit(out, "currentReplicas", current);
  return out;
}

absl::StatusOr<json::Value> ReflectAutoscaler(const kube::Object& object) {
  Fields status(object.status(), "status");
  json::Value out = AutoscalerStatus(status.Int("currentReplicas"), status.Int("desiredReplicas"));
  RETURN_IF_ERROR(status.error());
  return out;
}

absl::StatusOr<kube::Object> AggregateAutoscaler(const kube::Object& object,
                                                 const AggregatedItems& items, absl::Time) {
  int64_t current = 0;
  int64_t desired = 0;
  for (const json::Value& item : items.items()) {
    Fields status(item["status"], "status");
    current += status.Int("currentReplicas");
    desired += status.Int("desiredReplicas");
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
  }
  json::Value status = AutoscalerStatus(current, desired);
  if (SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

}  // namespace

void RegisterScaling(HandlerTable& table) {
  table.Add({"policy", "v1", "PodDisruptionBudget"}, {.aggregate_status = AggregateBudget,
                                                      .reflect_status = ReflectBudget,
                                                      .interpret_health = BudgetHealth});
  table.Add({"autoscaling", "v2", "HorizontalPodAutoscaler"},
            {.aggregate_status = AggregateAutoscaler, .reflect_status = ReflectAutoscaler});
}

}  // namespace interpreter::native
