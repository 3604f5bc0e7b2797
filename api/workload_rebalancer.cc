#include "api/workload_rebalancer.h"

#include <utility>

#include "absl/status/statusor.h"
#include "api/known_fields.h"

namespace api {

ObservedWorkload ObservedWorkload::FromJson(const json::Value& item) {
  return {ObjectReference::FromJson(item["workload"]), item["result"].ToString(),
          item["reason"].ToString()};
}

json::Value ObservedWorkload::ToJson() const {
  json::Value out = json::Value::Object({{"workload", workload.ToJson()}});
  if (!result.empty()) out.Set("result", result);
  if (!reason.empty()) out.Set("reason", reason);
  return out;
}

std::vector<ObjectReference> WorkloadRebalancerView::Workloads() const {
  std::vector<ObjectReference> workloads;
  for (const json::Value& item : object_.spec()["workloads"].items()) {
    workloads.push_back(ObjectReference::FromJson(item));
  }
  return workloads;
}

std::optional<absl::Duration> WorkloadRebalancerView::TtlAfterFinished() const {
  const json::Value* seconds = object_.spec().Find("ttlSecondsAfterFinished");
  if (seconds == nullptr || seconds->is_null()) return std::nullopt;
  return absl::Seconds(seconds->AsInt());
}

std::vector<ObservedWorkload> WorkloadRebalancerView::ObservedWorkloads() const {
  std::vector<ObservedWorkload> observed;
  for (const json::Value& item : object_.status()["observedWorkloads"].items()) {
    observed.push_back(ObservedWorkload::FromJson(item));
  }
  return observed;
}

std::optional<absl::Time> WorkloadRebalancerView::FinishTime() const {
  const absl::StatusOr<absl::Time> time =
      kube::ParseTime(object_.status()["finishTime"].AsString());
  if (!time.ok()) return std::nullopt;
  return *time;
}

void SetObservedWorkloads(kube::Object& rebalancer, absl::Span<const ObservedWorkload> observed) {
  static const auto& field = *new KnownField{
      "observedWorkloads",
      {ReferenceField("workload"), {"result"}, {"reason"}},
      {"workload.apiVersion", "workload.kind", "workload.namespace", "workload.name"}};
  json::Value list = json::Value::Array();
  for (const ObservedWorkload& item : observed) list.Append(item.ToJson());
  const json::Value held = rebalancer.status()["observedWorkloads"];
  rebalancer.Set({"status", "observedWorkloads"}, WithUnknown(std::move(list), held, field));
  rebalancer.Set({"status", "observedGeneration"}, rebalancer.generation());
}

void SetFinishTime(kube::Object& rebalancer, absl::Time time) {
  rebalancer.Set({"status", "finishTime"}, kube::FormatTime(time));
}

}  // namespace api
