// ResourceBinding and ClusterResourceBinding (work.karmada.io/v1alpha2): which template goes to
// which clusters with how many replicas.
//
// BindingView reads one binding; the structs below are codecs of its parts. No code writes a
// binding as a whole: writers patch the fields they own, so fields that this program does not know
// survive.
//
//   api::BindingView binding(*object);
//   for (const std::string& cluster : binding.ExpectedClusters()) ...
#ifndef API_BINDING_H_
#define API_BINDING_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/object_reference.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// An item of spec.clusters. Replicas 0 is absent in JSON.
struct TargetCluster {
  std::string name;
  int64_t replicas = 0;
  // What else the item has, such as `components` (since Karmada v1.19); null for nothing.
  json::Value others = {};

  static TargetCluster FromJson(const json::Value& item);
  json::Value ToJson() const;
  // Compares name and replicas.
  friend bool operator==(const TargetCluster& a, const TargetCluster& b) {
    return a.name == b.name && a.replicas == b.replicas;
  }
};
std::vector<TargetCluster> TargetClustersFromJson(const json::Value& list);
// Returns null for an empty list, so that a merge patch removes the field.
json::Value TargetClustersToJson(absl::Span<const TargetCluster> clusters);

// An item of spec.requiredBy: where another binding, which depends on this one, is scheduled.
struct BindingSnapshot {
  std::string ns, name;
  std::vector<TargetCluster> clusters;
  json::Value others = {};  // What else the item has; null for nothing.

  static BindingSnapshot FromJson(const json::Value& item);
  json::Value ToJson() const;
};

// An item of spec.gracefulEvictionTasks, read-only; `json` is the whole item.
struct EvictionTask {
  std::string from_cluster;
  std::string purge_mode;
  json::Value json;

  static EvictionTask FromJson(const json::Value& item);
  // Returns whether the Work is removed before its replacement is healthy (purge mode Directly, or
  // Immediately).
  bool PurgesAtOnce() const;
  // Returns whether the Work stays until its replacement is healthy.
  bool KeepsWork() const;
  // Returns whether the workload has left already, and the task only keeps it away (KeepsAway).
  // Neither of the above holds for such a task.
  bool KeepsAway() const;
};

// An item of status.aggregatedStatus.
struct AggregatedStatusItem {
  std::string cluster_name;
  json::Value status;  // Null when there is none.
  bool applied = false;
  std::string applied_message;
  std::string health;  // "Healthy", "Unhealthy", "Unknown" or "".

  static AggregatedStatusItem FromJson(const json::Value& item);
  json::Value ToJson() const;
  friend bool operator==(const AggregatedStatusItem&, const AggregatedStatusItem&) = default;
};
// Values of AggregatedStatusItem::health and of a Work's manifestStatuses[].health.
inline constexpr char kHealthy[] = "Healthy";
inline constexpr char kUnhealthy[] = "Unhealthy";
inline constexpr char kHealthUnknown[] = "Unknown";

// Values of spec.conflictResolution.
inline constexpr char kResolveAbort[] = "Abort";
inline constexpr char kResolveOverwrite[] = "Overwrite";

// Reads one binding of either scope. The object must outlive the view and stay unchanged.
class BindingView {
 public:
  explicit BindingView(const kube::Object& object) : object_(object) {}
  explicit BindingView(kube::Object&&) = delete;

  const kube::Object& object() const { return object_; }
  // Returns the label that the admission webhook sets and that the binding's Works also have; ""
  // when it is missing.
  absl::string_view PermanentId() const;

  ObjectReference Resource() const { return ObjectReference::FromJson(spec()["resource"]); }
  bool PropagateDeps() const { return spec()["propagateDeps"].AsBool(); }
  const json::Value& Placement() const { return spec()["placement"]; }
  // Returns whether spec.placement divides replicas. Without replicaScheduling they are duplicated.
  bool IsDivided() const;
  int64_t Replicas() const { return spec()["replicas"].AsInt(); }
  const json::Value& ReplicaRequirements() const { return spec()["replicaRequirements"]; }
  const json::Value& Components() const { return spec()["components"]; }
  // Returns whether the binding has replicas, requirements or components. A Deployment with 0
  // replicas and no requests is not a workload.
  bool IsWorkload() const;
  absl::string_view SchedulerName() const { return spec()["schedulerName"].AsString(); }
  // Returns kResolveAbort or kResolveOverwrite.
  absl::string_view ConflictResolution() const;
  // nullopt means that the member objects are deleted.
  std::optional<bool> PreserveResourcesOnDeletion() const;

  // Returns spec.clusters, each cluster once; the first occurrence determines its replicas.
  std::vector<TargetCluster> Clusters() const;
  std::vector<BindingSnapshot> RequiredBy() const;
  std::vector<EvictionTask> EvictionTasks() const;
  // Returns the clusters that get a Work: spec.clusters, then those of requiredBy that are not
  // among them. The first occurrence of a cluster determines its replicas.
  std::vector<TargetCluster> DispatchTargets() const;
  // Returns the clusters whose Work may exist: the targets, and those that are being evicted
  // gracefully.
  std::set<std::string> ExpectedClusters() const;
  // Returns the clusters whose Work must be removed before other Works are written.
  std::set<std::string> ClustersPurgedAtOnce() const;

  // Returns when a new scheduling of the binding was last asked for; "" stands for never.
  absl::string_view RescheduleTriggeredAt() const {
    return spec()["rescheduleTriggeredAt"].AsString();
  }

  bool IsSchedulingSuspended() const;
  // Returns whether the binding suspends dispatching to this cluster, or to all.
  bool IsDispatchingSuspended(absl::string_view cluster) const;

  const json::Value& Conditions() const { return object_.status()["conditions"]; }
  const json::Value& AggregatedStatus() const { return object_.status()["aggregatedStatus"]; }
  std::vector<AggregatedStatusItem> AggregatedItems() const;
  // Returns "" until the scheduler has placed the binding for the first time.
  absl::string_view LastScheduledTime() const;
  int64_t SchedulerObservedGeneration() const;

 private:
  const json::Value& spec() const { return object_.spec(); }

  const kube::Object& object_;
};

// Sets spec.rescheduleTriggeredAt, so that the scheduler places the binding again if it has last
// done so earlier. `time` is in the form of Kubernetes' times.
void SetRescheduleTriggeredAt(kube::Object& binding, absl::string_view time);

}  // namespace api

#endif  // API_BINDING_H_
