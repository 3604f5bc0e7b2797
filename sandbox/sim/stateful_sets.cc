// A pass makes the first of these steps that has something to do: it deletes a pod that has
// finished, creates missing pods in the order of their ordinals, deletes the pods that are too many
// from the highest ordinal down, or deletes one pod of an older template, which is then created
// again. An ordered set creates or deletes one pod in a pass, and creates none while an earlier one
// is not ready; a template is rolled out from the highest ordinal down to the partition, and only
// while the pods above are ready. The events of the pods bring the next pass. The current revision
// becomes that of the template when all pods have it and are ready; only the status remembers the
// one before.

#include "sandbox/sim/stateful_sets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kRevisionLabel[] = "controller-revision-hash";

bool IsOrdered(const kube::Object& set) {
  return set.spec()["podManagementPolicy"].AsString() != "Parallel";
}

int64_t First(const kube::Object& set) { return set.spec()["ordinals"]["start"].AsInt(); }
int64_t End(const kube::Object& set) { return First(set) + set.spec()["replicas"].AsInt(1); }

std::string RevisionOf(const kube::Object& set) {
  return absl::StrCat(set.name(), "-", TemplateHash(set.spec()["template"]));
}

// Returns -1 when the name is not one of the set's.
int64_t OrdinalOf(const kube::Object& set, const kube::Object& pod) {
  absl::string_view rest = pod.name();
  int64_t ordinal = -1;
  if (!absl::ConsumePrefix(&rest, absl::StrCat(set.name(), "-"))) return -1;
  return absl::SimpleAtoi(rest, &ordinal) ? ordinal : -1;
}

kube::Object PodWithOrdinal(const kube::Object& set, int64_t ordinal) {
  const std::string name = absl::StrCat(set.name(), "-", ordinal);
  kube::Object pod = PodOf(set, name);
  pod.SetLabel(kRevisionLabel, RevisionOf(set));
  pod.SetLabel("statefulset.kubernetes.io/pod-name", name);
  pod.SetLabel("apps.kubernetes.io/pod-index", absl::StrCat(ordinal));
  pod.Set({"spec", "hostname"}, name);
  const json::Value& service = set.spec()["serviceName"];
  if (!service.AsString().empty()) pod.Set({"spec", "subdomain"}, service);
  return pod;
}

}  // namespace

StatefulSets::StatefulSets(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("statefulset", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kinds::StatefulSets().gvr());
  controller_.WatchOwned(kinds::Pods().gvr(), "StatefulSet");
}

absl::Status StatefulSets::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr set,
                   FindObject(backend_, kinds::StatefulSets().gvr(), key));
  if (set == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(PodsByOrdinal pods, PodsOf(*set));
  if (!set->IsDeleting()) {
    ASSIGN_OR_RETURN(const bool changed, Step(*set, pods));
    if (changed) {
      // The status counts the pods as they are after the step.
      ASSIGN_OR_RETURN(pods, PodsOf(*set));
    }
  }
  return UpdateStatus(*set, pods);
}

absl::StatusOr<StatefulSets::PodsByOrdinal> StatefulSets::PodsOf(const kube::Object& set) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> all,
                   ClaimChildren(backend_, kinds::Pods().gvr(), set));
  PodsByOrdinal pods;
  for (const kube::ObjectPtr& pod : all) {
    const int64_t ordinal = OrdinalOf(set, *pod);
    if (ordinal >= 0) pods[ordinal] = pod;
  }
  return pods;
}

absl::StatusOr<bool> StatefulSets::Step(const kube::Object& set, const PodsByOrdinal& pods) {
  for (const auto& [ordinal, pod] : pods) {
    if (IsActivePod(*pod) || pod->IsDeleting()) continue;
    // A finished pod is created again.
    RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *pod));
    return true;
  }
  ASSIGN_OR_RETURN(bool changed, Fill(set, pods));
  if (changed) return true;
  ASSIGN_OR_RETURN(changed, Trim(set, pods));
  if (changed) return true;
  return Replace(set, pods);
}

absl::StatusOr<bool> StatefulSets::Fill(const kube::Object& set, const PodsByOrdinal& pods) {
  bool changed = false;
  for (int64_t ordinal = First(set); ordinal < End(set); ++ordinal) {
    const auto pod = pods.find(ordinal);
    if (pod == pods.end()) {
      RETURN_IF_ERROR(CreatePod(backend_, set, PodWithOrdinal(set, ordinal),
                                {"statefulset-controller", controller_.Now()}));
      changed = true;
      if (IsOrdered(set)) return true;
    } else if (IsOrdered(set) && !IsReadyPod(*pod->second)) {
      return false;  // Its successors wait for it.
    }
  }
  return changed;
}

absl::StatusOr<bool> StatefulSets::Trim(const kube::Object& set, const PodsByOrdinal& pods) {
  bool changed = false;
  for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
    if (pod->first >= First(set) && pod->first < End(set)) continue;
    RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *pod->second));
    changed = true;
    if (IsOrdered(set)) return true;
  }
  return changed;
}

absl::StatusOr<bool> StatefulSets::Replace(const kube::Object& set, const PodsByOrdinal& pods) {
  const json::Value& strategy = set.spec()["updateStrategy"];
  if (strategy["type"].AsString() == "OnDelete") return false;
  const int64_t partition = strategy["rollingUpdate"]["partition"].AsInt();
  const std::string revision = RevisionOf(set);
  for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= partition; ++pod) {
    if (pod->second->Label(kRevisionLabel) != revision) {
      RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *pod->second));
      return true;
    }
    if (!IsReadyPod(*pod->second)) return false;  // Pods are replaced one at a time.
  }
  return false;
}

absl::Status StatefulSets::UpdateStatus(const kube::Object& set, const PodsByOrdinal& pods) {
  const std::string update = RevisionOf(set);
  // The only memory of the revision before: nothing else tells it once its last pod is replaced.
  const std::string before = set.status()["currentRevision"].ToString();
  std::vector<kube::ObjectPtr> active;
  int64_t updated = 0, old = 0;
  for (const auto& [ordinal, pod] : pods) {
    if (!IsActivePod(*pod)) continue;
    active.push_back(pod);
    const absl::string_view revision = pod->Label(kRevisionLabel);
    if (revision == update) ++updated;
    if (revision == before) ++old;
  }
  const PodCounts counts =
      CountPods(active, set.spec()["minReadySeconds"].AsInt(), controller_.Now());
  if (counts.next_available != absl::InfiniteDuration()) {
    controller_.EnqueueAfter(set.key(), counts.next_available);
  }
  const auto total = static_cast<int64_t>(active.size());
  const bool rolled_out = updated == total && counts.ready == total;
  json::Value status =
      json::Value::Object({{"observedGeneration", set.generation()},
                           {"replicas", total},
                           {"availableReplicas", counts.available},
                           {"collisionCount", 0},
                           {"currentRevision", before.empty() || rolled_out ? update : before},
                           {"updateRevision", update}});
  if (counts.ready > 0) status.Set("readyReplicas", counts.ready);
  if (updated > 0) status.Set("updatedReplicas", updated);
  const int64_t current = before.empty() || rolled_out ? updated : old;
  if (current > 0) status.Set("currentReplicas", current);
  return WriteStatus(backend_, kinds::StatefulSets().gvr(), set, std::move(status));
}

}  // namespace sandbox
