#include "controllers/multi_cluster_service/condition_report.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "api/condition.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

absl::StatusOr<kube::ObjectPtr> WriteConditions(kube::Manager& manager,
                                                const kube::ObjectPtr& service,
                                                json::Value conditions,
                                                const base::StopToken& stop) {
  kube::Object after = *service;
  after.Set({"status", "conditions"}, std::move(conditions));
  const absl::StatusOr<kube::ObjectPtr> written = manager.cluster().Update(
      api::MultiClusterServices(), service, after, {.subresource = "status"}, stop);
  if (kube::IsGone(written.status())) return service;
  if (written.ok()) return written;
  return base::Annotate(written.status(), "writing the conditions of ", service->Describe());
}

}  // namespace

absl::Status ReportCondition(kube::Manager& manager, kube::EventRecorder& recorder,
                             const kube::ObjectPtr& service, const ConditionTexts& texts,
                             const absl::Status& result, bool changed,
                             const base::StopToken& stop) {
  if (kube::IsNoOutcome(result)) return absl::OkStatus();
  json::Value conditions = service->status()["conditions"];
  const json::Value* before = kube::FindCondition(conditions, texts.type);
  const bool had_failed = before != nullptr && (*before)["status"].AsString() == "False";
  const std::string message(result.ok() ? texts.success_message : result.message());
  const bool is_news = kube::SetCondition(
      conditions,
      api::ConditionOf(texts.type, result.ok(),
                       result.ok() ? texts.success_reason : texts.failure_reason, message),
      manager.clock().Now());
  if (is_news) {
    RETURN_IF_ERROR(WriteConditions(manager, service, std::move(conditions), stop).status());
  }
  const kube::InvolvedObject about = kube::InvolvedObject::Of(*service);
  if (!result.ok()) {
    if (is_news) recorder.Warning(about, texts.failure_event, message);
  } else if (had_failed) {
    recorder.Normal(about, texts.success_event, message);
  } else if (is_news || changed) {
    recorder.Routine(about, texts.success_event, message);
  }
  return absl::OkStatus();
}

absl::StatusOr<kube::ObjectPtr> WithdrawConditions(kube::Manager& manager,
                                                   const kube::ObjectPtr& service,
                                                   absl::Span<const absl::string_view> types,
                                                   const base::StopToken& stop) {
  json::Value kept = json::Value::Array();
  const json::Value& conditions = service->status()["conditions"];
  for (const json::Value& condition : conditions.items()) {
    const bool goes = absl::c_linear_search(types, condition["type"].AsString());
    if (!goes) kept.Append(condition);
  }
  if (kept.size() == conditions.size()) return service;
  return WriteConditions(manager, service, std::move(kept), stop);
}

}  // namespace controllers
