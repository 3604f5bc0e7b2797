// A kind is taken to have the status subresource until the server says that it has none: the write
// is not found although the object is there. From then on the status is written on the object. When
// the server accepts such a write and the object's version stays the same, it has ignored the
// status: the kind has got the subresource since, which is tried, or it keeps no status at all,
// which is a terminal error. What was learned is kept by kind under mu_; after its loss the first
// write of such a kind takes two more calls.

#include "controllers/binding_status/template_status.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/runtime/reconciler.h"

namespace controllers {
namespace {

constexpr char kSuccessCriteriaMet[] = "SuccessCriteriaMet";

json::Value WithoutSuccessCriteria(json::Value status) {
  const json::Value conditions = status["conditions"];
  json::Value others = json::Value::Array();
  for (const json::Value& condition : conditions.items()) {
    if (condition["type"] != kSuccessCriteriaMet) others.Append(condition);
  }
  status.Set("conditions", std::move(others));
  return status;
}

}  // namespace

absl::Status TemplateStatus::Write(const Target& target, const json::Value& status,
                                   const base::StopToken& stop) {
  const absl::Status written = WriteAsItIs(target, status, stop);
  const bool refuses_criteria = kube::IsInvalid(written) &&
                                absl::StrContains(written.message(), kSuccessCriteriaMet) &&
                                kube::IsConditionTrue(status["conditions"], kSuccessCriteriaMet);
  if (!refuses_criteria) return written;
  return WriteAsItIs(target, WithoutSuccessCriteria(status), stop);
}

absl::Status TemplateStatus::WriteAsItIs(const Target& target, const json::Value& status,
                                         const base::StopToken& stop) {
  kube::Object after = *target.object;
  after.Set({"status"}, status);
  const kube::Gvk& gvk = target.resource.gvk;
  if (!LacksSubresource(gvk)) {
    const absl::Status sent = Send(target, after, Where::kSubresource, stop).status();
    if (!absl::IsNotFound(sent)) return sent;
    RETURN_IF_ERROR(client_.raw().Get(target.resource, target.object->key(), stop).status());
    Learn(gvk, true);
  }
  ASSIGN_OR_RETURN(const kube::ObjectPtr now, Send(target, after, Where::kObject, stop));
  const bool ignored =
      now != target.object && now->resource_version() == target.object->resource_version();
  if (!ignored) return absl::OkStatus();
  // The server ignored the status: the kind's definition has got the subresource meanwhile, or the
  // kind has no status at all.
  Learn(gvk, false);
  const absl::Status sent = Send(target, after, Where::kSubresource, stop).status();
  if (!absl::IsNotFound(sent)) return sent;
  return base::Terminal(absl::FailedPreconditionError(
      absl::StrCat("the server keeps no status of ", gvk.kind, " (", gvk.ApiVersion(), ")")));
}

absl::StatusOr<kube::ObjectPtr> TemplateStatus::Send(const Target& target,
                                                     const kube::Object& after, Where where,
                                                     const base::StopToken& stop) {
  kube::UpdateOptions options;
  options.subresource = "status";
  options.status_on_object = where == Where::kObject;
  // No other writer sets it, but an older status may arrive late, as the last write of a former
  // leader, and nothing would repair that.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  return client_.Update(target.resource, target.object, after, options, stop);
}

bool TemplateStatus::LacksSubresource(const kube::Gvk& gvk) const {
  absl::MutexLock lock(&mu_);
  return without_subresource_.contains(gvk);
}

void TemplateStatus::Learn(const kube::Gvk& gvk, bool lacks_subresource) {
  absl::MutexLock lock(&mu_);
  if (lacks_subresource) {
    without_subresource_.insert(gvk);
  } else {
    without_subresource_.erase(gvk);
  }
}

}  // namespace controllers
