// A pass over a Work ends early for a cluster that is unknown or not served by this process. A
// suspended Work gets the condition Dispatching=False; one whose cluster is not ready waits for the
// cluster's next event. Otherwise every manifest is applied, and one that fails does not hold up
// the others. The joint outcome becomes the condition Applied, through the WorkStatusWriter, and
// events. The status of an object that could not be applied stays as long as the object is there.
// Losing the status of an object that is created meanwhile does no harm: the work-status loop looks
// at objects whose status was withdrawn.
//
// As Karmada v1.19 (works::Repairs::kByWork) this loop is the only one that writes to members: the
// Work of an object that others change or delete there is queued like one that has changed
// (works::MemberChanges), so that drift and re-creations need no code here, but for two things that
// the work-status loop does otherwise: what is put back again and again is reported, and Works that
// wait for a namespace are applied as soon as it has been made again.
//
// When the Work is being deleted, its manifests are deleted in the member, or released when they
// are to be preserved, and then the finalizer is removed; that the objects vanish is not awaited. A
// Work that has waited for its cluster leaves them to the next one if the binding wants that
// (handover.h). While the cluster is not ready the finalizer stays, unless the Cluster is being
// removed as well: then the Work is removed and the member keeps its objects. A conflict, and what
// is not there yet, do not count as an outcome for a few tries. recorder_ and the loop's outcomes
// determine only what is reported; when they are lost, it is reported again.

#include "controllers/execution/execution_reconciler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/condition.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/execution/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/sync_timer.h"
#include "works/member_errors.h"
#include "works/related.h"
#include "works/release.h"
#include "works/rule_requeue.h"

namespace controllers {
namespace {

std::vector<kube::Object> ManifestsOf(const kube::Object& work) {
  std::vector<kube::Object> manifests;
  for (const json::Value& m : api::WorkView(work).Manifests()) manifests.emplace_back(m);
  return manifests;
}

// The part of a Work's outcomes that is the manifest's; those of the whole Work are part "".
std::string PartOf(const kube::Object& manifest) {
  return absl::StrCat(manifest.kind(), "/", manifest.key().ToString());
}

// Returns an error for a manifest that cannot be that of any object, which only somebody who writes
// Works by hand can make.
absl::Status CheckManifest(const kube::Object& manifest, int ordinal) {
  const char* missing = manifest.api_version().empty() ? "apiVersion"
                        : manifest.kind().empty()      ? "kind"
                        : manifest.name().empty()      ? "metadata.name"
                                                       : nullptr;
  if (missing == nullptr) return absl::OkStatus();
  return base::Terminal(absl::InvalidArgumentError(
      absl::StrCat("spec.workload.manifests[", ordinal, "] of the Work (", manifest.Describe(),
                   ") has no ", missing)));
}

// Returns the manifests that may have put an object into the cluster.
std::vector<kube::Object> UsableManifestsOf(const kube::Object& work) {
  std::vector<kube::Object> manifests = ManifestsOf(work);
  std::erase_if(manifests, [](const kube::Object& m) { return !CheckManifest(m, 0).ok(); });
  return manifests;
}

// Returns the change of a Work's status that withdraws what is recorded of the manifest's object.
json::Value WithdrawnStatus(const kube::Object& manifest, int ordinal) {
  api::ManifestStatus status;
  status.identifier = api::ManifestIdentifier::Of(manifest, ordinal);
  return status.ToJson();
}

bool HasStatusOf(const kube::Object& work, int ordinal) {
  const std::vector<api::ManifestStatus> known = api::WorkView(work).ManifestStatuses();
  return std::any_of(known.begin(), known.end(), [&](const api::ManifestStatus& status) {
    return status.identifier.ordinal == ordinal;
  });
}

}  // namespace

ExecutionReconciler::ExecutionReconciler(const ExecutionDeps& deps)
    : manager_(deps.manager),
      objects_(deps.objects),
      status_(deps.status),
      rechecks_(deps.rechecks),
      served_(deps.served),
      edit_times_(deps.edit_times),
      handover_(deps.manager.cluster(), deps.manager.clock()),
      recorder_(deps.manager.events(), api::kExecutionController, outcomes()),
      drifts_(deps.manager, deps.objects, recorder_) {}

absl::StatusOr<kube::Action> ExecutionReconciler::Reconcile(const kube::Request& request,
                                                            const base::StopToken& stop) {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(request.key.ns);
  if (!cluster.ok()) return kube::Action::Done();  // The Work does not belong to a member.
  Target target{*cluster, nullptr, manager_.cluster().Find(api::Works(), request.key)};
  if (target.work == nullptr) return kube::Action::Gone();
  target.object = manager_.cluster().Find(api::Clusters(), {"", target.cluster});
  if (target.object == nullptr) {  // The creation of the Cluster queues the Work.
    drifts_.ForgetCluster(target.cluster);
    return kube::Action::Done();
  }
  const api::ClusterView view(*target.object);
  if (!served_.Have(*target.object)) return LeaveAlone(target);
  if (target.work->IsDeleting()) return Finalize(target, stop);
  if (Handover::IsStandIn(*target.work)) {
    RETURN_IF_ERROR(handover_.End(*target.work, stop));
    return kube::Action::Done();
  }

  const bool suspended = api::WorkView(*target.work).IsDispatchingSuspended();
  ReportDispatching(target, suspended);
  if (suspended) return LeaveAlone(target);
  if (!view.IsReady()) {
    if (base::VlogOn(2)) {
      base::LogInfo("work waits for its cluster",
                    {{"work", request.key.ToString()}, {"cluster", target.cluster}});
    }
    return LeaveAlone(target);
  }
  RETURN_IF_ERROR(Dispatch(target, stop));
  return kube::Action::Done();
}

kube::Action ExecutionReconciler::LeaveAlone(const Target& target) {
  if (edit_times_ == nullptr || edit_times_->IsIdle()) return kube::Action::Done();
  for (const kube::Object& manifest : ManifestsOf(*target.work)) {
    edit_times_->Excused(target.cluster, manifest);
  }
  return kube::Action::Done();
}

absl::Status ExecutionReconciler::Dispatch(const Target& target, const base::StopToken& stop) {
  const kube::SyncTimer timer(manager_, "work_sync_workload_duration_seconds",
                              "Duration of syncing the manifests of a Work to its member cluster.");
  base::ErrorList errors, in_condition, in_events;
  Applied applied;
  for (const kube::Object& manifest : ManifestsOf(*target.work)) {
    const int ordinal = applied.total++;
    const absl::Status valid = CheckManifest(manifest, ordinal);
    const absl::StatusOr<bool> changed =
        valid.ok() ? ApplyManifest(target, manifest, stop) : absl::StatusOr<bool>(valid);
    if (IsAbsentAfter(changed.status(), target, {manifest, ordinal}, stop)) {
      applied.withdrawn.push_back(WithdrawnStatus(manifest, ordinal));
    }
    if (changed.ok() && edit_times_ != nullptr) edit_times_->Arrived(target.cluster, manifest);
    errors.Add(changed.status());
    in_condition.Add(works::ForCondition(changed.status()));
    in_events.Add(works::ForEvent(changed.status()));
    applied.ok += changed.ok();
    applied.changed = applied.changed || (changed.ok() && *changed);
  }
  applied.result = errors.Join();
  applied.in_condition = in_condition.Join();
  applied.in_events = in_events.Join();
  timer.Observe(applied.result);
  if (!kube::IsNoOutcome(applied.result)) ReportApplied(target, applied);
  return applied.result;
}

bool ExecutionReconciler::IsAbsentAfter(const absl::Status& applied, const Target& target,
                                        const Item& item, const base::StopToken& stop) {
  if (applied.ok() || kube::IsNoOutcome(applied)) return false;
  // A status that waits to be written is newer than what this pass knows.
  if (!HasStatusOf(*target.work, item.ordinal)) return false;
  const absl::StatusOr<kube::ObjectPtr> found =
      objects_.FindOfServedKind(target.cluster, item.manifest, stop);
  return found.ok() && *found == nullptr;
}

absl::StatusOr<works::ApplyResult> ExecutionReconciler::Put(const Target& target,
                                                            const kube::Object& manifest,
                                                            const base::StopToken& stop) {
  if (objects_.repairs() == works::Repairs::kByObject) {
    return objects_.Apply(target.cluster, manifest, stop);
  }
  const kube::ObjectPtr drifted = objects_.FindDrifted(target.cluster, manifest, stop);
  const json::Value owners =
      drifted == nullptr ? json::Value() : drifts_.OwnersBefore(target.cluster, *drifted, stop);
  const absl::StatusOr<works::ApplyResult> result = objects_.Apply(target.cluster, manifest, stop);
  if (!result.ok()) return result;
  if (*result == works::ApplyResult::kUpdated && drifted != nullptr) {
    const auto now = objects_.Find(target.cluster, manifest, stop);
    if (now.ok() && *now != nullptr) {
      drifts_.Note({target.cluster, *drifted, **now, *target.work, owners});
    }
  }
  if (*result == works::ApplyResult::kCreated && manifest.gvk() == api::Namespaces().gvk) {
    works::RecheckWorksIn(manifest.key(), target.cluster, manager_.cluster(), rechecks_);
  }
  return result;
}

absl::StatusOr<bool> ExecutionReconciler::ApplyManifest(const Target& target,
                                                        const kube::Object& manifest,
                                                        const base::StopToken& stop) {
  const absl::StatusOr<works::ApplyResult> result = Put(target, manifest, stop);
  const kube::Request request = {target.work->key()};
  const std::string part = PartOf(manifest);
  const absl::Status applied = recorder_.Judge(request, part, ConflictIfGone(result.status()));
  const bool changed = applied.ok() && (*result == works::ApplyResult::kCreated ||
                                        *result == works::ApplyResult::kUpdated);
  const kube::InvolvedObject about = works::TemplateOf(manifest);
  if (!about.uid.empty()) {
    recorder_.Outcome({.of = request,
                       .part = part,
                       .about = {about},
                       .success = {api::reason::kSyncSucceed,
                                   api::message::ManifestSynced(manifest.key(), target.cluster)},
                       .failure = {api::reason::kSyncFailed,
                                   api::message::ManifestNotSynced(manifest.key(), target.cluster,
                                                                   works::ForEvent(applied))},
                       .changed = changed},
                      applied);
  }
  RETURN_IF_ERROR(applied);
  return changed;
}

void ExecutionReconciler::ReportDispatching(const Target& target, bool suspended) {
  kube::Condition condition =
      suspended ? api::ConditionOf(api::kWorkDispatching, false, api::reason::kSuspendDispatching,
                                   api::message::kWorkSuspended)
                : api::ConditionOf(api::kWorkDispatching, true, api::reason::kDispatching,
                                   api::message::kWorkDispatching);
  const json::Value* current =
      kube::FindCondition(api::WorkView(*target.work).Conditions(), condition.type);
  const bool is_right = current != nullptr && (*current)["status"].AsString() == condition.status;
  // A condition with the right status keeps its text, as with upstream: a take-over must not
  // rewrite what upstream has left.
  if (is_right) {
    condition.reason = (*current)["reason"].ToString();
    condition.message = (*current)["message"].ToString();
  }
  // The condition is submitted even if it looks right already, because a different one may still
  // wait to be written. The writer sends nothing that is up to date.
  status_.Submit(*target.work, {{condition}, {}},
                 suspended ? works::News::kSettled : works::News::kProgress);
  if (is_right) return;
  const auto about = kube::InvolvedObject::Of(*target.work);
  if (!suspended && current == nullptr) {
    // That a new Work is dispatched is the normal case.
    recorder_.Routine(about, api::reason::kWorkDispatching, condition.message);
  } else {
    recorder_.Normal(about, api::reason::kWorkDispatching, condition.message);
  }
}

void ExecutionReconciler::ReportApplied(const Target& target, const Applied& applied) {
  const absl::Status& result = applied.result;
  works::WorkStatusChange change = {{}, applied.withdrawn};
  // As Karmada v1.19, which does not have the reason of an object that was created again, that one
  // stays as long as nothing changes in the member, since a take-over brings a sync of every Work.
  const bool counts_changes = objects_.repairs() == works::Repairs::kByWork;
  if (!result.ok()) {
    change.conditions.push_back(api::ConditionOf(
        api::kWorkApplied, false, api::reason::kAppliedFailed,
        api::message::ManifestsNotApplied(applied.ok, applied.total, applied.in_condition)));
  } else if (counts_changes && applied.changed) {
    change.conditions.push_back(api::ConditionOf(
        api::kWorkApplied, true, api::reason::kAppliedSuccessful, api::message::kManifestApplied));
  } else {
    change.is_applied = true;
  }
  ReportSync(target, applied.in_events, applied.changed);
  status_.Submit(*target.work, std::move(change),
                 result.ok() ? works::News::kProgress : works::News::kSettled);
}

void ExecutionReconciler::ReportSync(const Target& target, const absl::Status& result,
                                     bool changed) {
  const kube::ObjectKey key = target.work->key();
  const auto about = kube::InvolvedObject::Of(*target.work);
  recorder_.Outcome(
      {.of = {key},
       .about = {about},
       .success = {api::reason::kSyncSucceed, api::message::WorkSynced(key, target.cluster)},
       .failure = {api::reason::kSyncFailed,
                   api::message::WorkNotSynced(key, target.cluster, result)},
       .routine = changed},
      result);
}

absl::StatusOr<kube::Action> ExecutionReconciler::Finalize(const Target& target,
                                                           const base::StopToken& stop) {
  if (!target.work->HasFinalizer(api::kExecutionFinalizer)) return kube::Action::Done();
  const bool preserve = api::WorkView(*target.work).PreservesResourcesOnDeletion();
  if (api::ClusterView(*target.object).IsReady()) {
    ASSIGN_OR_RETURN(const Handover::Objects objects, DecideOnObjects(target, stop));
    if (objects == Handover::Objects::kUnclear) {
      return kube::Action::After(Handover::LookAgainAfter(*target.work));
    }
    if (objects == Handover::Objects::kDelete) {
      RETURN_IF_ERROR(RemoveManifests(target, preserve, stop));
    }
  } else if (!target.object->IsDeleting()) {
    return kube::Action::Done();  // The cluster's Ready condition queues the Work again.
  }
  RETURN_IF_ERROR(manager_.cluster().RemoveFinalizer(api::Works(), target.work,
                                                     api::kExecutionFinalizer, stop));
  return kube::Action::Done();
}

// An agent may not ask which clusters a binding wants. As with upstream, the objects of its cluster
// end with their Work.
absl::StatusOr<Handover::Objects> ExecutionReconciler::DecideOnObjects(
    const Target& target, const base::StopToken& stop) {
  if (served_.by_agent()) return Handover::Objects::kDelete;
  return handover_.Decide(*target.object, *target.work, stop);
}

absl::Status ExecutionReconciler::RemoveManifests(const Target& target, bool preserve,
                                                  const base::StopToken& stop) {
  const absl::Status removed =
      preserve ? ReleaseManifests(target, stop) : DeleteManifests(target, stop);
  if (removed.ok() || kube::IsNoOutcome(removed)) return removed;
  const kube::Condition condition =
      api::ConditionOf(api::kWorkApplied, false, api::reason::kAppliedFailed,
                       api::message::ManifestsNotRemoved(removed));
  ReportSync(target, removed, /*changed=*/false);
  status_.Submit(*target.work, {{condition}, {}}, works::News::kSettled);
  return removed;
}

absl::Status ExecutionReconciler::DeleteManifests(const Target& target,
                                                  const base::StopToken& stop) {
  base::ErrorList errors;
  for (const kube::Object& manifest : UsableManifestsOf(*target.work)) {
    errors.Add(base::Annotate(DeleteManifest(target, manifest, stop), "deleting ",
                              manifest.Describe(), " in cluster ", target.cluster));
  }
  return errors.Join();
}

absl::Status ExecutionReconciler::DeleteManifest(const Target& target, const kube::Object& manifest,
                                                 const base::StopToken& stop) {
  const kube::Request request = {target.work->key()};
  const std::string part = PartOf(manifest);
  const absl::Status deleted =
      recorder_.Judge(request, part, objects_.Delete(target.cluster, manifest, stop));
  const kube::InvolvedObject about = works::TemplateOf(manifest);
  if (about.uid.empty()) return deleted;
  recorder_.Outcome(
      {.of = request,
       .part = absl::StrCat(part, " deleted"),
       .about = {about},
       .success = {api::reason::kSyncSucceed,
                   api::message::ManifestDeleted(manifest.key(), target.cluster)},
       .failure = {api::reason::kSyncFailed,
                   api::message::ManifestNotDeleted(manifest.key(), target.cluster, deleted)}},
      deleted);
  return deleted;
}

absl::Status ExecutionReconciler::ReleaseManifests(const Target& target,
                                                   const base::StopToken& stop) {
  base::ErrorList errors;
  for (const kube::Object& manifest : UsableManifestsOf(*target.work)) {
    errors.Add(
        base::Annotate(recorder_.Judge({target.work->key()}, PartOf(manifest),
                                       works::Release(objects_, target.cluster, manifest, stop)),
                       "releasing ", manifest.Describe(), " in cluster ", target.cluster));
  }
  return errors.Join();
}

bool WorksChangeTheirCourse(const kube::Object& before, const kube::Object& after) {
  if (works::BecameReady(before, after)) return true;
  if (!after.IsDeleting()) return false;
  return !before.IsDeleting() || works::BecameReady(after, before);
}

absl::Status ConflictIfGone(const absl::Status& applied) {
  return kube::IsGone(applied) ? absl::AbortedError(applied.message()) : applied;
}

absl::Status RegisterExecution(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> works = context.InformerOf(api::Works());
  kube::ControllerBuilder builder = context.NewController(api::kExecutionController, workers);
  kube::Controller& controller =
      ReadsCredentials(builder)
          .Reads(api::ResourceBindings())
          .Reads(api::ClusterResourceBindings())
          .Watches(api::Works(), {.when = {.update = kube::GenerationChanged}})
          // The Works of a cluster that joins, becomes ready or is being deleted are queued.
          .Watches(api::Clusters(),
                   {.when = {.update = WorksChangeTheirCourse, .remove = kube::Never},
                    .map = works::WorksOf(works)})
          // A kind that the cluster begins to serve lets its objects be applied.
          .Watches(api::Clusters(), {.when = {.add = kube::Never,
                                              .update = works::ServesOtherKinds,
                                              .remove = kube::Never},
                                     .map_update = works::WorksOfNewKinds(works)})
          // Each cluster has its own lane; the namespace of a Work identifies the cluster.
          .WithLanes([](const kube::Request& request) { return request.key.ns; })
          .Build(std::make_unique<ExecutionReconciler>(
              ExecutionDeps{context.manager, context.objects, context.status, context.rechecks,
                            context.served, context.edit_times}));
  controller.Keep(std::make_shared<kube::ClusterSet::Subscription>(
      works::QueueWhenReconnected(context.members, works, controller.queue())));
  works::RequeueWorks(context.interpreter,
                      {controller.queue(), works, {interpreter::Operation::kRetain}});
  context.rechecks.Subscribe(api::Works(), controller.queue());
  context.objects.QueueRepairsInto(controller.queue());
  return absl::OkStatus();
}

}  // namespace controllers
