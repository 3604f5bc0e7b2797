// An object that was deleted in its member is created again if a Work still has it, unless the Work
// suspends its dispatching. A Work whose application has failed is the execution loop's to try and
// to report on, so that loop is asked to look at it; so it is when the object was there all the
// same, or the Work was replaced meanwhile. Otherwise the outcome is written to the Work (condition
// Applied, and the status of an object that could not be made is withdrawn) and reported by an
// event on the template.
//
// A Work may end while its object is made, and its end may have looked for the object before that.
// Such an object is an orphan: it is deleted, or released if the Work preserves its objects, and
// the request is repeated until that has succeeded. Orphans are remembered in this process only:
// one that is lost by a restart stays in the member until somebody deletes it.

#include "controllers/work_status/recreation.h"

#include <utility>

#include "api/binding.h"
#include "api/condition.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "controllers/work_status/work_of_object.h"
#include "works/member_errors.h"
#include "works/ownership.h"
#include "works/related.h"
#include "works/release.h"

namespace controllers {

void FollowNamespace(const WorkStatusDeps& deps, const std::string& cluster,
                     const kube::Object& made) {
  if (made.gvk() != api::Namespaces().gvk) return;
  works::RecheckWorksIn(made.key(), cluster, deps.manager.cluster(), deps.rechecks);
}

bool Recreation::HasOrphan(const kube::Request& request) { return OrphanOf(request).has_value(); }

void Recreation::ForgetCluster(absl::string_view cluster) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(orphans_, [&](const auto& entry) { return entry.first.cluster == cluster; });
}

absl::Status Recreation::Run(const kube::Request& request, const base::StopToken& stop) {
  const kube::ObjectPtr work = WorkOfObject(deps_.manager.cluster(), request);
  // Nothing is made for a Work that ends; what an earlier pass made for it is taken back.
  if (work == nullptr || work->IsDeleting()) return EndOrphan(request, stop);
  ForgetOrphan(request);
  const api::WorkView view(*work);
  const std::optional<int64_t> index = view.IndexOf(kube::Object::Make(request.gvk, request.key));
  if (view.IsDispatchingSuspended() || !index.has_value()) return absl::OkStatus();
  const kube::Object manifest(view.Manifests()[static_cast<size_t>(*index)]);

  // The execution loop is trying to apply the Work and reports the outcome.
  const json::Value* applied = kube::FindCondition(view.Conditions(), api::kWorkApplied);
  if (applied != nullptr && (*applied)["reason"].AsString() == api::reason::kAppliedFailed) {
    deps_.rechecks.Publish(*work);
    return absl::OkStatus();
  }
  return RecreateManifest(request, *work, manifest, stop);
}

absl::Status Recreation::RecreateManifest(const kube::Request& request, const kube::Object& work,
                                          const kube::Object& manifest,
                                          const base::StopToken& stop) {
  const absl::StatusOr<works::ApplyResult> made =
      deps_.objects.Recreate(request.cluster, manifest, stop);
  const absl::Status created = made.status();
  if (absl::IsCancelled(created)) return created;
  if (!created.ok() || *made == works::ApplyResult::kCreated ||
      *made == works::ApplyResult::kUpdated) {
    // The end of the Work may have looked for the object before it was made or had its label back.
    const kube::ObjectPtr now = deps_.manager.cluster().Find(api::Works(), work.key());
    if (now == nullptr || now->IsDeleting()) {
      const bool was_there = created.ok() && *made == works::ApplyResult::kUpdated;
      const api::WorkView ended(now == nullptr ? work : *now);
      KeepOrphan(request, {manifest, was_there && ended.PreservesResourcesOnDeletion()});
      return EndOrphan(request, stop);
    }
    if (now->uid() != work.uid()) {  // The new Work may want something else.
      deps_.rechecks.Publish(*now);
      return absl::OkStatus();
    }
  }
  if (created.ok() && *made != works::ApplyResult::kCreated) {
    // The object existed already: the execution loop determines whether it is what the Work wants.
    deps_.rechecks.Publish(work);
    return absl::OkStatus();
  }
  if (created.ok()) FollowNamespace(deps_, request.cluster, manifest);
  const kube::Condition condition =
      created.ok() ? api::ConditionOf(api::kWorkApplied, true, api::reason::kReCreateSuccessful,
                                      api::message::kManifestApplied)
                   : api::ConditionOf(api::kWorkApplied, false, api::reason::kReCreateFailed,
                                      std::string(works::ForCondition(created).message()));
  works::WorkStatusChange change{{condition}, {}};
  if (!created.ok()) {
    api::ManifestStatus nothing;  // Withdraws the status of the object that is gone.
    nothing.identifier =
        api::ManifestIdentifier::Of(manifest, api::WorkView(work).IndexOf(manifest).value_or(0));
    change.manifest_statuses.push_back(nothing.ToJson());
  }
  deps_.status.Submit(work, std::move(change),
                      created.ok() ? works::News::kProgress : works::News::kSettled);
  Report(manifest, request.cluster, created);
  return created;
}

absl::Status Recreation::EndOrphan(const kube::Request& request, const base::StopToken& stop) {
  const std::optional<Orphan> orphan = OrphanOf(request);
  if (!orphan.has_value()) return absl::OkStatus();
  const kube::Object& manifest = orphan->manifest;
  ASSIGN_OR_RETURN(const kube::ObjectPtr there,
                   deps_.objects.FindOfServedKind(request.cluster, manifest, stop));
  // Another Work may have taken the object over meanwhile; then it is no orphan.
  if (there != nullptr && works::WorkNamedBy(*there) == works::WorkNamedBy(manifest)) {
    RETURN_IF_ERROR(base::Annotate(
        orphan->preserve ? works::Release(deps_.objects, request.cluster, manifest, stop)
                         : deps_.objects.Delete(request.cluster, manifest, stop),
        "taking back ", there->Describe(), " in cluster ", request.cluster,
        ", whose Work is gone"));
  }
  ForgetOrphan(request);
  return absl::OkStatus();
}

void Recreation::KeepOrphan(const kube::Request& request, Orphan orphan) {
  absl::MutexLock lock(&mu_);
  orphans_.insert_or_assign(request, std::move(orphan));
}

std::optional<Recreation::Orphan> Recreation::OrphanOf(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  const auto found = orphans_.find(request);
  return found == orphans_.end() ? std::nullopt : std::optional<Orphan>(found->second);
}

void Recreation::ForgetOrphan(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  orphans_.erase(request);
}

void Recreation::Report(const kube::Object& manifest, const std::string& cluster,
                        const absl::Status& created) {
  const kube::InvolvedObject about = works::TemplateOf(manifest);
  if (about.uid.empty()) return;
  if (created.ok()) {
    recorder_.Normal(about, api::reason::kSyncSucceed,
                     api::message::ManifestSynced(manifest.key(), cluster));
  } else {
    recorder_.Warning(
        about, api::reason::kSyncFailed,
        api::message::ManifestNotSynced(manifest.key(), cluster, works::ForEvent(created)));
  }
}

}  // namespace controllers
