// Reads and writes the parts of a binding. Reading never fails: a field that is absent, or has a
// type that it should not have, reads as its default, because users and other programs write
// bindings, too, and a view is read in the middle of a pass that has to go on. Nothing is cached:
// every call walks the JSON of the object again.
//
// Three lists of clusters are easily confused. Clusters() is what the scheduler has chosen.
// DispatchTargets() adds the clusters in which other bindings need this object. ExpectedClusters()
// adds those that are being evicted gracefully: a Work in any other cluster is an orphan.

#include "api/binding.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/known_fields.h"

namespace api {

namespace {

// T is one of the codecs of the header.
template <class T>
std::vector<T> ListFromJson(const json::Value& list) {
  std::vector<T> out;
  out.reserve(list.size());
  for (const json::Value& item : list.items()) out.push_back(T::FromJson(item));
  return out;
}

}  // namespace

TargetCluster TargetCluster::FromJson(const json::Value& item) {
  return {item["name"].ToString(), item["replicas"].AsInt(),
          UnknownMembers(item, {"name", "replicas"})};
}

json::Value TargetCluster::ToJson() const {
  json::Value out = others;
  out.Set("name", name);
  if (replicas != 0) out.Set("replicas", replicas);
  return out;
}

std::vector<TargetCluster> TargetClustersFromJson(const json::Value& list) {
  return ListFromJson<TargetCluster>(list);
}

json::Value TargetClustersToJson(absl::Span<const TargetCluster> clusters) {
  // In a merge patch null removes the field, where an empty list would be written.
  if (clusters.empty()) return nullptr;
  json::Value out = json::Value::Array();
  for (const TargetCluster& cluster : clusters) out.Append(cluster.ToJson());
  return out;
}

BindingSnapshot BindingSnapshot::FromJson(const json::Value& item) {
  return {item["namespace"].ToString(), item["name"].ToString(),
          TargetClustersFromJson(item["clusters"]),
          UnknownMembers(item, {"namespace", "name", "clusters"})};
}

json::Value BindingSnapshot::ToJson() const {
  json::Value out = others;
  out.Set("name", name);
  if (!ns.empty()) out.Set("namespace", ns);
  if (!clusters.empty()) out.Set("clusters", TargetClustersToJson(clusters));
  return out;
}

EvictionTask EvictionTask::FromJson(const json::Value& item) {
  return {item["fromCluster"].ToString(), item["purgeMode"].ToString(), item};
}

bool EvictionTask::PurgesAtOnce() const {
  return !KeepsAway() && CurrentPurgeMode(purge_mode) == kPurgeDirectly;
}

// An unknown purge mode counts as Gracefully, so that a Work is rather kept too long than removed
// too early.
bool EvictionTask::KeepsWork() const { return !KeepsAway() && !PurgesAtOnce(); }

bool EvictionTask::KeepsAway() const { return api::KeepsAway(json); }

AggregatedStatusItem AggregatedStatusItem::FromJson(const json::Value& item) {
  return {item["clusterName"].ToString(), item["status"], item["applied"].AsBool(),
          item["appliedMessage"].ToString(), item["health"].ToString()};
}

json::Value AggregatedStatusItem::ToJson() const {
  json::Value out = json::Value::Object({{"clusterName", cluster_name}});
  if (!status.is_null()) out.Set("status", status);
  if (applied) out.Set("applied", true);
  if (!applied_message.empty()) out.Set("appliedMessage", applied_message);
  if (!health.empty()) out.Set("health", health);
  return out;
}

// Upstream has one label for each of the two kinds.
absl::string_view BindingView::PermanentId() const {
  return object_.Label(object_.ns().empty() ? kClusterResourceBindingIdLabel
                                            : kResourceBindingIdLabel);
}

bool BindingView::IsDivided() const {
  return Placement().Get({"replicaScheduling", "replicaSchedulingType"}).AsString() == "Divided";
}

bool BindingView::IsWorkload() const {
  // A workload that is scaled to zero is recognised by its requirements.
  return Replicas() > 0 || !ReplicaRequirements().is_null() || !Components().empty();
}

absl::string_view BindingView::ConflictResolution() const {
  // What is not Overwrite must not overwrite anything: an unknown value is Abort.
  const absl::string_view value = spec()["conflictResolution"].AsString();
  return value == kResolveOverwrite ? kResolveOverwrite : kResolveAbort;
}

std::optional<bool> BindingView::PreserveResourcesOnDeletion() const {
  const json::Value& preserve = spec()["preserveResourcesOnDeletion"];
  // "Not set" and "false" differ: of several bindings that need one object, only those that set it
  // can contradict each other.
  if (!preserve.is_bool()) return std::nullopt;
  return preserve.AsBool();
}

std::vector<TargetCluster> BindingView::Clusters() const {
  // Users write the list, and may write a name any number of times.
  std::vector<TargetCluster> targets;
  absl::flat_hash_set<absl::string_view> names;
  for (const json::Value& item : spec()["clusters"].items()) {
    if (names.insert(item["name"].AsString()).second) {
      targets.push_back(TargetCluster::FromJson(item));
    }
  }
  return targets;
}

std::vector<BindingSnapshot> BindingView::RequiredBy() const {
  return ListFromJson<BindingSnapshot>(spec()["requiredBy"]);
}

std::vector<EvictionTask> BindingView::EvictionTasks() const {
  return ListFromJson<EvictionTask>(spec()["gracefulEvictionTasks"]);
}

std::vector<TargetCluster> BindingView::DispatchTargets() const {
  std::vector<TargetCluster> targets = Clusters();
  // Most bindings are required by none: no set is built for them.
  if (spec()["requiredBy"].empty()) return targets;
  // Users write the list, and may write any number of names.
  absl::flat_hash_set<std::string> names;
  for (const TargetCluster& target : targets) names.insert(target.name);
  for (const BindingSnapshot& referrer : RequiredBy()) {
    for (const TargetCluster& cluster : referrer.clusters) {
      if (names.insert(cluster.name).second) targets.push_back(cluster);
    }
  }
  return targets;
}

std::set<std::string> BindingView::ExpectedClusters() const {
  std::set<std::string> expected;
  for (TargetCluster& target : DispatchTargets()) expected.insert(std::move(target.name));
  for (const EvictionTask& task : EvictionTasks()) {
    // The old Work serves until its replacement is healthy. A task that only keeps the workload
    // away has no Work any more.
    if (task.KeepsWork()) expected.insert(task.from_cluster);
  }
  return expected;
}

std::set<std::string> BindingView::ClustersPurgedAtOnce() const {
  std::set<std::string> clusters;
  for (const EvictionTask& task : EvictionTasks()) {
    if (task.PurgesAtOnce()) clusters.insert(task.from_cluster);
  }
  return clusters;
}

bool BindingView::IsSchedulingSuspended() const {
  return object_.Get({"spec", "suspension", "scheduling"}).AsBool();
}

bool BindingView::IsDispatchingSuspended(absl::string_view cluster) const {
  const json::Value& suspension = spec()["suspension"];
  if (suspension["dispatching"].AsBool()) return true;
  const auto names = suspension.Get({"dispatchingOnClusters", "clusterNames"}).items();
  return std::any_of(names.begin(), names.end(),
                     [&](const json::Value& name) { return name.AsString() == cluster; });
}

std::vector<AggregatedStatusItem> BindingView::AggregatedItems() const {
  return ListFromJson<AggregatedStatusItem>(AggregatedStatus());
}

absl::string_view BindingView::LastScheduledTime() const {
  return object_.status()["lastScheduledTime"].AsString();
}

int64_t BindingView::SchedulerObservedGeneration() const {
  return object_.status()["schedulerObservedGeneration"].AsInt();
}

void SetRescheduleTriggeredAt(kube::Object& binding, absl::string_view time) {
  binding.Set({"spec", "rescheduleTriggeredAt"}, time);
}

}  // namespace api
