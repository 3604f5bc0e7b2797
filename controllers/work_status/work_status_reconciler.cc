// A pass looks for the object in the member's informer. An object that was deleted there is created
// again (recreation.cc). An object that is missing without such a request is left to the execution
// loop. For an object that is there, the pass finds the Work that its annotations name and the
// manifest in it; puts back what somebody else has changed since our last write, unless the Work is
// suspended; asks the interpreter for status and health; and submits both to the WorkStatusWriter.
// As Karmada v1.19 the pass only reads: the execution loop creates and puts back. Drift that the
// member refuses to have put back does not keep the status from the Work. If it is refused because
// others own the fields (server-side apply), the execution loop is asked to try, which reports it
// in the condition Applied. When a namespace was created in the member, the Works that could not be
// applied in it are tried again at once.
//
// A failure is repeated with back-off while the cluster is ready. Otherwise the pass is not
// repeated: all objects of the cluster are queued when it is ready again. A script that cannot
// determine the health makes it Unknown and is not repeated either, since a change of the script
// queues the object. When finalizers in the member have held up the deletion of an object that its
// Work still wants for some minutes, an event names them. What is remembered is for reports, by the
// request: outcomes, deletions that were reported (deletions_), unhealthy objects (health_) and
// what was put back (drifts_). recreation_ also remembers what has to be taken back.

#include "controllers/work_status/work_status_reconciler.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "works/ownership.h"
#include "works/related.h"

namespace controllers {
namespace {

// Returns the request without its reason.
kube::Request ObjectOf(kube::Request request) {
  request.reason = kMemberObjectSeen;
  return request;
}

// Returns what the Work records for this manifest; an item without a health when it records
// nothing.
api::ManifestStatus Known(const kube::Object& work, const api::ManifestIdentifier& identifier) {
  for (api::ManifestStatus& status : api::WorkView(work).ManifestStatuses()) {
    if (status.identifier == identifier) return std::move(status);
  }
  return {};
}

// Returns whether the last try to apply the Work is recorded as failed.
bool HasFailed(const kube::Object& work) {
  const json::Value* applied =
      kube::FindCondition(api::WorkView(work).Conditions(), api::kWorkApplied);
  return applied != nullptr && (*applied)["status"].AsString() == "False";
}

bool HasInAnotherVersion(const api::WorkView& work, const kube::Object& object) {
  for (const json::Value& raw : work.Manifests()) {
    const kube::Object manifest(raw);
    if (manifest.key() == object.key() && manifest.kind() == object.kind() &&
        manifest.gvk().group == object.gvk().group) {
      return true;
    }
  }
  return false;
}

}  // namespace

WorkStatusReconciler::WorkStatusReconciler(WorkStatusDeps deps)
    : deps_(deps),
      recorder_(deps.manager.events(), api::kWorkStatusController, outcomes()),
      health_(deps.manager, deps.interpreter, recorder_),
      drifts_(deps.manager, deps.objects, recorder_),
      recreation_(deps_, recorder_) {}

absl::StatusOr<kube::Action> WorkStatusReconciler::Reconcile(const kube::Request& request,
                                                             const base::StopToken& stop) {
  if (request.reason == kLongUnhealthyObjects) return health_.ReportLong();
  const kube::ObjectPtr cluster =
      deps_.manager.cluster().Find(api::Clusters(), {"", request.cluster});
  // A cluster that has left needs nothing; in one that is not served another process runs this
  // loop.
  if (cluster == nullptr || !deps_.served.Have(*cluster)) {
    recorder_.ForgetCluster(request.cluster);
    health_.ForgetCluster(request.cluster);
    drifts_.ForgetCluster(request.cluster);
    recreation_.ForgetCluster(request.cluster);
    absl::MutexLock lock(&mu_);
    absl::erase_if(deletions_,
                   [&](const auto& entry) { return entry.first.cluster == request.cluster; });
    return kube::Action::Done();
  }
  // The cluster has returned meanwhile.
  if (request.reason == kClusterLeft) return kube::Action::Done();
  Observed observed;
  observed.cluster = request.cluster;
  const absl::Status done = ReconcileObject(request, observed, stop);
  // For a cluster that is not ready, errors are dropped: when it is ready, all its objects are
  // queued again; but nothing queues an object whose Work is gone.
  if (done.ok() || absl::IsCancelled(done) || api::ClusterView(*cluster).IsReady() ||
      recreation_.HasOrphan(request)) {
    RETURN_IF_ERROR(done);
  }
  return ReportBlockedDeletion(request, observed);
}

kube::Action WorkStatusReconciler::ReportBlockedDeletion(const kube::Request& request,
                                                         const Observed& observed) {
  if (observed.object == nullptr || observed.work == nullptr || observed.work->IsDeleting()) {
    return kube::Action::Done();
  }
  const std::optional<api::BlockedDeletion> blocked =
      api::BlockedDeletionOf(*observed.object, deps_.manager.clock().Now());
  if (!blocked.has_value()) return kube::Action::Done();
  if (blocked->due > absl::ZeroDuration()) return kube::Action::After(blocked->due);
  {
    absl::MutexLock lock(&mu_);
    const auto [reported, is_new] = deletions_.try_emplace(ObjectOf(request), *blocked);
    if (!is_new && reported->second == *blocked) return kube::Action::Done();
    reported->second = *blocked;
  }
  const std::string text =
      api::message::MemberObjectStays(*observed.object, *blocked, observed.cluster);
  recorder_.Warning(kube::InvolvedObject::Of(*observed.work), api::reason::kDeletionBlocked, text);
  const kube::InvolvedObject about = works::TemplateOf(observed.manifest);
  if (!about.uid.empty()) recorder_.Warning(about, api::reason::kDeletionBlocked, text);
  return kube::Action::Done();
}

void WorkStatusReconciler::ForgetDeletion(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  deletions_.erase(ObjectOf(request));
}

absl::Status WorkStatusReconciler::ReconcileObject(const kube::Request& request, Observed& observed,
                                                   const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::Informer> informer,
                   deps_.objects.InformerFor(request.cluster, request.gvk, stop));
  const bool is_whole = informer->HasSynced() && !informer->LeavesOut();
  observed.object = informer->store().Find(request.key);
  // After a reconnect, an empty cache does not mean that the object is gone; nor does one that had
  // no room for it.
  if (observed.object == nullptr && !is_whole) {
    ASSIGN_OR_RETURN(
        observed.object,
        deps_.objects.Find(request.cluster, kube::Object::Make(request.gvk, request.key), stop));
  }
  if (observed.object == nullptr) {
    recorder_.Forget(request);
    ForgetDeletion(request);
    health_.Forget(request.cluster, request.gvk, request.key);
    // The execution loop may have made it again by now, and recorded that.
    if (Repairs()) deps_.objects.Forget(request.cluster, request.gvk, request.key);
  }
  if (request.reason == kMemberObjectDeleted && Repairs()) return recreation_.Run(request, stop);
  if (observed.object == nullptr) return absl::OkStatus();
  const kube::ObjectKey key = works::WorkNamedBy(*observed.object);
  // The Work of another cluster may belong to another control plane, so such an object is ignored.
  if (key.name.empty() || key.ns != api::ExecutionNamespace(request.cluster)) {
    return absl::OkStatus();
  }
  observed.work = deps_.manager.cluster().Find(api::Works(), key);
  if (observed.work == nullptr || observed.work->IsDeleting()) return absl::OkStatus();
  const api::WorkView view(*observed.work);
  const std::optional<int64_t> index = view.IndexOf(*observed.object);
  if (!index.has_value()) {
    // The Work now names the object in another version, in which it is watched as well.
    if (HasInAnotherVersion(view, *observed.object)) return absl::OkStatus();
    return base::Terminal(absl::NotFoundError(
        absl::StrCat("no such manifest exist: ", observed.object->Describe(), " of cluster ",
                     request.cluster, " names work ", key.ToString())));
  }
  observed.index = *index;
  observed.manifest = kube::Object(view.Manifests()[static_cast<size_t>(*index)]);
  const absl::Status reverted =
      view.IsDispatchingSuspended() || !Repairs() ? absl::OkStatus() : RevertDrift(observed, stop);
  if (absl::IsCancelled(reverted)) return reverted;
  // The condition Applied is the execution loop's: its own try reports who owns what would change.
  if (kube::IsFieldConflict(reverted) && view.IsApplied()) deps_.rechecks.Publish(*observed.work);
  // What the object reports counts even while the member refuses to have its drift put back.
  const absl::Status collected = Collect(observed);
  RETURN_IF_ERROR(reverted);
  return collected;
}

absl::Status WorkStatusReconciler::RevertDrift(Observed& observed, const base::StopToken& stop) {
  if (!deps_.objects.NeedsUpdate(observed.cluster, observed.manifest, *observed.object)) {
    return absl::OkStatus();
  }
  const json::Value owners = drifts_.OwnersBefore(observed.cluster, *observed.object, stop);
  const auto updated =
      deps_.objects.Update(observed.cluster, observed.manifest, observed.object, stop);
  RETURN_IF_ERROR(base::Annotate(updated.status(), "putting back ", observed.object->Describe(),
                                 " in cluster ", observed.cluster));
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::Informer> informer,
                   deps_.objects.InformerFor(observed.cluster, observed.object->gvk(), stop));
  const kube::ObjectPtr now = informer->store().Find(observed.object->key());
  if (now != nullptr && *updated == works::ApplyResult::kUpdated) {
    drifts_.Note({observed.cluster, *observed.object, *now, *observed.work, owners});
  }
  if (now != nullptr) observed.object = now;
  // The execution loop may have compared a newer Work with the object as it was before this write,
  // and found nothing to do. A Work that changes from now on finds the written object.
  const kube::ObjectPtr work = deps_.manager.cluster().Find(api::Works(), observed.work->key());
  if (work == nullptr) return absl::OkStatus();
  if (work->spec() != observed.work->spec() || HasFailed(*work)) deps_.rechecks.Publish(*work);
  return absl::OkStatus();
}

absl::Status WorkStatusReconciler::Collect(const Observed& observed) {
  ASSIGN_OR_RETURN(json::Value status, ReflectStatus(observed));
  api::ManifestStatus item;
  item.identifier = api::ManifestIdentifier::Of(observed.manifest, observed.index);
  item.status = std::move(status);
  const std::string known = Known(*observed.work, item.identifier).health;
  const absl::StatusOr<std::string> health =
      health_.Interpret({observed.cluster, *observed.object, *observed.work, known});
  item.health = health.value_or(api::kHealthUnknown);
  const works::News news =
      item.health == api::kHealthy ? works::News::kSettled : works::News::kProgress;
  if (known.empty()) FollowNamespace(deps_, observed.cluster, *observed.object);
  deps_.status.Submit(*observed.work, {{}, {item.ToJson()}}, news);
  // A script that is wrong stays so until it is changed, and the change queues the object; a
  // webhook that was down may be back at the next try.
  return base::IsTerminal(health.status()) ? absl::OkStatus() : health.status();
}

absl::StatusOr<json::Value> WorkStatusReconciler::ReflectStatus(const Observed& observed) {
  const absl::string_view kind = observed.object->kind();
  const kube::ObjectKey key = observed.object->key();
  absl::StatusOr<json::Value> status = deps_.interpreter.ReflectStatus(*observed.object);
  recorder_.Outcome(
      {.of = {.key = key, .gvk = observed.object->gvk(), .cluster = observed.cluster},
       .about = {kube::InvolvedObject::Of(*observed.work)},
       .success = {api::reason::kReflectStatusSucceed, api::message::StatusReflected(kind, key)},
       .failure = {api::reason::kReflectStatusFailed,
                   api::message::StatusNotReflected(kind, key, status.status())},
       .routine = status.ok() && IsNews(*status, observed)},
      status.status());
  if (!status.ok()) {
    return base::Annotate(status.status(), "reflecting status of ", observed.object->Describe(),
                          " in cluster ", observed.cluster);
  }
  return status;
}

bool WorkStatusReconciler::IsNews(const json::Value& status, const Observed& observed) const {
  if (!recorder_.WantsRoutine()) return false;
  const api::ManifestStatus known =
      Known(*observed.work, api::ManifestIdentifier::Of(observed.manifest, observed.index));
  return known.health.empty() || known.status != status;
}

}  // namespace controllers
