// CronFederatedHPA (autoscaling.karmada.io/v1alpha1): scales one object at given times, and records
// when it did.
#ifndef API_CRON_FEDERATED_HPA_H_
#define API_CRON_FEDERATED_HPA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

namespace reason {

// Reasons of the events on CronFederatedHPAs.
inline constexpr char kStartRuleFailed[] = "StartRuleFailed";
inline constexpr char kScaleFailed[] = "ScaleFailed";
inline constexpr char kUpdateStatusFailed[] = "UpdateStatusFailed";
inline constexpr char kUpdateCronFederatedHpaFailed[] = "UpdateCronFederatedHPAFailed";
// The reason of an event about a time that passed while nobody could act on it. Upstream has none.
inline constexpr char kExecutionMissed[] = "ExecutionMissed";

}  // namespace reason

// An item of spec.rules.
struct CronRule {
  std::string name;
  std::string schedule;
  std::optional<std::string> time_zone;  // nullopt: the zone of this process.
  bool suspend = false;
  // What is applied; nullopt: it is left alone.
  std::optional<int64_t> replicas, min_replicas, max_replicas;
  // How many executions of either kind the status keeps; never negative.
  int64_t successful_limit = 3;
  int64_t failed_limit = 3;

  static CronRule FromJson(const json::Value& rule);
};

// One execution of a rule.
struct CronExecution {
  absl::Time scheduled, executed;
  std::optional<std::string> failure;  // Why it failed; nullopt: it succeeded.
  // What a successful one applied.
  std::optional<int64_t> replicas, min_replicas, max_replicas;

  // Returns an item of successfulExecutions or failedExecutions.
  json::Value ToJson() const;
};

// Reads an item of status.executionHistories. The value must outlive the view and stay unchanged.
class ExecutionHistoryView {
 public:
  explicit ExecutionHistoryView(const json::Value& history) : history_(history) {}
  explicit ExecutionHistoryView(json::Value&&) = delete;

  absl::string_view RuleName() const { return history_["ruleName"].AsString(); }
  // Returns nullopt if the rule is suspended or has no next time (or has no valid one).
  std::optional<absl::Time> NextExecutionTime() const;
  // Returns whether it records an execution, good or bad, that was scheduled for this time.
  bool Records(absl::Time scheduled) const;
  // Returns why the last execution failed; nullopt when it succeeded, or none is recorded.
  std::optional<std::string> LastFailure() const;

 private:
  const json::Value& history_;
};

// Reads one CronFederatedHPA. The object must outlive the view and stay unchanged.
class CronFederatedHpaView {
 public:
  explicit CronFederatedHpaView(const kube::Object& object) : object_(object) {}
  explicit CronFederatedHpaView(kube::Object&&) = delete;

  std::vector<CronRule> Rules() const;
  // Returns status.executionHistories.
  absl::Span<const json::Value> Histories() const;
  // Returns the item of status.executionHistories of the rule; a null value if there is none.
  const json::Value& History(absl::string_view rule) const;
  // Returns whether spec.scaleTargetRef is of this API group and version.
  bool TargetsKarmada() const;
  // Returns whether spec.scaleTargetRef names a FederatedHPA. REQUIRES: TargetsKarmada().
  bool TargetsFederatedHpa() const;
  absl::string_view TargetKind() const { return Target()["kind"].AsString(); }
  absl::string_view TargetApiVersion() const { return Target()["apiVersion"].AsString(); }
  // Returns the key of the target, which lives in the namespace of this object.
  kube::ObjectKey TargetKey() const;

 private:
  const json::Value& Target() const { return object_.spec()["scaleTargetRef"]; }
  const kube::Object& object_;
};

// Functions that change an item of status.executionHistories.
json::Value NewExecutionHistory(absl::string_view rule);
void SetNextExecutionTime(json::Value& history, std::optional<absl::Time> time);
// Puts the execution before those of its kind, and drops what is above the rule's limit.
void AddExecution(json::Value& history, const CronRule& rule, const CronExecution& execution);

// Sets status.executionHistories; an empty list removes the field.
void SetExecutionHistories(kube::Object& object, json::Value histories);

// Sets spec.minReplicas and spec.maxReplicas of a FederatedHPA to what the rule has.
void SetReplicaBounds(kube::Object& federated_hpa, const CronRule& rule);

namespace message {

// "CronFederatedHPA(ns/n) do not support scale target g/v/Kind".
std::string CronTargetNotSupported(const kube::ObjectKey& key, absl::string_view api_version,
                                   absl::string_view kind);

}  // namespace message
}  // namespace api

#endif  // API_CRON_FEDERATED_HPA_H_
