#include "controllers/multi_cluster_service/condition_report.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "api/condition.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

// Somebody who writes conditions again and again gets as many passes, but no more than this allows.
constexpr absl::Duration kBetweenOthers = absl::Seconds(1);

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

std::string DeterminedConditions::TextOf(const json::Value* condition) {
  if (condition == nullptr) return "";
  return absl::StrCat((*condition)["status"].AsString(), " ", (*condition)["reason"].AsString(),
                      " ", (*condition)["message"].AsString());
}

void DeterminedConditions::Note(const kube::ObjectKey& service, const json::Value& condition) {
  absl::MutexLock lock(&mu_);
  texts_[service] = TextOf(&condition);
}

bool DeterminedConditions::IsOther(const kube::Object& before, const kube::Object& after,
                                   const char* type) const {
  const std::string text = TextOf(kube::FindCondition(after.status()["conditions"], type));
  if (text == TextOf(kube::FindCondition(before.status()["conditions"], type))) return false;
  absl::MutexLock lock(&mu_);
  const auto found = texts_.find(after.key());
  // What this process has written itself is not a reason for another pass.
  return found == texts_.end() || found->second != text;
}

void DeterminedConditions::Forget(const kube::ObjectKey& service) {
  absl::MutexLock lock(&mu_);
  texts_.erase(service);
}

kube::Enqueue OnOtherCondition(const std::shared_ptr<DeterminedConditions>& determined,
                               const char* type, kube::MapFn map) {
  kube::Enqueue enqueue{.map = std::move(map), .delay = kBetweenOthers};
  enqueue.when.add = kube::Never;
  enqueue.when.update = [determined, type](const kube::Object& before, const kube::Object& after) {
    return determined->IsOther(before, after, type);
  };
  enqueue.when.remove = kube::Never;
  return enqueue;
}

absl::Status ReportCondition(const ConditionWriter& writer, const kube::ObjectPtr& service,
                             const ConditionTexts& texts, const absl::Status& result, bool changed,
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
      writer.manager.clock().Now());
  // Before the write, whose event may be delivered before the write returns.
  writer.determined.Note(service->key(), *kube::FindCondition(conditions, texts.type));
  if (is_news) {
    RETURN_IF_ERROR(WriteConditions(writer.manager, service, std::move(conditions), stop).status());
  }
  const kube::InvolvedObject about = kube::InvolvedObject::Of(*service);
  if (!result.ok()) {
    if (is_news) writer.recorder.Warning(about, texts.failure_event, message);
  } else if (had_failed) {
    writer.recorder.Normal(about, texts.success_event, message);
  } else if (is_news || changed) {
    writer.recorder.Routine(about, texts.success_event, message);
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
