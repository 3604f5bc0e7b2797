// A pass brings the ReplicaSet of the present template into being, with the next revision, or
// brings an earlier one with that template back with a new revision; a paused Deployment omits this
// step. It then makes one step of the rollout: NextStep for a rolling update (rollout.h), or, for
// Recreate, all old sets to zero and the new one up only once their pods are gone. Old sets without
// replicas beyond the history limit are deleted. The status comes last, from the objects as they
// are after all that. The events of the ReplicaSets bring the next pass, and a timer brings one at
// the deadline of the rollout. Nothing is remembered between passes.

#include "sandbox/sim/deployments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kReplicaFailure[] = "ReplicaFailure";

constexpr char kHashLabel[] = "pod-template-hash";
constexpr char kRevision[] = "deployment.kubernetes.io/revision";
constexpr char kDesired[] = "deployment.kubernetes.io/desired-replicas";
constexpr char kMaximum[] = "deployment.kubernetes.io/max-replicas";

// The label is of this controller, so that a template with it is the one that the user wrote.
json::Value WithoutHash(json::Value pod_template) {
  pod_template.Erase({"metadata", "labels", kHashLabel});
  return pod_template;
}

int64_t RevisionOf(const kube::Object& object) {
  int64_t revision = 0;
  return absl::SimpleAtoi(object.Annotation(kRevision), &revision) ? revision : 0;
}

RolloutState StateOf(const kube::Object& deployment, const kube::ObjectPtr& current,
                     const std::vector<kube::ObjectPtr>& old) {
  RolloutState state;
  state.replicas = deployment.spec()["replicas"].AsInt(1);
  state.limits = LimitsOf(deployment);
  if (deployment.spec()["strategy"]["type"].AsString() == "Recreate") state.limits = {};
  if (current != nullptr) state.current = SetState::Of(*current);
  for (const kube::ObjectPtr& set : old) state.old.push_back(SetState::Of(*set));
  return state;
}

// Returns the annotations for the ReplicaSet of the present template; the Deployment's own are
// copied.
json::Value SetAnnotations(const kube::Object& deployment, int64_t revision) {
  json::Value annotations = json::Value::Object();
  for (const json::Member& member : deployment.annotations().members()) {
    // These are counted for each set, or describe what kubectl applied to the Deployment alone.
    if (absl::StartsWith(member.name(), "deployment.kubernetes.io/")) continue;
    if (member.name() == "kubectl.kubernetes.io/last-applied-configuration") continue;
    annotations.Set(member.name(), member.value);
  }
  const int64_t replicas = deployment.spec()["replicas"].AsInt(1);
  annotations.Set(kRevision, absl::StrCat(revision));
  annotations.Set(kDesired, absl::StrCat(replicas));
  annotations.Set(kMaximum, absl::StrCat(replicas + LimitsOf(deployment).max_surge));
  return annotations;
}

kube::Object NewSet(const kube::Object& deployment, int64_t revision) {
  json::Value pod_template = deployment.spec()["template"];
  const std::string hash = TemplateHash(pod_template);
  pod_template.Set({"metadata", "labels", kHashLabel}, hash);
  json::Value selector = deployment.spec()["selector"];
  selector.Set({"matchLabels", kHashLabel}, hash);
  kube::Object set = kube::Object::Make(
      kinds::ReplicaSets().gvk,
      {std::string(deployment.ns()), absl::StrCat(deployment.name(), "-", hash)});
  set.Set({"metadata", "labels"}, pod_template["metadata"]["labels"]);
  set.Set({"metadata", "annotations"}, SetAnnotations(deployment, revision));
  set.Set({"metadata", "ownerReferences"}, json::Value::Array({ControllerRefTo(deployment)}));
  set.Set({"spec"}, json::Value::Object({{"replicas", 0},
                                         {"selector", std::move(selector)},
                                         {"template", std::move(pod_template)}}));
  const json::Value& min_ready = deployment.spec()["minReadySeconds"];
  if (!min_ready.is_null()) set.Set({"spec", "minReadySeconds"}, min_ready);
  return set;
}

bool IsOlder(const kube::ObjectPtr& a, const kube::ObjectPtr& b) {
  if (RevisionOf(*a) != RevisionOf(*b)) return RevisionOf(*a) < RevisionOf(*b);
  return a->name() < b->name();
}

// Takes over from the ReplicaSet that pods cannot be created.
void ShowReplicaFailure(const kube::ObjectPtr& set, absl::Time now, json::Value& status) {
  const json::Value* failure =
      set == nullptr ? nullptr : kube::FindCondition(set->status()["conditions"], kReplicaFailure);
  if (failure == nullptr && kube::FindCondition(status["conditions"], kReplicaFailure) == nullptr) {
    return;
  }
  json::Value conditions = json::Value::Array();
  for (const json::Value& condition : status["conditions"].items()) {
    const bool is_over = failure == nullptr && condition["type"].AsString() == kReplicaFailure;
    if (!is_over) conditions.Append(condition);
  }
  if (failure != nullptr) {
    SetWorkloadCondition(conditions,
                         {kReplicaFailure, "True", (*failure)["reason"].AsString(),
                          (*failure)["message"].ToString()},
                         now);
  }
  status.Set("conditions", std::move(conditions));
}

}  // namespace

Deployments::Deployments(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("deployment", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kinds::Deployments().gvr());
  controller_.WatchOwned(kinds::ReplicaSets().gvr(), "Deployment");
}

absl::Status Deployments::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr deployment,
                   FindObject(backend_, kinds::Deployments().gvr(), key));
  if (deployment == nullptr) return absl::OkStatus();
  // One that waits for its dependents still shows its status, but is not rolled out any further.
  if (!deployment->IsDeleting()) RETURN_IF_ERROR(Sync(*deployment));
  ASSIGN_OR_RETURN(const kube::ObjectPtr synced,
                   FindObject(backend_, kinds::Deployments().gvr(), key));
  if (synced == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Sets sets, SetsOf(*synced));
  return UpdateStatus(*synced, sets);
}

absl::StatusOr<Deployments::Sets> Deployments::SetsOf(const kube::Object& deployment) {
  Sets sets;
  ASSIGN_OR_RETURN(sets.old, ClaimChildren(backend_, kinds::ReplicaSets().gvr(), deployment));
  std::sort(sets.old.begin(), sets.old.end(), IsOlder);
  const json::Value wanted = WithoutHash(deployment.spec()["template"]);
  const auto current = std::find_if(sets.old.begin(), sets.old.end(), [&](const auto& set) {
    return WithoutHash(set->spec()["template"]) == wanted;
  });
  if (current == sets.old.end()) return sets;
  sets.current = *current;
  sets.old.erase(current);
  return sets;
}

absl::Status Deployments::Sync(const kube::Object& deployment) {
  ASSIGN_OR_RETURN(Sets sets, SetsOf(deployment));
  if (!deployment.spec()["paused"].AsBool()) {
    RETURN_IF_ERROR(EnsureCurrent(deployment, sets));
    ASSIGN_OR_RETURN(sets, SetsOf(deployment));
  }
  if (sets.current == nullptr) {  // The rollout was paused before its first or a new ReplicaSet.
    return sets.old.empty() ? absl::OkStatus()
                            : ScaleTo(*sets.old.back(), deployment.spec()["replicas"].AsInt(1));
  }
  const bool recreate = deployment.spec()["strategy"]["type"].AsString() == "Recreate";
  RETURN_IF_ERROR(recreate ? Recreate(deployment, sets) : Roll(deployment, sets));
  return DropHistory(deployment, sets);
}

absl::Status Deployments::EnsureCurrent(const kube::Object& deployment, const Sets& sets) {
  int64_t revision = 0;
  for (const kube::ObjectPtr& set : sets.old) revision = std::max(revision, RevisionOf(*set));
  if (sets.current == nullptr) {
    RETURN_IF_ERROR(
        EnsureObject(backend_, kinds::ReplicaSets().gvr(), NewSet(deployment, revision + 1)));
    revision += 1;
  } else {
    // An earlier template was chosen again (kubectl rollout undo): its set becomes the newest one.
    revision = std::max(revision + 1, RevisionOf(*sets.current));
    json::Value annotations = SetAnnotations(deployment, revision);
    if (sets.current->annotations() != annotations) {
      json::Value patch;
      patch.Set({"metadata", "annotations"}, std::move(annotations));
      RETURN_IF_ERROR(
          PatchAsRead(backend_, kinds::ReplicaSets().gvr(), *sets.current, std::move(patch)));
    }
  }
  if (RevisionOf(deployment) == revision) return absl::OkStatus();
  json::Value patch;
  patch.Set({"metadata", "annotations", kRevision}, absl::StrCat(revision));
  return PatchAsRead(backend_, kinds::Deployments().gvr(), deployment, std::move(patch));
}

absl::Status Deployments::Roll(const kube::Object& deployment, const Sets& sets) {
  RolloutState state = StateOf(deployment, sets.current, sets.old);
  // A paused rollout is scaled without moving on.
  if (deployment.spec()["paused"].AsBool() && !sets.old.empty()) state.limits = {};
  const RolloutStep step = NextStep(state);
  RETURN_IF_ERROR(ScaleTo(*sets.current, step.current));
  for (size_t i = 0; i < sets.old.size(); ++i) {
    RETURN_IF_ERROR(ScaleTo(*sets.old[i], step.old[i]));
  }
  return absl::OkStatus();
}

absl::Status Deployments::Recreate(const kube::Object& deployment, const Sets& sets) {
  bool gone = true;
  for (const kube::ObjectPtr& set : sets.old) {
    RETURN_IF_ERROR(ScaleTo(*set, 0));
    // Both: a set that was just scaled to zero may not have reported its pods away yet.
    gone = gone && set->status()["replicas"].AsInt() == 0 && set->spec()["replicas"].AsInt() == 0;
  }
  if (!gone) return absl::OkStatus();
  return ScaleTo(*sets.current, deployment.spec()["replicas"].AsInt(1));
}

absl::Status Deployments::ScaleTo(const kube::Object& set, int64_t replicas) {
  if (set.spec()["replicas"].AsInt(1) == replicas) return absl::OkStatus();
  json::Value patch;
  patch.Set({"spec", "replicas"}, replicas);
  PatchRequest request;
  request.patch = std::move(patch);
  return UnlessGone(backend_.Patch(kinds::ReplicaSets().gvr(), set.key(), request).status());
}

absl::Status Deployments::DropHistory(const kube::Object& deployment, const Sets& sets) {
  const auto limit = static_cast<size_t>(deployment.spec()["revisionHistoryLimit"].AsInt(10));
  for (size_t i = 0; i + limit < sets.old.size(); ++i) {
    const SetState state = SetState::Of(*sets.old[i]);
    // The oldest come first; a set that still has pods is part of a rollout, whatever its age.
    if (state.wanted > 0 || state.actual > 0) continue;
    RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::ReplicaSets().gvr(), *sets.old[i]));
  }
  return absl::OkStatus();
}

absl::Status Deployments::UpdateStatus(const kube::Object& deployment, const Sets& sets) {
  const std::string name = sets.current == nullptr ? "" : std::string(sets.current->name());
  const absl::Time now = controller_.Now();
  json::Value status =
      RolloutStatus(deployment, StateOf(deployment, sets.current, sets.old), name, now);
  ShowReplicaFailure(sets.current, now, status);
  kube::Object updated = deployment;
  updated.Set({"status"}, status);
  if (const absl::Time deadline = RolloutDeadline(updated); deadline != absl::InfiniteFuture()) {
    controller_.EnqueueAfter(deployment.key(), deadline - now);
  }
  return WriteStatus(backend_, kinds::Deployments().gvr(), deployment, std::move(status));
}

}  // namespace sandbox
