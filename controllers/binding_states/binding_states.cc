#include "controllers/binding_states/binding_states.h"

#include <map>
#include <set>

#include "api/binding.h"
#include "api/keys.h"

namespace controllers {
namespace {

absl::Time TimeAt(const json::Value& text) {
  const auto time = kube::ParseTime(text.AsString());
  return time.ok() ? *time : absl::InfinitePast();
}

// Returns since when the condition is False; absl::InfinitePast() when it is not.
absl::Time FalseSince(const api::BindingView& binding, absl::string_view type) {
  const json::Value* condition = kube::FindCondition(binding.Conditions(), type);
  const bool is_false = condition != nullptr && (*condition)["status"].AsString() == "False";
  return is_false ? TimeAt((*condition)["lastTransitionTime"]) : absl::InfinitePast();
}

// Returns whether the scheduler is to place the binding and has not. Dependencies follow others.
bool IsUnscheduled(const api::BindingView& binding) {
  if (binding.Placement().is_null()) return false;
  return !kube::IsConditionTrue(binding.Conditions(), api::kBindingScheduled);
}

StateInCluster Unscheduled(const api::BindingView& binding) {
  const absl::Time refused = FalseSince(binding, api::kBindingScheduled);
  const bool is_refused = refused != absl::InfinitePast();
  return {"", BindingState::kUnscheduled,
          is_refused ? refused : TimeAt(binding.object().metadata()["creationTimestamp"])};
}

}  // namespace

absl::string_view NameOf(BindingState state) {
  switch (state) {
    case BindingState::kUnscheduled:
      return "unscheduled";
    case BindingState::kNotApplied:
      return "not_applied";
    case BindingState::kUnhealthy:
      return "unhealthy";
    case BindingState::kSuspended:
      return "suspended";
    case BindingState::kEvicting:
      break;
  }
  return "evicting";
}

std::vector<StateInCluster> StatesOf(const kube::Object& object) {
  std::vector<StateInCluster> states;
  if (object.IsDeleting()) return states;
  const api::BindingView binding(object);
  if (binding.IsSchedulingSuspended()) {
    states.push_back({"", BindingState::kSuspended});
  } else if (IsUnscheduled(binding)) {
    states.push_back(Unscheduled(binding));
  }
  std::map<std::string, const json::Value*> reported;
  for (const json::Value& item : binding.AggregatedStatus().items()) {
    reported[item["clusterName"].ToString()] = &item;
  }
  std::set<std::string> seen;
  const absl::Time not_applied_since = FalseSince(binding, api::kBindingFullyApplied);
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    seen.insert(target.name);
    const auto found = reported.find(target.name);
    const bool applied = found != reported.end() && (*found->second)["applied"].AsBool();
    if (binding.IsDispatchingSuspended(target.name)) {
      states.push_back({target.name, BindingState::kSuspended});
    } else if (!applied) {
      states.push_back({target.name, BindingState::kNotApplied, not_applied_since});
    } else if ((*found->second)["health"].AsString() == api::kUnhealthy) {
      states.push_back({target.name, BindingState::kUnhealthy});
    }
  }
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (task.KeepsAway() || !seen.insert(task.from_cluster).second) continue;
    states.push_back(
        {task.from_cluster, BindingState::kEvicting, TimeAt(task.json["creationTimestamp"])});
  }
  return states;
}

}  // namespace controllers
