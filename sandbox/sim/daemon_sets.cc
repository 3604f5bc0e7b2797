// A pass deletes the pods that have finished or stand on nodes where the set has no place, creates
// one on each node that lacks one, and, when all are there and ready, deletes one of an older
// template, which the next pass creates again; with OnDelete that last step is left to the user.
// The status is written last. A change of a pod queues its set, and a change of which nodes there
// are, or of their labels, queues all sets. Nothing is remembered between passes.

#include "sandbox/sim/daemon_sets.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kRevisionLabel[] = "controller-revision-hash";

std::string NodeOf(const kube::Object& pod) { return pod.spec()["nodeName"].ToString(); }

// Returns the value of the label that pods of the present template have.
std::string RevisionOf(const kube::Object& set) { return TemplateHash(set.spec()["template"]); }

// Returns whether placement depends on the change: a heartbeat does not make every DaemonSet check
// its nodes.
bool MattersForPlacement(const Event& event) {
  return event.previous == nullptr || event.type == Event::Type::kDeleted ||
         event.previous->labels() != event.object->labels();
}

}  // namespace

DaemonSets::DaemonSets(Backend& backend, EventLoop& loop)
    : backend_(backend),
      nodes_("daemonset-nodes", backend, loop,
             [this](const kube::ObjectKey&) {
               NodesChanged();
               return absl::OkStatus();
             }),
      controller_("daemonset", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kinds::DaemonSets().gvr());
  controller_.WatchOwned(kinds::Pods().gvr(), "DaemonSet");
  nodes_.Watch(kinds::Nodes().gvr(), [this](const Event& event) {
    if (MattersForPlacement(event)) nodes_.Enqueue({});
  });
}

void DaemonSets::NodesChanged() {
  const auto sets = backend_.List(kinds::DaemonSets().gvr(), "", kube::LabelSelector());
  if (!sets.ok()) return;
  for (const kube::ObjectPtr& set : *sets) controller_.Enqueue(set->key());
}

absl::Status DaemonSets::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr set, FindObject(backend_, kinds::DaemonSets().gvr(), key));
  if (set == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::set<std::string> nodes, NodesFor(*set));
  if (!set->IsDeleting()) {
    ASSIGN_OR_RETURN(const Pods before, ClaimChildren(backend_, kinds::Pods().gvr(), *set));
    RETURN_IF_ERROR(Sync(*set, nodes, before));
  }
  ASSIGN_OR_RETURN(const Pods pods, ClaimChildren(backend_, kinds::Pods().gvr(), *set));
  return UpdateStatus(*set, nodes, pods);
}

absl::StatusOr<std::set<std::string>> DaemonSets::NodesFor(const kube::Object& set) {
  const json::Value& wanted = set.spec()["template"]["spec"]["nodeSelector"];
  ASSIGN_OR_RETURN(const Pods nodes,
                   backend_.List(kinds::Nodes().gvr(), "", kube::LabelSelector()));
  std::set<std::string> names;
  for (const kube::ObjectPtr& node : nodes) {
    if (HasLabels(node->labels(), wanted)) names.emplace(node->name());
  }
  return names;
}

absl::Status DaemonSets::Sync(const kube::Object& set, const std::set<std::string>& nodes,
                              const Pods& pods) {
  const std::string revision = RevisionOf(set);
  const bool rolling = set.spec()["updateStrategy"]["type"].AsString() != "OnDelete";
  std::set<std::string> missing = nodes;
  bool all_ready = true;
  kube::ObjectPtr outdated;
  for (const kube::ObjectPtr& pod : pods) {
    // A node keeps the first active pod; a second one, one that has finished, and one on a node
    // that is not selected any more are deleted.
    const bool wanted = IsActivePod(*pod) && missing.erase(NodeOf(*pod)) > 0;
    if (!wanted) {
      RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *pod));
      continue;
    }
    all_ready = all_ready && IsReadyPod(*pod);
    if (pod->Label(kRevisionLabel) != revision) outdated = pod;
  }
  for (const std::string& node : missing) {
    kube::Object pod = PodOf(set, "");
    pod.SetLabel(kRevisionLabel, revision);
    pod.Set({"spec", "nodeName"}, node);
    RETURN_IF_ERROR(
        CreatePod(backend_, set, std::move(pod), {"daemonset-controller", controller_.Now()}));
  }
  if (!rolling || outdated == nullptr || !all_ready || !missing.empty()) return absl::OkStatus();
  // Pods are replaced one at a time.
  return DeleteAsRead(backend_, kinds::Pods().gvr(), *outdated);
}

absl::Status DaemonSets::UpdateStatus(const kube::Object& set, const std::set<std::string>& nodes,
                                      const Pods& pods) {
  const std::string revision = RevisionOf(set);
  Pods scheduled;
  int64_t updated = 0, misplaced = 0;
  for (const kube::ObjectPtr& pod : pods) {
    if (!IsActivePod(*pod)) continue;
    if (nodes.count(NodeOf(*pod)) == 0) {
      ++misplaced;
      continue;
    }
    scheduled.push_back(pod);
    if (pod->Label(kRevisionLabel) == revision) ++updated;
  }
  const PodCounts counts =
      CountPods(scheduled, set.spec()["minReadySeconds"].AsInt(), controller_.Now());
  if (counts.next_available != absl::InfiniteDuration()) {
    controller_.EnqueueAfter(set.key(), counts.next_available);
  }
  const auto desired = static_cast<int64_t>(nodes.size());
  json::Value status =
      json::Value::Object({{"observedGeneration", set.generation()},
                           {"currentNumberScheduled", static_cast<int64_t>(scheduled.size())},
                           {"desiredNumberScheduled", desired},
                           {"numberMisscheduled", misplaced},
                           {"numberReady", counts.ready}});
  const auto put = [&](absl::string_view name, int64_t value) {
    if (value > 0) status.Set(name, value);
  };
  put("numberAvailable", counts.available);
  put("numberUnavailable", desired - counts.available);
  put("updatedNumberScheduled", updated);
  return WriteStatus(backend_, kinds::DaemonSets().gvr(), set, std::move(status));
}

}  // namespace sandbox
