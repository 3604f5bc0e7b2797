// Evict edits a binding in memory: the cluster is taken out of spec.clusters and a task is
// appended, in one edit that the caller writes with the version it has read. So a crash leaves
// either both or neither. The graceful eviction controller does the rest, and the scheduler sees
// the task and avoids the cluster. PreservedLabelState is computed before that from the last status
// that the cluster reported; what is not in a status yet cannot be preserved, and then the caller
// does not evict. No state.

#include "controllers/eviction/eviction_task.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/preserved_state.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/meta/json_path.h"

namespace controllers {

namespace {

constexpr absl::string_view kSpec = "spec";
constexpr absl::string_view kClusters = "clusters";
constexpr absl::string_view kTasks = "gracefulEvictionTasks";

json::Value TaskOf(const Eviction& eviction, int64_t replicas) {
  json::Value task = json::Value::Object({{"fromCluster", eviction.cluster},
                                          {"producer", eviction.producer},
                                          {"reason", eviction.reason}});
  if (!eviction.purge_mode.empty()) {
    task.Set("purgeMode", api::CurrentPurgeMode(eviction.purge_mode));
  }
  if (replicas > 0) task.Set("replicas", replicas);
  if (!eviction.message.empty()) task.Set("message", eviction.message);
  if (eviction.grace_period_seconds.has_value()) {
    task.Set("gracePeriodSeconds", *eviction.grace_period_seconds);
  }
  if (eviction.suppress_deletion.has_value()) {
    task.Set("suppressDeletion", *eviction.suppress_deletion);
  }
  for (const auto& [label, value] : eviction.preserved_label_state) {
    task.Set({"preservedLabelState", label}, value);
  }
  if (!eviction.clusters_before_failover.empty()) {
    task.Set("clustersBeforeFailover", json::Value::Strings(eviction.clusters_before_failover));
  }
  return task;
}

bool HasTask(const kube::Object& binding, absl::string_view cluster) {
  const auto tasks = binding.Get({kSpec, kTasks}).items();
  return std::any_of(tasks.begin(), tasks.end(), [&](const json::Value& task) {
    return task["fromCluster"].AsString() == cluster;
  });
}

// Returns the binding and its template.
std::array<kube::InvolvedObject, 2> ConcernedBy(const kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  return {kube::InvolvedObject::Of(binding),
          {reference.api_version, reference.kind, reference.ns, reference.name, reference.uid, ""}};
}

// Returns the state with which the workload was moved to the cluster from which it is evicted now,
// if it was not healthy there: it has all labels of the rules. A task that a user has to end may be
// older than the last time at which the workload was healthy.
std::optional<LabelState> EarlierState(const json::Value& rules, const api::BindingView& binding,
                                       absl::string_view cluster, absl::string_view health) {
  if (health == api::kHealthy) return std::nullopt;
  const std::vector<api::EvictionTask> tasks = binding.EvictionTasks();
  // Such a task may be of long ago: see above.
  if (!tasks.empty() && tasks.back().json["suppressDeletion"].is_bool()) return std::nullopt;
  const json::Value labels = api::PreservedStateFor(binding, cluster);
  LabelState state;
  for (const json::Value& rule : rules.items()) {
    const json::Value* value = labels.Find(rule["aliasLabelName"].AsString());
    if (value == nullptr) return std::nullopt;
    state[rule["aliasLabelName"].ToString()] = value->ToString();
  }
  return state;
}

}  // namespace

bool Evict(kube::Object& binding, const Eviction& eviction) {
  const auto clusters = binding.Get({kSpec, kClusters}).items();
  const auto target = std::find_if(clusters.begin(), clusters.end(), [&](const json::Value& item) {
    return item["name"].AsString() == eviction.cluster;
  });
  if (target == clusters.end()) return false;
  const int64_t replicas = (*target)["replicas"].AsInt();
  const auto index = static_cast<size_t>(target - clusters.begin());

  json::Value& spec = binding.mutable_root().Mutable(kSpec);
  spec.Mutable(kClusters).EraseAt(index);
  if (spec[kClusters].empty()) spec.Erase(kClusters);
  if (HasTask(binding, eviction.cluster)) return true;
  json::Value& tasks = spec.Mutable(kTasks);
  // A server that refuses older names refuses the whole list because of one.
  for (size_t i = 0; i < tasks.items().size(); ++i) api::RenewPurgeMode(tasks.MutableAt(i));
  tasks.Append(TaskOf(eviction, replicas));
  return true;
}

absl::StatusOr<LabelState> PreservedLabelState(const json::Value& state_preservation,
                                               const api::BindingView& binding,
                                               absl::string_view cluster) {
  LabelState state;
  const auto rules = state_preservation["rules"].items();
  if (rules.empty()) return state;
  const std::vector<api::AggregatedStatusItem> items = binding.AggregatedItems();
  const auto item = std::find_if(items.begin(), items.end(), [&](const auto& candidate) {
    return candidate.cluster_name == cluster;
  });
  const absl::string_view health = item == items.end() ? "" : absl::string_view(item->health);
  std::optional<LabelState> earlier =
      EarlierState(state_preservation["rules"], binding, cluster, health);
  if (earlier.has_value()) return *std::move(earlier);
  if (item == items.end() || item->status.is_null()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the application status has not yet been collected from Cluster(", cluster, ")"));
  }
  kube::JsonPath::Budget budget;  // One for all rules, because a policy may have any number.
  for (const json::Value& rule : rules) {
    ASSIGN_OR_RETURN(const kube::JsonPath path, kube::JsonPath::Parse(rule["jsonPath"].AsString()));
    absl::StatusOr<std::string> value = path.Print(item->status, budget);
    if (!value.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("failed to execute jsonpath \"", rule["jsonPath"].AsString(),
                       "\" on the status of Cluster(", cluster, "): ", value.status().message()));
    }
    state[rule["aliasLabelName"].ToString()] = *std::move(value);
  }
  return state;
}

void ReportEvictionFailed(kube::EventRecorder& recorder, const kube::Object& binding,
                          absl::string_view cluster, const absl::Status& why) {
  if (kube::IsNoOutcome(why)) return;
  const std::string text = api::message::NotEvictedFromCluster(cluster, why);
  for (const auto& about : ConcernedBy(binding)) {
    recorder.Warning(about, api::reason::kEvictWorkloadFromClusterFailed, text);
  }
}

void ReportEvicted(kube::EventRecorder& recorder, const kube::Object& binding,
                   absl::string_view cluster) {
  const std::string text = api::message::EvictedFromCluster(cluster);
  for (const auto& about : ConcernedBy(binding)) {
    recorder.Normal(about, api::reason::kEvictWorkloadFromClusterSucceed, text);
  }
}

}  // namespace controllers
