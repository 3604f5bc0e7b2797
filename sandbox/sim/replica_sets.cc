#include "sandbox/sim/replica_sets.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kReplicaFailure[] = "ReplicaFailure";

// Pods with a lower rank, which do less, are deleted first.
auto DeletionRank(const kube::ObjectPtr& pod) {
  return std::make_tuple(!pod->spec()["nodeName"].AsString().empty(), IsReadyPod(*pod),
                         // Of equal ones, that which was changed last.
                         -kube::ResourceVersionOf(*pod));
}

std::vector<kube::ObjectPtr> ActiveOf(std::vector<kube::ObjectPtr> pods) {
  std::erase_if(pods, [](const kube::ObjectPtr& pod) { return !IsActivePod(*pod); });
  return pods;
}

}  // namespace

ReplicaSets::ReplicaSets(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("replicaset", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kinds::ReplicaSets().gvr());
  controller_.WatchOwned(kinds::Pods().gvr(), "ReplicaSet");
}

absl::Status ReplicaSets::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr set,
                   FindObject(backend_, kinds::ReplicaSets().gvr(), key));
  if (set == nullptr) return absl::OkStatus();
  absl::Status scaled;
  if (!set->IsDeleting()) {
    ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> pods,
                     ClaimChildren(backend_, kinds::Pods().gvr(), *set));
    scaled = Scale(*set, ActiveOf(std::move(pods)));
  }
  // Written also after a failure, which the Deployment shows; the error then brings the next try.
  RETURN_IF_ERROR(UpdateStatus(*set, scaled));
  return scaled;
}

absl::Status ReplicaSets::Scale(const kube::Object& set, std::vector<kube::ObjectPtr> active) {
  const auto wanted = static_cast<size_t>(std::max<int64_t>(0, set.spec()["replicas"].AsInt(1)));
  if (active.size() < wanted) {
    return CreatePods(backend_, set, static_cast<int64_t>(wanted - active.size()),
                      {"replicaset-controller", controller_.Now()});
  }
  std::sort(active.begin(), active.end(),
            [](const auto& a, const auto& b) { return DeletionRank(a) < DeletionRank(b); });
  active.resize(active.size() - wanted);
  for (const kube::ObjectPtr& pod : active) {
    RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *pod));
  }
  return absl::OkStatus();
}

absl::Status ReplicaSets::UpdateStatus(const kube::Object& set, const absl::Status& scaled) {
  ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> pods,
                   ClaimChildren(backend_, kinds::Pods().gvr(), set));
  pods = ActiveOf(std::move(pods));
  const PodCounts counts =
      CountPods(pods, set.spec()["minReadySeconds"].AsInt(), controller_.Now());
  if (counts.next_available != absl::InfiniteDuration()) {
    controller_.EnqueueAfter(set.key(), counts.next_available);
  }
  int64_t labelled = 0;
  for (const kube::ObjectPtr& pod : pods) {
    if (HasLabels(pod->labels(), set.spec()["template"]["metadata"]["labels"])) ++labelled;
  }
  json::Value status = json::Value::Object({{"replicas", static_cast<int64_t>(pods.size())},
                                            {"terminatingReplicas", 0},
                                            {"observedGeneration", set.generation()}});
  if (labelled > 0) status.Set("fullyLabeledReplicas", labelled);
  if (counts.ready > 0) status.Set("readyReplicas", counts.ready);
  if (counts.available > 0) status.Set("availableReplicas", counts.available);
  if (!scaled.ok()) {
    // The message names a pod that is another one each time, so the first one stays.
    json::Value conditions = set.status()["conditions"];
    if (!kube::IsConditionTrue(conditions, kReplicaFailure)) {
      kube::SetCondition(conditions,
                         {kReplicaFailure, "True", "FailedCreate", ErrorOf(scaled).message},
                         controller_.Now());
    }
    status.Set("conditions", std::move(conditions));
  }
  return WriteStatus(backend_, kinds::ReplicaSets().gvr(), set, std::move(status));
}

}  // namespace sandbox
