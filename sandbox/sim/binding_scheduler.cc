// A pass over a binding first asks whether there is a reason to schedule it: its placement differs
// from the one in its annotation, its replicas from the assigned ones, a rescheduling was asked
// for, a target is being deleted, or its replicas are not divided, for which every pass decides
// again. Without a reason only the observed generation is written. With one, Place decides; the
// clusters and the placement are written in one patch, then the conditions, then events. A binding
// that no cluster fits keeps that result until something changes; one that cannot be scheduled for
// other reasons is tried again by the controller.
//
// A change of a Cluster is collected with its states before and after in changed_ (under mu_), and
// a second controller queues the bindings whose affinity matches one of them. With the gate
// PriorityBasedScheduling the bindings that wait are taken in the order of their priorities; the
// two kinds of bindings do not wait for one another, where upstream has one queue for both. All
// else is read from the objects in each pass.

#include "sandbox/sim/binding_scheduler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/policy_claim.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/patch.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/sim/event_records.h"
#include "sandbox/sim/quota_admission.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

using Outcome = Placement::Outcome;

// Returns whether the binding may be scheduled. One that merely follows another binding has no
// placement and gets its clusters from that one.
bool IsOurs(const kube::Object& binding) {
  const api::BindingView view(binding);
  const absl::string_view name = view.SchedulerName();
  if (!name.empty() && name != api::kDefaultSchedulerName) return false;
  return !view.IsSchedulingSuspended() && !binding.IsDeleting() && !view.Placement().is_null();
}

// Returns whether a change of the binding is a reason to look at it: if a policy has claimed it.
// One whose policy was deleted is placed again only when a cluster changes (upstream's
// resourceBindingEventFilter and enqueueAffectedBindings).
bool IsClaimed(const kube::Object& binding) {
  return api::HasPolicyId(binding) || !binding.Label(api::kBindingManagedByLabel).empty();
}

const json::Value& TermNamed(const json::Value& placement, absl::string_view name) {
  static const auto& none = *new json::Value();
  for (const json::Value& term : placement["clusterAffinities"].items()) {
    if (term["affinityName"].AsString() == name) return term;
  }
  return none;
}

// Returns whether the placement differs in an important way from the one that was applied last.
bool PlacementChanged(const kube::Object& binding) {
  const absl::string_view text = binding.Annotation(api::kAppliedPlacementAnnotation);
  if (text.empty()) return true;
  const auto applied = json::Parse(text);
  const json::Value& wanted = binding.spec()["placement"];
  if (!applied.ok() || *applied == wanted) return false;
  for (const char* field :
       {"clusterAffinity", "clusterTolerations", "spreadConstraints", "replicaScheduling"}) {
    if ((*applied)[field] != wanted[field]) return true;
  }
  const json::Value& observed = binding.status()["schedulerObservingAffinityName"];
  if (observed.AsString().empty()) return true;
  const json::Value& term = TermNamed(wanted, observed.AsString());
  return term.is_null() || term != TermNamed(*applied, observed.AsString());
}

bool ReplicasChanged(const api::BindingView& binding) {
  if (binding.Placement()["replicaScheduling"].is_null()) return false;
  int64_t sum = 0;
  for (const api::TargetCluster& target : binding.Clusters()) {
    if (!binding.IsDivided() && target.replicas != binding.Replicas()) return true;
    sum += target.replicas;
  }
  return binding.IsDivided() && sum != binding.Replicas();
}

bool RescheduleAsked(const kube::Object& binding) {
  const auto asked = kube::ParseTime(binding.spec()["rescheduleTriggeredAt"].AsString());
  const auto done = kube::ParseTime(binding.status()["lastScheduledTime"].AsString());
  return asked.ok() && done.ok() && *asked > *done;
}

// Returns whether it is undecided which of the clusterAffinities is in force.
bool IsChoosingAffinity(const kube::Object& binding) {
  return !binding.spec()["placement"]["clusterAffinities"].empty() &&
         api::BindingView(binding).SchedulerObservedGeneration() != binding.generation();
}

// Returns whether the change of a Cluster may move bindings.
bool Matters(const Event& event) {
  if (event.type == Event::Type::kDeleted) return true;
  if (event.previous == nullptr) return false;
  return event.previous->generation() != event.object->generation() ||
         event.previous->labels() != event.object->labels() ||
         event.previous->IsDeleting() != event.object->IsDeleting();
}

const char* ReasonOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess:
      return "Success";
    case Outcome::kNoClusterFit:
      return "NoClusterFit";
    case Outcome::kUnschedulable:
      return "Unschedulable";
    case Outcome::kQuotaExceeded:
      return kQuotaExceededReason;
    case Outcome::kSchedulerError:
      break;
  }
  return "SchedulerError";
}

// Returns whether the Scheduled condition has this outcome already.
bool IsReported(const kube::Object& binding, const Placement& placement) {
  const json::Value* scheduled =
      kube::FindCondition(binding.status()["conditions"], api::kBindingScheduled);
  return scheduled != nullptr && (*scheduled)["reason"].AsString() == ReasonOf(placement.outcome) &&
         (*scheduled)["message"].AsString() == placement.message;
}

// Compares two values of spec.clusters by what a scheduler of this release knows of them: what is 0
// may be absent, and before v1.19 it overlooks components.
bool AreSameClusters(const json::Value& a, const json::Value& b, config::Release release) {
  const bool components = release >= config::Release::kV1_19;
  const auto one = a.items(), other = b.items();
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [components](const json::Value& left, const json::Value& right) {
                      return left["name"] == right["name"] &&
                             left["replicas"].AsInt() == right["replicas"].AsInt() &&
                             (!components || left["components"] == right["components"]);
                    });
}

// Follows upstream's targetClustersToString: "member1:2, member2:1".
std::string ToString(const std::vector<api::TargetCluster>& clusters) {
  return absl::StrJoin(clusters, ", ", [](std::string* out, const api::TargetCluster& target) {
    absl::StrAppend(out, target.name, ":", target.replicas);
  });
}

}  // namespace

ScheduleReason ReasonToSchedule(const kube::Object& binding) {
  const api::BindingView view(binding);
  if (PlacementChanged(binding)) return ScheduleReason::kPlacement;
  if (ReplicasChanged(view)) return ScheduleReason::kReplicas;
  if (RescheduleAsked(binding)) return ScheduleReason::kRescheduled;
  return view.IsWorkload() && view.IsDivided() ? ScheduleReason::kNone : ScheduleReason::kAlways;
}

BindingScheduler::BindingScheduler(Backend& backend, EventLoop& loop,
                                   const kube::Resource& bindings, const SchedulingRules& rules)
    : backend_(backend),
      bindings_(bindings),
      rules_(rules),
      clusters_("scheduler-clusters", backend, loop,
                [this](const kube::ObjectKey& key) { return RequeueFor(key); }),
      controller_("scheduler", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  if (rules.by_priority) {
    controller_.RankBy([this](const kube::ObjectKey& key) { return PriorityOf(key); });
  }
  controller_.Watch(bindings.gvr(), [this](const Event& event) { OnBinding(event); });
  clusters_.Watch(api::Clusters().gvr(), [this](const Event& event) { OnCluster(event); });
}

void BindingScheduler::OnBinding(const Event& event) {
  if (event.type == Event::Type::kDeleted || !IsClaimed(*event.object)) return;
  const bool same_spec =
      event.previous != nullptr && event.previous->generation() == event.object->generation();
  if (!same_spec) controller_.Enqueue(event.object->key());
}

void BindingScheduler::OnCluster(const Event& event) {
  if (!Matters(event)) return;
  const kube::ObjectKey key = event.object->key();
  {
    absl::MutexLock lock(&mu_);
    changed_[key].push_back(event.object);
    if (event.previous != nullptr) changed_[key].push_back(event.previous);
  }
  clusters_.Enqueue(key);
}

absl::Status BindingScheduler::RequeueFor(const kube::ObjectKey& cluster) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings,
                   backend_.List(bindings_.gvr(), "", kube::LabelSelector()));
  std::vector<kube::ObjectPtr> states;
  {
    absl::MutexLock lock(&mu_);
    states = std::move(changed_[cluster]);
    changed_.erase(cluster);
  }
  for (const kube::ObjectPtr& binding : bindings) {
    if (!IsOurs(*binding)) continue;
    const auto affinity = api::ClusterAffinity::FromJson(ObservedAffinity(*binding));
    const bool concerned = std::any_of(
        states.begin(), states.end(),
        [&](const kube::ObjectPtr& state) { return affinity.Matches(api::ClusterView(*state)); });
    if (concerned || IsChoosingAffinity(*binding)) controller_.Enqueue(binding->key());
  }
  return absl::OkStatus();
}

int64_t BindingScheduler::PriorityOf(const kube::ObjectKey& key) {
  const auto binding = FindObject(backend_, bindings_.gvr(), key);
  if (!binding.ok() || *binding == nullptr) return 0;
  return (*binding)->spec()["schedulePriority"]["priority"].AsInt();
}

absl::Status BindingScheduler::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr binding, FindObject(backend_, bindings_.gvr(), key));
  if (binding == nullptr || !IsOurs(*binding)) return absl::OkStatus();
  if (ReasonToSchedule(*binding) != ScheduleReason::kNone || IsTargetDeleted(*binding)) {
    return Schedule(*binding);
  }
  if (binding->status()["schedulerObservedGeneration"].AsInt() == binding->generation()) {
    return absl::OkStatus();
  }
  json::Value status = binding->status();
  status.Set("schedulerObservedGeneration", binding->generation());
  return WriteStatus(backend_, bindings_.gvr(), *binding, std::move(status));
}

bool BindingScheduler::IsTargetDeleted(const kube::Object& binding) {
  for (const api::TargetCluster& target : api::BindingView(binding).Clusters()) {
    const auto cluster = FindObject(backend_, api::Clusters().gvr(), {"", target.name});
    if (cluster.ok() && (*cluster == nullptr || (*cluster)->IsDeleting())) return true;
  }
  return false;
}

absl::Status BindingScheduler::Schedule(const kube::Object& binding) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> clusters,
                   backend_.List(api::Clusters().gvr(), "", kube::LabelSelector()));
  Placement placement = Place(binding, clusters, RescheduleAsked(binding), rules_);
  kube::ObjectPtr written = kube::Share(binding);
  bool decided =
      placement.outcome == Outcome::kSuccess || placement.outcome == Outcome::kNoClusterFit;
  if (decided) {
    const absl::StatusOr<kube::ObjectPtr> result = WriteResult(binding, placement);
    decided = result.ok();
    if (result.ok()) {
      written = *result;
    } else if (ErrorOf(result.status()).reason == kQuotaExceededReason) {
      placement.outcome = Outcome::kQuotaExceeded;
      placement.message = ErrorOf(result.status()).message;
    } else {
      return result.status();
    }
  }
  // What has been decided is not decided again, so a conflict must not lose its status.
  absl::Status reported = WriteStatusOf(*written, binding.generation(), placement);
  while (absl::IsAborted(reported)) {
    ASSIGN_OR_RETURN(written, FindObject(backend_, bindings_.gvr(), binding.key()));
    if (written == nullptr) return absl::OkStatus();
    reported = WriteStatusOf(*written, binding.generation(), placement);
  }
  RETURN_IF_ERROR(reported);
  // A failure is repeated every second, so it is reported only when it is new.
  if (decided || !IsReported(binding, placement)) RecordOutcome(binding, placement);
  if (decided) return absl::OkStatus();
  return absl::UnavailableError(placement.message);  // The error makes the controller try again.
}

absl::StatusOr<kube::ObjectPtr> BindingScheduler::WriteResult(const kube::Object& binding,
                                                              const Placement& placement) {
  const json::Value& wanted = binding.spec()["placement"];
  const auto applied = json::Parse(binding.Annotation(api::kAppliedPlacementAnnotation));
  json::Value patch = json::Value::Object();
  if (!applied.ok() || *applied != wanted) {
    patch.Set({"metadata", "annotations", api::kAppliedPlacementAnnotation}, json::Write(wanted));
  }
  if (json::Value decided = placement.ClustersToJson();
      !AreSameClusters(binding.spec()["clusters"], decided, rules_.release)) {
    patch.Set({"spec", "clusters"}, std::move(decided));
  }
  if (patch.empty()) return kube::Share(binding);
  PatchRequest request;
  request.patch = std::move(patch);
  return backend_.Patch(bindings_.gvr(), binding.key(), request);
}

absl::Status BindingScheduler::WriteStatusOf(const kube::Object& binding, int64_t generation,
                                             const Placement& placement) {
  const bool success = placement.outcome == Outcome::kSuccess;
  const absl::Time now = controller_.Now();
  json::Value status = binding.status();
  json::Value conditions = status["conditions"];
  kube::SetCondition(conditions,
                     {api::kBindingScheduled, success ? "True" : "False",
                      ReasonOf(placement.outcome), placement.message},
                     now);
  status.Set("conditions", std::move(conditions));
  if (success) {
    status.Set("schedulerObservedGeneration", generation);
    status.Set("lastScheduledTime", kube::FormatTime(now));
    if (!placement.affinity_name.empty()) {
      status.Set("schedulerObservingAffinityName", placement.affinity_name);
    }
  }
  return WriteStatus(backend_, bindings_.gvr(), binding, std::move(status));
}

// Follows upstream's recordScheduleResultEventForResourceBinding.
void BindingScheduler::RecordOutcome(const kube::Object& binding, const Placement& placement) {
  const bool success = placement.outcome == Outcome::kSuccess;
  EventRecord record;
  record.type = success ? "Normal" : "Warning";
  record.reason = success ? "ScheduleBindingSucceed" : "ScheduleBindingFailed";
  record.message = placement.message;
  if (success) absl::StrAppend(&record.message, " Result: {", ToString(placement.clusters), "}");
  record.component = api::kDefaultSchedulerName;
  record.about = ReferenceTo(binding);
  RecordEvent(backend_, record, controller_.Now());
  record.about = json::Value::Object();
  for (const char* field : {"apiVersion", "kind", "namespace", "name", "uid"}) {
    const json::Value& value = binding.spec()["resource"][field];
    if (!value.AsString().empty()) record.about.Set(field, value);
  }
  RecordEvent(backend_, record, controller_.Now());
}

}  // namespace sandbox
