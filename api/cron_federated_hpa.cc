// Reads the rules of a CronFederatedHPA, and reads and changes the history in its status: an item
// for each rule, with the next time and with two lists of executions, those that succeeded and
// those that failed. The lists are the only memory of what has been executed: Records() lets a
// restarted program see that a time was served already, as long as the limits of the rule have not
// pushed it out.

#include "api/cron_federated_hpa.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace api {
namespace {

constexpr char kSuccessful[] = "successfulExecutions";
constexpr char kFailed[] = "failedExecutions";
constexpr char kScheduleTime[] = "scheduleTime";
constexpr char kNextExecutionTime[] = "nextExecutionTime";
constexpr char kRuleName[] = "ruleName";
constexpr char kHistories[] = "executionHistories";

// A number of the wrong type counts as absent, so that such a rule changes nothing.
std::optional<int64_t> IntOf(const json::Value& object, absl::string_view name) {
  const json::Value& value = object[name];
  if (!value.is_int()) return std::nullopt;
  return value.AsInt();
}

std::optional<absl::Time> TimeOf(const json::Value& value) {
  const absl::StatusOr<absl::Time> time = kube::ParseTime(value.AsString());
  if (!time.ok()) return std::nullopt;
  return *time;
}

void SetInt(json::Value& object, absl::string_view name, std::optional<int64_t> value) {
  if (value.has_value()) object.Set(name, *value);
}

}  // namespace

CronRule CronRule::FromJson(const json::Value& rule) {
  CronRule out;
  out.name = rule["name"].ToString();
  out.schedule = rule["schedule"].ToString();
  // An empty text is a zone, too (UTC); only an absent field means that of this process.
  if (rule["timeZone"].is_string()) out.time_zone = rule["timeZone"].ToString();
  out.suspend = rule["suspend"].AsBool();
  out.replicas = IntOf(rule, "targetReplicas");
  out.min_replicas = IntOf(rule, "targetMinReplicas");
  out.max_replicas = IntOf(rule, "targetMaxReplicas");
  out.successful_limit =
      std::max<int64_t>(0, rule["successfulHistoryLimit"].AsInt(out.successful_limit));
  out.failed_limit = std::max<int64_t>(0, rule["failedHistoryLimit"].AsInt(out.failed_limit));
  return out;
}

json::Value CronExecution::ToJson() const {
  json::Value out = json::Value::Object({{kScheduleTime, kube::FormatTime(scheduled)},
                                         {"executionTime", kube::FormatTime(executed)}});
  // An execution that failed has changed nothing, so it has a reason in the place of numbers.
  if (failure.has_value()) {
    out.Set("message", *failure);
    return out;
  }
  SetInt(out, "appliedReplicas", replicas);
  SetInt(out, "appliedMinReplicas", min_replicas);
  SetInt(out, "appliedMaxReplicas", max_replicas);
  return out;
}

std::optional<absl::Time> ExecutionHistoryView::NextExecutionTime() const {
  return TimeOf(history_[kNextExecutionTime]);
}

bool ExecutionHistoryView::Records(absl::Time scheduled) const {
  for (const char* list : {kSuccessful, kFailed}) {
    for (const json::Value& execution : history_[list].items()) {
      // Times are compared, not their texts: other programs may have written them in another zone.
      if (TimeOf(execution[kScheduleTime]) == scheduled) return true;
    }
  }
  return false;
}

std::optional<std::string> ExecutionHistoryView::LastFailure() const {
  std::optional<absl::Time> last;
  std::optional<std::string> failure;
  // A failure counts for more than a success of the same time: nothing says which was later.
  for (const char* list : {kSuccessful, kFailed}) {
    for (const json::Value& execution : history_[list].items()) {
      const std::optional<absl::Time> time = TimeOf(execution[kScheduleTime]);
      if (!time.has_value() || (last.has_value() && *time < *last)) continue;
      // Each list has its latest execution first.
      if (last == time && failure.has_value()) continue;
      last = time;
      failure = std::nullopt;
      if (list == kFailed) failure = execution["message"].ToString();
    }
  }
  return failure;
}

std::vector<CronRule> CronFederatedHpaView::Rules() const {
  std::vector<CronRule> rules;
  for (const json::Value& rule : object_.spec()["rules"].items()) {
    rules.push_back(CronRule::FromJson(rule));
  }
  return rules;
}

absl::Span<const json::Value> CronFederatedHpaView::Histories() const {
  return object_.status()[kHistories].items();
}

const json::Value& CronFederatedHpaView::History(absl::string_view rule) const {
  // It is never destroyed, because the reference may be used until the process ends.
  static const json::Value* const none = new json::Value();
  for (const json::Value& history : Histories()) {
    if (ExecutionHistoryView(history).RuleName() == rule) return history;
  }
  return *none;
}

bool CronFederatedHpaView::TargetsKarmada() const {
  return TargetApiVersion() == FederatedHpas().gvk.ApiVersion();
}

bool CronFederatedHpaView::TargetsFederatedHpa() const {
  return TargetKind() == FederatedHpas().gvk.kind;
}

kube::ObjectKey CronFederatedHpaView::TargetKey() const {
  return {std::string(object_.ns()), Target()["name"].ToString()};
}

json::Value NewExecutionHistory(absl::string_view rule) {
  return json::Value::Object({{kRuleName, rule}});
}

void SetNextExecutionTime(json::Value& history, std::optional<absl::Time> time) {
  if (time.has_value()) {
    history.Set(kNextExecutionTime, kube::FormatTime(*time));
  } else {
    history.Erase(kNextExecutionTime);
  }
}

void AddExecution(json::Value& history, const CronRule& rule, const CronExecution& execution) {
  const bool failed = execution.failure.has_value();
  const char* const name = failed ? kFailed : kSuccessful;
  const int64_t limit = failed ? rule.failed_limit : rule.successful_limit;
  json::Value list = json::Value::Array({execution.ToJson()});
  // The newest execution is the first one, so the oldest ones are cut off at the end.
  for (const json::Value& before : history[name].items()) list.Append(before);
  while (static_cast<int64_t>(list.size()) > limit) list.EraseAt(list.size() - 1);
  if (list.empty()) {
    history.Erase(name);
  } else {
    history.Set(name, std::move(list));
  }
}

void SetExecutionHistories(kube::Object& object, json::Value histories) {
  if (histories.empty()) {
    object.Erase({"status", kHistories});
  } else {
    object.Set({"status", kHistories}, std::move(histories));
  }
}

void SetReplicaBounds(kube::Object& federated_hpa, const CronRule& rule) {
  // A rule may set one of the bounds; the other one stays as it is.
  if (rule.max_replicas.has_value()) federated_hpa.Set({"spec", "maxReplicas"}, *rule.max_replicas);
  if (rule.min_replicas.has_value()) federated_hpa.Set({"spec", "minReplicas"}, *rule.min_replicas);
}

namespace message {

std::string CronTargetNotSupported(const kube::ObjectKey& key, absl::string_view api_version,
                                   absl::string_view kind) {
  return absl::StrCat("CronFederatedHPA(", key.ToString(), ") do not support scale target ",
                      api_version, "/", kind);
}

}  // namespace message
}  // namespace api
