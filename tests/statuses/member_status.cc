#include "tests/statuses/member_status.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tests {
namespace {

std::string TimeText(int64_t now) {
  return kube::FormatTime(absl::FromUnixSeconds(1767225600) + absl::Seconds(now));
}

json::Value Condition(absl::string_view type, int64_t now) {
  return json::Value::Object({{"type", type},
                              {"status", "True"},
                              {"lastProbeTime", TimeText(now)},
                              {"lastTransitionTime", TimeText(now)}});
}

bool Has(const kube::Object& object, absl::string_view condition) {
  return kube::IsConditionTrue(object.status()["conditions"], condition);
}

void Append(kube::Object& object, json::Value condition) {
  object.mutable_root().Mutable(json::Path({"status", "conditions"})).Append(std::move(condition));
}

void SetCount(kube::Object& object, absl::string_view name, int64_t value) {
  object.Set({"status", name}, value);
}

void MoveReplicas(kube::Object& object, int64_t, Dice& dice) {
  json::Value status = object.status().is_object() ? object.status() : json::Value::Object();
  const std::string kind(object.kind());
  const int64_t replicas = dice.Below(6), ready = dice.Below(replicas + 1);
  status.Set("replicas", replicas);
  status.Set("readyReplicas", ready);
  status.Set("availableReplicas", dice.Below(ready + 1));
  if (kind == "ReplicaSet") status.Set("fullyLabeledReplicas", replicas);
  if (kind != "ReplicaSet") status.Set("updatedReplicas", dice.Below(replicas + 1));
  if (kind == "StatefulSet") status.Set("currentReplicas", dice.Below(replicas + 1));
  if (kind == "Deployment") status.Set("unavailableReplicas", dice.Below(3));
  if (!dice.OneIn(3)) status.Set("observedGeneration", object.generation());
  object.Set({"status"}, std::move(status));
}

void MoveDaemons(kube::Object& object, int64_t, Dice& dice) {
  for (const char* counter :
       {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
        "updatedNumberScheduled", "numberAvailable", "numberUnavailable"}) {
    SetCount(object, counter, dice.Below(6));
  }
  if (!dice.OneIn(3)) SetCount(object, "observedGeneration", object.generation());
}

// Suspends the Job, or has it resumed: then it starts again.
void MoveSuspension(kube::Object& job, int64_t now) {
  const bool suspended = !Has(job, "Suspended");
  json::Value condition = Condition("Suspended", now);
  if (!suspended) condition.Set("status", "False");
  job.Set({"status", "conditions"}, json::Value::Array({std::move(condition)}));
  SetCount(job, "active", suspended ? 0 : 1);
  SetCount(job, "ready", 0);
  if (suspended) {
    job.Erase({"status", "startTime"});
  } else {
    job.Set({"status", "startTime"}, TimeText(now));
  }
}

void MoveJob(kube::Object& job, int64_t now, Dice& dice) {
  if (HasEnded(job)) return;
  if (dice.OneIn(8) && !Has(job, "FailureTarget")) return MoveSuspension(job, now);
  if (Has(job, "Suspended")) return;
  if (!job.status().Has("startTime")) job.Set({"status", "startTime"}, TimeText(now));
  const int64_t active = dice.Below(3);
  SetCount(job, "active", active);
  SetCount(job, "ready", dice.Below(active + 1));
  SetCount(job, "succeeded", job.status()["succeeded"].AsInt() + dice.Below(2));
  SetCount(job, "failed", job.status()["failed"].AsInt() + dice.Below(2));
  if (dice.OneIn(12) && !Has(job, "FailureTarget")) Append(job, Condition("FailureTarget", now));
  if (dice.OneIn(6)) End(job, now, Has(job, "FailureTarget") || dice.OneIn(2));
}

void MoveCronJob(kube::Object& object, int64_t now, Dice& dice) {
  object.Set({"status", "lastScheduleTime"}, TimeText(now));
  if (dice.OneIn(2)) object.Set({"status", "lastSuccessfulTime"}, TimeText(now));
  json::Value active;
  for (int64_t i = dice.Below(3); i > 0; --i) {
    active.Append(json::Value::Object({{"apiVersion", "batch/v1"},
                                       {"kind", "Job"},
                                       {"name", absl::StrCat("run-", i)},
                                       {"namespace", object.ns()}}));
  }
  object.Set({"status", "active"}, std::move(active));
}

json::Value ContainerState(int64_t now, bool may_restart, const json::Value& before, Dice& dice) {
  if (!before["terminated"].is_null() && !may_restart) return before;
  const std::string time = TimeText(now);
  switch (dice.Below(3)) {
    case 0:
      return json::Value::Object({{"waiting", json::Value::Object({{"reason", "Creating"}})}});
    case 1:
      return json::Value::Object({{"running", json::Value::Object({{"startedAt", time}})}});
    default:
      return json::Value::Object({{"terminated", json::Value::Object({{"exitCode", dice.Below(2)},
                                                                      {"startedAt", time},
                                                                      {"finishedAt", time}})}});
  }
}

void MoveContainers(kube::Object& pod, absl::string_view specs, absl::string_view list, int64_t now,
                    Dice& dice) {
  const bool may_restart = pod.spec()["restartPolicy"] == "Always";
  json::Value next;
  const json::Value containers = pod.spec()[specs], before = pod.status()[list];
  for (size_t i = 0; i < containers.size(); ++i) {
    next.Append(json::Value::Object(
        {{"name", containers.At(i)["name"]},
         {"image", containers.At(i)["image"]},
         {"imageID", ""},
         {"restartCount", 0},
         {"lastState", json::Value::Object()},
         {"ready", dice.OneIn(2)},
         {"state",
          ContainerState(now, may_restart,
                         i < before.size() ? before.At(i)["state"] : json::Value(), dice)}}));
  }
  pod.Set({"status", list}, std::move(next));
}

void MovePod(kube::Object& pod, int64_t now, Dice& dice) {
  constexpr const char* kPhases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  pod.Set({"status", "phase"}, kPhases[dice.Below(5)]);
  pod.Set({"status", "qosClass"}, "BestEffort");
  MoveContainers(pod, "initContainers", "initContainerStatuses", now, dice);
  MoveContainers(pod, "containers", "containerStatuses", now, dice);
}

void MoveAddresses(kube::Object& object, int64_t, Dice& dice) {
  json::Value addresses;
  for (int64_t i = dice.Below(3); i > 0; --i) {
    json::Value address = json::Value::Object();
    if (dice.OneIn(3)) {
      address.Set("hostname", absl::StrCat("lb-", dice.Below(3), ".example.com"));
    } else {
      address.Set("ip", absl::StrCat("192.0.2.", dice.Below(4)));
      if (object.kind() == "Service") address.Set("ipMode", dice.OneIn(2) ? "VIP" : "Proxy");
    }
    if (dice.OneIn(3)) {
      address.Set("ports", json::Value::Array({json::Value::Object(
                               {{"port", 80 + dice.Below(2)}, {"protocol", "TCP"}})}));
    }
    addresses.Append(std::move(address));
  }
  object.Set({"status", "loadBalancer"}, json::Value::Object());
  if (!addresses.is_null()) {
    object.Set({"status", "loadBalancer", "ingress"}, std::move(addresses));
  }
}

void MoveClaim(kube::Object& claim, int64_t, Dice& dice) {
  constexpr const char* kPhases[] = {"Pending", "Bound", "Lost"};
  claim.Set({"status", "phase"}, kPhases[dice.Below(3)]);
  claim.Set({"status", "capacity"}, json::Value::Object({{"storage", "1Gi"}}));
}

void MoveBudget(kube::Object& budget, int64_t now, Dice& dice) {
  for (const char* counter :
       {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}) {
    SetCount(budget, counter, dice.Below(6));
  }
  json::Value condition = Condition("DisruptionAllowed", now);
  condition.Set("reason", "SufficientPods");
  budget.Set({"status", "conditions"}, json::Value::Array({std::move(condition)}));
  budget.Erase({"status", "disruptedPods"});
  if (dice.OneIn(3)) budget.Set({"status", "disruptedPods", "web-1"}, TimeText(now));
}

void MoveAutoscaler(kube::Object& object, int64_t, Dice& dice) {
  SetCount(object, "currentReplicas", dice.Below(6));
  SetCount(object, "desiredReplicas", dice.Below(6));
}

using Move = void (*)(kube::Object& object, int64_t now, Dice& dice);

const std::map<std::string, Move>& Moves() {
  static const auto& moves =
      *new std::map<std::string, Move>{{"Deployment", MoveReplicas},
                                       {"ReplicaSet", MoveReplicas},
                                       {"StatefulSet", MoveReplicas},
                                       {"DaemonSet", MoveDaemons},
                                       {"Job", MoveJob},
                                       {"CronJob", MoveCronJob},
                                       {"Pod", MovePod},
                                       {"Service", MoveAddresses},
                                       {"Ingress", MoveAddresses},
                                       {"PersistentVolumeClaim", MoveClaim},
                                       {"PodDisruptionBudget", MoveBudget},
                                       {"HorizontalPodAutoscaler", MoveAutoscaler}};
  return moves;
}

}  // namespace

void MoveOn(kube::Object& object, int64_t now, Dice& dice) {
  Moves().at(std::string(object.kind()))(object, now, dice);
}

bool HasEnded(const kube::Object& job) { return Has(job, "Complete") || Has(job, "Failed"); }

void End(kube::Object& job, int64_t now, bool fails) {
  if (HasEnded(job)) return;
  fails |= Has(job, "FailureTarget");
  for (const char* counter : {"active", "ready", "terminating"}) SetCount(job, counter, 0);
  if (!job.status().Has("startTime")) job.Set({"status", "startTime"}, TimeText(now));
  if (!fails) job.Set({"status", "completionTime"}, TimeText(now));
  const bool announced = Has(job, "FailureTarget");
  if (!announced) Append(job, Condition(fails ? "FailureTarget" : "SuccessCriteriaMet", now));
  Append(job, Condition(fails ? "Failed" : "Complete", now));
}

json::Value AsOlderApiHasIt(const std::string& kind, json::Value status) {
  if (kind == "StatefulSet") status.Erase("availableReplicas");
  for (size_t i = 0; i < status["loadBalancer"]["ingress"].size(); ++i) {
    json::Value& addresses = status.Mutable(json::Path({"loadBalancer", "ingress"}));
    json::Value& address = addresses.MutableAt(i);
    address.Erase("ipMode");
    if (address.Has("ip")) address.Set("ip", absl::StrCat("::ffff:", address["ip"].AsString()));
  }
  if (kind != "Job") return status;
  json::Value conditions;
  for (const json::Value& condition : status["conditions"].items()) {
    const json::Value& type = condition["type"];
    if (type != "FailureTarget" && type != "SuccessCriteriaMet") conditions.Append(condition);
  }
  status.Erase("conditions");
  if (!conditions.is_null()) status.Set("conditions", std::move(conditions));
  return status;
}

}  // namespace tests
