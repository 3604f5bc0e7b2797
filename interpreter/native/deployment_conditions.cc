// A pass has each cluster's item vote on both conditions, and makes of the votes one condition for
// each type. A cluster votes on Available by its health and by its counters, since upstream
// reflects no conditions; on Progressing by the generation that it runs, its counters, and the
// missed deadline that its status names.

#include "interpreter/native/deployment_conditions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/template_reasons.h"
#include "base/status.h"
#include "interpreter/native/typed_fields.h"
#include "interpreter/native/workload_status.h"

namespace interpreter::native {

namespace {

constexpr absl::string_view kAvailable = "Available";
constexpr absl::string_view kProgressing = "Progressing";

// What the clusters say of one type of condition.
struct Votes {
  std::vector<std::string> bad;           // As "cluster=message".
  std::vector<absl::string_view> silent;  // Clusters without a status.
  bool at_work = false;                   // Progressing only: a rollout is not complete.
};

// How many replicas may be missing, and how many there may be too many, during a rollout.
struct Slack {
  const json::Value* unavailable = nullptr;
  const json::Value* surge = nullptr;
  bool recreates = false;
};

// Returns the number, or that percentage of `replicas`; without either, the API's default of 25%.
int64_t Resolve(const json::Value& number_or_percent, int64_t replicas, bool round_up) {
  if (number_or_percent.is_int()) return number_or_percent.AsInt();
  int64_t percent = 25;
  absl::string_view text = number_or_percent.AsString();
  if (absl::ConsumeSuffix(&text, "%") && !absl::SimpleAtoi(text, &percent)) percent = 0;
  return (replicas * percent + (round_up ? 99 : 0)) / 100;
}

Slack SlackOf(const json::Value& spec) {
  const json::Value& strategy = spec["strategy"];
  const json::Value& rolling_update = strategy["rollingUpdate"];
  return {&rolling_update["maxUnavailable"], &rolling_update["maxSurge"],
          strategy["type"] == "Recreate"};
}

// Returns how many of so many replicas have to be available.
int64_t Needed(const Slack& slack, int64_t replicas) {
  if (slack.recreates || replicas == 0) return replicas;
  const int64_t unavailable = Resolve(*slack.unavailable, replicas, false);
  // As the deployment controller has it: no rollout would get on otherwise.
  const bool stuck = unavailable == 0 && Resolve(*slack.surge, replicas, true) == 0;
  return std::max<int64_t>(replicas - (stuck ? 1 : unavailable), 0);
}

// Returns whether a cluster has as many available replicas as its pods allow to expect. How many it
// should have is not reported, but a healthy one has them.
bool HasMinimum(const json::Value& item, Fields& status, const Slack& slack) {
  if (item["health"] == api::kHealthy) return true;
  const int64_t pods = status.Int("replicas");
  const bool rolls = status.Int("updatedReplicas") < pods;
  const int64_t surge = rolls && !slack.recreates ? Resolve(*slack.surge, pods, true) : 0;
  return pods > 0 && status.Int("availableReplicas") >= Needed(slack, pods - surge);
}

bool IsComplete(const json::Value& item, Fields& status) {
  return status.Int("updatedReplicas") == status.Int("replicas") &&
         status.Int("unavailableReplicas") == 0 && item["health"] != api::kUnhealthy;
}

// Returns the condition of a rollout that has missed its deadline, or nullptr.
const json::Value* MissedDeadline(const json::Value& status) {
  const json::Value* progressing = kube::FindCondition(status["conditions"], kProgressing);
  const bool missed = progressing != nullptr && (*progressing)["status"] == "False" &&
                      (*progressing)["reason"] == api::reason::kProgressDeadlineExceeded;
  return missed ? progressing : nullptr;
}

struct Ballot {
  Votes available, progressing;
};

absl::Status Vote(const json::Value& item, int64_t generation, const Slack& slack, Ballot& ballot) {
  const absl::string_view cluster = item["clusterName"].AsString();
  if (item["status"].is_null()) {
    ballot.available.silent.push_back(cluster);
    ballot.progressing.silent.push_back(cluster);
    return absl::OkStatus();
  }
  Fields status(item["status"], "status");
  if (!HasMinimum(item, status, slack)) {
    ballot.available.bad.push_back(
        absl::StrCat(cluster, "=Deployment does not have minimum availability."));
  }
  const bool current = RunsGeneration(item, status, generation, GenerationGate::kTemplate);
  const json::Value* missed = MissedDeadline(item["status"]);
  if (current && missed != nullptr) {
    ballot.progressing.bad.push_back(absl::StrCat(cluster, "=", (*missed)["message"].AsString()));
  }
  if (!current || !IsComplete(item, status)) ballot.progressing.at_work = true;
  return base::Annotate(status.error(), "cluster ", cluster);
}

// Returns what follows from the votes of some clusters; `good` when nothing speaks against it.
kube::Condition Verdict(const Votes& votes, size_t clusters, kube::Condition good,
                        absl::string_view bad_reason) {
  kube::Condition out = std::move(good);
  if (!votes.bad.empty()) {
    out.status = "False";
    out.reason = std::string(bad_reason);
    // Each is a sentence with its full stop.
    out.message = absl::StrJoin(votes.bad, " ");
  } else if (clusters == 0 || !votes.silent.empty()) {
    out.status = "Unknown";
    out.reason = api::reason::kNotReported;
    out.message = absl::StrCat("no report of ",
                               clusters == 0 ? "any cluster" : absl::StrJoin(votes.silent, ", "));
  }
  return out;
}

kube::Condition Availability(const kube::Object& counted, const Votes& votes, size_t clusters,
                             const Slack& slack) {
  kube::Condition good{std::string(kAvailable), "True", api::reason::kMinimumReplicasAvailable,
                       "Deployment has minimum availability."};
  kube::Condition out =
      Verdict(votes, clusters, std::move(good), api::reason::kMinimumReplicasUnavailable);
  // Members whose replicas are their own have no sum that the template knows.
  const bool retained = counted.Label(api::kRetainReplicasLabel) == api::kRetainReplicasValue;
  const json::Value& wanted = counted.spec()["replicas"];
  const int64_t needed = Needed(slack, wanted.is_int() ? wanted.AsInt() : 1);
  if (out.status == "True" && !retained && counted.status()["availableReplicas"].AsInt() < needed) {
    out.status = "False";
    out.reason = api::reason::kMinimumReplicasUnavailable;
    out.message = "Deployment does not have minimum availability.";
  }
  return out;
}

kube::Condition Progress(const kube::Object& counted, const Votes& votes, size_t clusters) {
  kube::Condition good{std::string(kProgressing), "True", api::reason::kNewReplicaSetAvailable,
                       "Deployment has successfully progressed."};
  if (votes.at_work) {
    good.reason = api::reason::kReplicaSetUpdated;
    good.message = "Deployment is progressing.";
  }
  if (counted.spec()["paused"].AsBool()) {
    good.status = "Unknown";
    good.reason = api::reason::kDeploymentPaused;
    good.message = "Deployment is paused";
  }
  return Verdict(votes, clusters, std::move(good), api::reason::kProgressDeadlineExceeded);
}

// Adds or replaces the condition, with the times that the deployment controller gives it.
void Put(const kube::Condition& condition, absl::Time now, json::Value& conditions) {
  json::Value fresh = json::Value::Object({{"type", condition.type},
                                           {"status", condition.status},
                                           {"reason", condition.reason},
                                           {"message", condition.message}});
  const std::string time = kube::FormatTime(now);
  fresh.Set("lastUpdateTime", time);
  fresh.Set("lastTransitionTime", time);
  for (size_t i = 0; i < conditions.size(); ++i) {
    const json::Value& old = conditions.At(i);
    if (old["type"] != condition.type) continue;
    const bool same_status = old["status"] == condition.status;
    if (same_status && old["reason"] == condition.reason && old["message"] == condition.message) {
      return;
    }
    if (same_status) fresh.Set("lastTransitionTime", old["lastTransitionTime"]);
    conditions.MutableAt(i) = std::move(fresh);
    return;
  }
  conditions.Append(std::move(fresh));
}

// Returns whether every cluster has reported, and all of them run the present template, as far as
// upstream's counters tell.
bool IsSettled(const kube::Object& counted, const Votes& votes, int64_t generation) {
  return votes.silent.empty() && counted.status()["observedGeneration"] == generation;
}

bool HasOwn(const json::Value& conditions) {
  return kube::FindCondition(conditions, kAvailable) != nullptr ||
         kube::FindCondition(conditions, kProgressing) != nullptr;
}

}  // namespace

absl::StatusOr<json::Value> ReflectMissedDeadline(const kube::Object& member) {
  const json::Value* missed = MissedDeadline(member.status());
  if (missed == nullptr) return json::Value();
  Fields condition(*missed, "status.conditions");
  json::Value out = json::Value::Object();
  for (const char* field : {"type", "status", "reason", "message"}) {
    out.Set(field, condition.String(field));
  }
  RETURN_IF_ERROR(condition.error());
  json::Value list;
  list.Append(std::move(out));
  return list;
}

absl::StatusOr<kube::Object> WithDeploymentConditions(const kube::Object& before,
                                                      kube::Object counted,
                                                      const AggregatedItems& items,
                                                      absl::Time now) {
  const Slack slack = SlackOf(counted.spec());
  Ballot ballot;
  Fields root(counted.root(), "");
  const int64_t generation = root.In("metadata").Int64("generation");
  for (const json::Value& item : items.items()) {
    RETURN_IF_ERROR(Vote(item, generation, slack, ballot));
  }
  RETURN_IF_ERROR(root.error());
  const bool other_news = !counted.root().SharesWith(before.root());
  json::Value conditions = before.status()["conditions"];
  if (!conditions.is_array()) conditions = json::Value();
  const size_t clusters = items.size();
  const bool wanted =
      !ballot.progressing.bad.empty() ||
      (clusters > 0 && (other_news || IsSettled(counted, ballot.progressing, generation)));
  if (!wanted && !HasOwn(conditions)) return counted;
  Put(Availability(counted, ballot.available, clusters, slack), now, conditions);
  Put(Progress(counted, ballot.progressing, clusters), now, conditions);
  if (conditions == before.status()["conditions"]) return counted;
  counted.Set({"status", "conditions"}, std::move(conditions));
  return counted;
}

}  // namespace interpreter::native
