#include "controllers/graceful_eviction/task_assessment.h"

#include <algorithm>
#include <utility>

#include "api/binding.h"
#include "api/eviction.h"
#include "api/keys.h"

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
  const std::vector<api::AggregatedStatusItem> items = binding.AggregatedItems();
  const std::vector<api::TargetCluster> clusters = binding.Clusters();
  return std::all_of(clusters.begin(), clusters.end(), [&](const api::TargetCluster& cluster) {
    const auto item = std::find_if(items.begin(), items.end(), [&](const auto& candidate) {
      return candidate.cluster_name == cluster.name;
    });
    return item != items.end() && item->health == api::kHealthy;
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

// The labels are injected only as long as the workload is on its way.
json::Value KeepingAway(json::Value task) {
  task.Set("message", api::kKeepsAwayMessage);
  task.Erase("preservedLabelState");
  return task;
}

}  // namespace

TaskAssessment AssessTasks(const kube::Object& binding, absl::Time now, absl::Duration timeout,
                           const KeepAwayFn& keep_away) {
  const api::BindingView view(binding);
  const bool has_moved = IsPlaced(view) && IsHealthyEverywhere(view);
  TaskAssessment result;
  for (const json::Value& task : binding.Get({"spec", "gracefulEvictionTasks"}).items()) {
    const std::string cluster = task["fromCluster"].ToString();
    if (api::KeepsAway(task)) {
      if (keep_away(cluster)) result.kept.Append(task);
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
      if (IsOfTaintManager(task) && keep_away(cluster)) result.kept.Append(KeepingAway(task));
      continue;
    }
    json::Value kept = task;
    if (!created.ok()) kept.Set("creationTimestamp", kube::FormatTime(now));
    result.kept.Append(std::move(kept));
    if (!suppressed.is_bool()) result.next = std::min(result.next.value_or(left), left);
  }
  return result;
}

}  // namespace controllers
