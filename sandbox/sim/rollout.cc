// A rolling update is a sequence of steps, each of which looks only at the ReplicaSets as they are.
// A step brings the present set to its number of replicas, upwards only as far as the surge leaves
// room. A step in which the present set stays as it is takes replicas from the old sets, oldest
// first: those that are not available as far as the sets together keep enough replicas, then others
// as far as enough of them stay available. The next change of a set brings the next step.
//
// The condition Progressing is moving, complete or timed out. It stays moving as long as a count
// gets better; without that it times out progressDeadlineSeconds after its last update, and the
// next movement ends that. It becomes complete when all replicas are updated and available, and
// stays so while the present set is the same and no old one has replicas.

#include "sandbox/sim/rollout.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kComplete[] = "NewReplicaSetAvailable";
constexpr char kMoving[] = "ReplicaSetUpdated";
constexpr char kTimedOut[] = "ProgressDeadlineExceeded";

// Returns an IntOrString as a number; percentages are of `total`.
int64_t Scaled(const json::Value& value, int64_t total, bool round_up) {
  if (!value.is_string()) return value.AsInt();
  double percent = 0;
  absl::string_view text = value.AsString();
  if (!absl::ConsumeSuffix(&text, "%") || !absl::SimpleAtod(text, &percent)) return 0;
  const double exact = percent * static_cast<double>(total) / 100;
  return static_cast<int64_t>(round_up ? std::ceil(exact) : std::floor(exact));
}

template <class Field>
int64_t SumOf(const RolloutState& state, Field field) {
  int64_t sum = state.current.*field;
  for (const SetState& set : state.old) sum += set.*field;
  return sum;
}

int64_t CurrentNext(const RolloutState& state) {
  const SetState& current = state.current;
  if (current.wanted >= state.replicas) return state.replicas;
  const int64_t room = state.replicas + state.limits.max_surge - SumOf(state, &SetState::wanted);
  return current.wanted + std::clamp<int64_t>(room, 0, state.replicas - current.wanted);
}

// Removes pods that are not available first, then others as long as enough stay available.
void ScaleOldDown(const RolloutState& state, RolloutStep& step) {
  const int64_t min_available = state.replicas - state.limits.max_unavailable;
  // New pods that are not available yet cannot stand in for old ones that are removed.
  const int64_t starting = state.current.wanted - state.current.available;
  int64_t budget = SumOf(state, &SetState::wanted) - min_available - starting;
  for (size_t i = 0; i < step.old.size() && budget > 0; ++i) {
    const int64_t unhealthy = std::clamp<int64_t>(step.old[i] - state.old[i].available, 0, budget);
    step.old[i] -= unhealthy;
    budget -= unhealthy;
  }
  int64_t spare = std::min(budget, SumOf(state, &SetState::available) - min_available);
  for (size_t i = 0; i < step.old.size() && spare > 0; ++i) {
    const int64_t down = std::min(step.old[i], spare);
    step.old[i] -= down;
    spare -= down;
  }
}

json::Value Counts(const kube::Object& deployment, const RolloutState& state) {
  json::Value status = json::Value::Object(
      {{"observedGeneration", deployment.generation()}, {"terminatingReplicas", 0}});
  const auto set = [&](absl::string_view name, int64_t value) {
    if (value > 0) status.Set(name, value);
  };
  const int64_t available = SumOf(state, &SetState::available);
  set("replicas", SumOf(state, &SetState::actual));
  set("updatedReplicas", state.current.actual);
  set("readyReplicas", SumOf(state, &SetState::ready));
  set("availableReplicas", available);
  set("unavailableReplicas", SumOf(state, &SetState::wanted) - available);
  return status;
}

bool IsComplete(const json::Value& status, int64_t replicas) {
  return status["updatedReplicas"].AsInt() == replicas && status["replicas"].AsInt() == replicas &&
         status["availableReplicas"].AsInt() == replicas;
}

bool HasMoved(const json::Value& before, const json::Value& now) {
  const auto count = [](const json::Value& status, absl::string_view name) {
    return status[name].AsInt();
  };
  const auto outdated = [&](const json::Value& status) {
    return count(status, "replicas") - count(status, "updatedReplicas");
  };
  return count(now, "updatedReplicas") > count(before, "updatedReplicas") ||
         outdated(now) < outdated(before) ||
         count(now, "readyReplicas") > count(before, "readyReplicas") ||
         count(now, "availableReplicas") > count(before, "availableReplicas");
}

WorkloadCondition Progress(const kube::Object& deployment, const json::Value& status,
                           const std::string& current_name, absl::Time now) {
  const json::Value* before = kube::FindCondition(deployment.status()["conditions"], "Progressing");
  const absl::string_view reason =
      before == nullptr ? absl::string_view() : (*before)["reason"].AsString();
  const std::string set = absl::StrCat("ReplicaSet \"", current_name, "\" ");
  // A rollout that was complete stays so when pods become unavailable later: that is not a rollout.
  const bool settled = reason == kComplete && status["replicas"] == status["updatedReplicas"] &&
                       absl::StrContains((*before)["message"].AsString(), set);
  if (settled || IsComplete(status, deployment.spec()["replicas"].AsInt(1))) {
    return {"Progressing", "True", kComplete, set + "has successfully progressed."};
  }
  if (HasMoved(deployment.status(), status) || before == nullptr || reason == kComplete) {
    return {.type = "Progressing",
            .status = "True",
            .reason = kMoving,
            .message = set + "is progressing.",
            .touch = true};
  }
  if (reason == kTimedOut || now >= RolloutDeadline(deployment)) {
    return {"Progressing", "False", kTimedOut, set + "has timed out progressing."};
  }
  return {"Progressing", "True", kMoving, set + "is progressing."};
}

}  // namespace

RolloutLimits LimitsOf(const kube::Object& deployment) {
  const json::Value& rolling = deployment.spec()["strategy"]["rollingUpdate"];
  const int64_t replicas = deployment.spec()["replicas"].AsInt(1);
  RolloutLimits limits;
  limits.max_surge = Scaled(rolling["maxSurge"], replicas, /*round_up=*/true);
  limits.max_unavailable =
      std::min(replicas, Scaled(rolling["maxUnavailable"], replicas, /*round_up=*/false));
  // With both rounded to zero the rollout could never begin.
  if (limits.max_surge == 0 && limits.max_unavailable == 0) limits.max_unavailable = 1;
  return limits;
}

SetState SetState::Of(const kube::Object& set) {
  const json::Value& status = set.status();
  return {set.spec()["replicas"].AsInt(1), status["replicas"].AsInt(),
          status["readyReplicas"].AsInt(), status["availableReplicas"].AsInt()};
}

RolloutStep NextStep(const RolloutState& state) {
  RolloutStep step;
  step.current = CurrentNext(state);
  for (const SetState& set : state.old) step.old.push_back(set.wanted);
  // One direction in a step, so that the surge and the availability are judged from counts that the
  // sets have reported.
  if (step.current == state.current.wanted) ScaleOldDown(state, step);
  return step;
}

json::Value RolloutStatus(const kube::Object& deployment, const RolloutState& state,
                          const std::string& current_name, absl::Time now) {
  json::Value status = Counts(deployment, state);
  json::Value conditions = deployment.status()["conditions"];
  const bool available =
      status["availableReplicas"].AsInt() >= state.replicas - state.limits.max_unavailable;
  SetWorkloadCondition(conditions,
                       available
                           ? WorkloadCondition{"Available", "True", "MinimumReplicasAvailable",
                                               "Deployment has minimum availability."}
                           : WorkloadCondition{"Available", "False", "MinimumReplicasUnavailable",
                                               "Deployment does not have minimum availability."},
                       now);
  if (!deployment.spec()["progressDeadlineSeconds"].is_null()) {
    SetWorkloadCondition(conditions, Progress(deployment, status, current_name, now), now);
  }
  status.Set("conditions", std::move(conditions));
  return status;
}

absl::Time RolloutDeadline(const kube::Object& deployment) {
  const json::Value* progress =
      kube::FindCondition(deployment.status()["conditions"], "Progressing");
  const json::Value& seconds = deployment.spec()["progressDeadlineSeconds"];
  if (progress == nullptr || seconds.is_null()) return absl::InfiniteFuture();
  // The deadline runs only while a rollout moves, from the last progress that was noted.
  if ((*progress)["reason"].AsString() != kMoving) return absl::InfiniteFuture();
  const auto since = kube::ParseTime((*progress)["lastUpdateTime"].AsString());
  return since.ok() ? *since + absl::Seconds(seconds.AsInt()) : absl::InfiniteFuture();
}

}  // namespace sandbox
