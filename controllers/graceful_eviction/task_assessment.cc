#include "controllers/graceful_eviction/task_assessment.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "api/binding.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/preserved_state.h"

namespace controllers {
namespace {

// Returns whether the scheduler has placed the binding as it is now. An empty spec.clusters is a
// placement only if the scheduler reports success: it is also empty when no cluster was found.
bool IsPlaced(const api::BindingView& binding) {
  if (binding.SchedulerObservedGeneration() != binding.object().generation()) return false;
  return !binding.Clusters().empty() ||
         kube::IsConditionTrue(binding.Conditions(), api::kBindingScheduled);
}

bool IsHealthyEverywhere(const api::BindingView& binding) {
  absl::flat_hash_map<std::string, bool> is_healthy;
  for (api::AggregatedStatusItem& item : binding.AggregatedItems()) {
    is_healthy.try_emplace(std::move(item.cluster_name), item.health == api::kHealthy);
  }
  const std::vector<api::TargetCluster> clusters = binding.Clusters();
  return std::all_of(clusters.begin(), clusters.end(), [&](const api::TargetCluster& cluster) {
    const auto found = is_healthy.find(cluster.name);
    return found != is_healthy.end() && found->second;
  });
}

absl::Duration GraceOf(const json::Value& task, absl::Duration timeout) {
  const json::Value& seconds = task["gracePeriodSeconds"];
  return seconds.is_number() ? absl::Seconds(seconds.AsInt()) : timeout;
}

bool IsOfTaintManager(const json::Value& task) {
  return task["producer"].AsString() == api::kTaintManagerProducer &&
         task["reason"].AsString() == api::reason::kTaintUntolerated &&
         !task["suppressDeletion"].is_bool();
}

// Returns the task with a purge mode that every server accepts.
json::Value Renewed(json::Value task) {
  api::RenewPurgeMode(task);
  return task;
}

// The labels are injected only as long as the workload is on its way.
json::Value KeepingAway(json::Value task) {
  task.Set("message", api::kKeepsAwayMessage);
  task.Erase("preservedLabelState");
  return task;
}

// Takes over what an ended task has preserved, if anything.
void Preserve(const json::Value& task, json::Value& preserved_state) {
  json::Value state = api::PreservedStateOf(api::EvictionTask::FromJson(task));
  if (!state.is_null()) preserved_state = std::move(state);
}

}  // namespace

TaskAssessment AssessTasks(const kube::Object& binding, absl::Time now, absl::Duration timeout,
                           const OverdueTaintsFn& overdue) {
  const api::BindingView view(binding);
  const bool has_moved = IsPlaced(view) && IsHealthyEverywhere(view);
  TaskAssessment result;
  if (!has_moved) result.preserved_state = api::KeptPreservedState(binding);
  result.left_tainted = LeftTaintedClusters(binding);
  std::erase_if(result.left_tainted, [&](const auto& left) {
    const std::optional<TaintTimes> taints = overdue(left.first);
    return !taints || taints->first > left.second;  // Another taint than those that it has left.
  });
  for (const json::Value& task : binding.Get({"spec", "gracefulEvictionTasks"}).items()) {
    const std::string cluster = task["fromCluster"].ToString();
    if (api::KeepsAway(task)) {
      if (overdue(cluster)) result.kept.Append(Renewed(task));
      continue;
    }
    const auto created = kube::ParseTime(task["creationTimestamp"].AsString());
    const json::Value& suppressed = task["suppressDeletion"];
    const absl::Duration left = created.value_or(now) + GraceOf(task, timeout) - now;
    const bool ends =
        created.ok() &&
        (suppressed.is_bool() ? !suppressed.AsBool() : left <= absl::ZeroDuration() || has_moved);
    if (ends) {
      result.evicted.push_back(cluster);
      if (!has_moved && !suppressed.is_bool()) Preserve(task, result.preserved_state);
      const std::optional<TaintTimes> taints =
          IsOfTaintManager(task) ? overdue(cluster) : std::nullopt;
      if (!taints) continue;
      const bool is_first = result.left_tainted.try_emplace(cluster, taints->last).second;
      if (!is_first) result.kept.Append(KeepingAway(Renewed(task)));
      continue;
    }
    json::Value kept = Renewed(task);
    if (!created.ok()) kept.Set("creationTimestamp", kube::FormatTime(now));
    result.kept.Append(std::move(kept));
    if (!suppressed.is_bool()) result.next = std::min(result.next.value_or(left), left);
  }
  return result;
}

}  // namespace controllers
