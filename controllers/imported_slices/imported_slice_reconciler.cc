// A pass is about one Work. If it carries a collected EndpointSlice and is wanted for a
// ServiceExport, the slice of the control plane is created or made equal to it. If it is being
// deleted, or the export has gone while a MultiClusterService keeps the Work, its slices are
// deleted and its finalizer is taken off.
//
// The annotations of a slice say whose it is: they name the Work. (Upstream goes by the Work's
// permanent id alone, which is empty where the webhook has not set one, so that the end of one such
// Work takes the slices of all of them.) A slice of the name that is somebody else's, or another
// Work's, is left alone, and an event reports that. A slice of the first list, and one that
// somebody changes or deletes, brings its Work back. The slices of a Work that was seen to be
// deleted without its finalizer are deleted; those of one that is merely not there stay, since a
// restored backup may bring it yet.

#include "controllers/imported_slices/imported_slice_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/imported_slices/imported_slice.h"
#include "controllers/imported_slices/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

// Returns whether the Work has, or may have, slices in the control plane.
bool Concerns(const kube::Object& work) {
  return !work.Label(api::kEndpointSliceNameLabel).empty() ||
         work.HasFinalizer(api::kEndpointSliceFinalizer);
}

bool IsImportedFrom(const kube::Object& work) {
  return !work.IsDeleting() && !work.Label(api::kEndpointSliceNameLabel).empty() &&
         api::IsCollectedSlice(work);
}

bool OtherContent(const kube::Object& before, const kube::Object& after) {
  return (Concerns(before) || Concerns(after)) &&
         (kube::ContentChanged(before, after) ||
          before.metadata()["finalizers"] != after.metadata()["finalizers"]);
}

// Returns whether the same write fails again, or the namespace is missing.
bool IsLasting(const absl::Status& failure) {
  return base::IsTerminal(failure) || kube::IsInvalid(failure) || kube::IsGone(failure) ||
         absl::IsResourceExhausted(failure);
}

// The labels are what the Work is found by, and the agent of a pull cluster writes both.
absl::Status CheckNamespace(const kube::Object& work, const kube::Object& manifest) {
  const absl::string_view ns = work.Label(api::kEndpointSliceNamespaceLabel);
  if (manifest.ns() == ns) return absl::OkStatus();
  return base::Terminal(absl::InvalidArgumentError(
      absl::StrCat(manifest.Describe(), " is not of namespace \"", ns,
                   "\", in which the labels of the Work say that its Service is")));
}

std::vector<kube::Request> RequestForWorkOf(const kube::Object& slice) {
  const kube::ObjectKey work = WorkOfImported(slice);
  if (!IsImported(slice) || work.name.empty()) return {};
  return {{.key = work}};
}

}  // namespace

absl::StatusOr<kube::Action> ImportedSliceReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  // A Work that somebody has made in another namespace is nothing that was collected.
  if (!api::IsExecutionNamespace(request.key.ns)) return kube::Action::Done();
  const kube::ObjectPtr work = manager_.cluster().Find(api::Works(), request.key);
  if (work != nullptr) seen_->Forget(request.key);
  if (work != nullptr && IsImportedFrom(*work)) return Import(*work, stop);
  if (work == nullptr) return CleanUpAfter(request.key, stop);
  RETURN_IF_ERROR(EndImport(work, stop));
  return kube::Action::Gone();
}

absl::StatusOr<kube::Action> ImportedSliceReconciler::Import(const kube::Object& work,
                                                             const base::StopToken& stop) {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
  if (!cluster.ok()) return kube::Action::Done();
  const kube::Request request = {work.key()};
  const absl::Status result = recorder_.Judge(request, "", ImportAll(work, *cluster, stop));
  const std::string what = absl::StrCat("Import EndpointSlice(", api::SliceOf(work).ToString(),
                                        ") of cluster(", *cluster, ")");
  recorder_.Outcome(
      {.of = request,
       .about = {kube::InvolvedObject::Of(work)},
       .success = {api::reason::kImportEndpointSliceSucceed, absl::StrCat(what, " succeed.")},
       .failure = {api::reason::kImportEndpointSliceFailed,
                   absl::StrCat(what, " failed: ", result.message())}},
      result);
  if (result.ok()) return kube::Action::Done();
  if (!IsLasting(result)) return result;
  base::LogWarning("an EndpointSlice could not be imported",
                   {{"work", work.key().ToString()},
                    {"error", result},
                    {"again after", absl::FormatDuration(kAfterLastingFailure)}});
  return kube::Action::After(kAfterLastingFailure);
}

absl::Status ImportedSliceReconciler::ImportAll(const kube::Object& work,
                                                const std::string& cluster,
                                                const base::StopToken& stop) {
  base::ErrorList errors;
  std::set<kube::ObjectKey> wanted;
  for (const json::Value& raw : api::WorkView(work).Manifests()) {
    const kube::Object manifest(raw);
    if (manifest.gvk() != api::EndpointSlices().gvk) continue;
    const absl::Status fits = CheckNamespace(work, manifest);
    errors.Add(fits);
    if (!fits.ok()) continue;
    const kube::Object slice = ImportedSlice(work, manifest, cluster);
    wanted.insert(slice.key());
    errors.Add(Write(slice, work, stop));
  }
  // Also slices of an earlier manifest of this Work, which has been renamed since.
  errors.Add(DeleteSlices(work.key(), work.Label(api::kWorkIdLabel), wanted, stop));
  return errors.Join();
}

absl::Status ImportedSliceReconciler::Write(const kube::Object& wanted, const kube::Object& work,
                                            const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const kube::ObjectPtr existing = client.Find(api::EndpointSlices(), wanted.key());
  if (existing == nullptr) return Create(wanted, stop);
  // Its end brings the Work back.
  if (existing->IsDeleting()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckOwner(*existing, work));
  if (existing->root()["addressType"] != wanted.root()["addressType"]) {
    // The API does not let it change.
    RETURN_IF_ERROR(client.Delete(api::EndpointSlices(), existing->key(),
                                  {.uid = std::string(existing->uid())}, stop));
    return Create(wanted, stop);
  }
  const absl::Status written =
      client.Update(api::EndpointSlices(), existing, MergedSlice(wanted, *existing), {}, stop)
          .status();
  return kube::IsGone(written) ? absl::AbortedError(written.message()) : written;
}

absl::Status ImportedSliceReconciler::Create(const kube::Object& wanted,
                                             const base::StopToken& stop) {
  const absl::Status created =
      manager_.cluster().Create(api::EndpointSlices(), wanted, stop).status();
  // The cache was behind.
  return kube::AlreadyExists(created) ? absl::AbortedError(created.message()) : created;
}

absl::Status ImportedSliceReconciler::CheckOwner(const kube::Object& existing,
                                                 const kube::Object& work) {
  const kube::ObjectKey owner = WorkOfImported(existing);
  if (owner == work.key()) return absl::OkStatus();
  if (!IsImported(existing)) {
    return base::Terminal(absl::AlreadyExistsError(
        absl::StrCat(existing.Describe(), " exists in the control plane and is not Karmada's")));
  }
  const kube::ObjectPtr other = manager_.cluster().Find(api::Works(), owner);
  // The Work that it names does not want it any more: this one takes it over.
  if (other == nullptr || !IsImportedFrom(*other)) return absl::OkStatus();
  return base::Terminal(absl::AlreadyExistsError(
      absl::StrCat(existing.Describe(), " is made of another cluster's slice, by Work ",
                   owner.ToString(), "; rename one of the two slices or clusters")));
}

absl::Status ImportedSliceReconciler::DeleteSlices(const kube::ObjectKey& work,
                                                   absl::string_view id,
                                                   const std::set<kube::ObjectKey>& but,
                                                   const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  base::ErrorList errors;
  for (const std::string& value : IndexValuesOfWork(work, id)) {
    for (const kube::ObjectPtr& slice :
         client.ByIndex(api::EndpointSlices(), kImportedByWork, value)) {
      if (slice->IsDeleting() || but.contains(slice->key())) continue;
      errors.Add(base::Annotate(client.Delete(api::EndpointSlices(), slice->key(),
                                              {.uid = std::string(slice->uid())}, stop),
                                "deleting ", slice->Describe()));
    }
  }
  return errors.Join();
}

absl::Status ImportedSliceReconciler::EndImport(const kube::ObjectPtr& work,
                                                const base::StopToken& stop) {
  RETURN_IF_ERROR(DeleteSlices(work->key(), work->Label(api::kWorkIdLabel), {}, stop));
  return manager_.cluster().RemoveFinalizer(api::Works(), work, api::kEndpointSliceFinalizer, stop);
}

absl::StatusOr<kube::Action> ImportedSliceReconciler::CleanUpAfter(const kube::ObjectKey& key,
                                                                   const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const std::string name = key.ToString();
  const std::vector<kube::ObjectPtr> kept =
      client.ByIndex(api::EndpointSlices(), kImportedByWork, name);
  if (kept.empty()) return kube::Action::Gone();
  ASSIGN_OR_RETURN(const auto absence, seen_->Judge(client, api::Works(), key, stop));
  if (absence == SeenDeletions::Absence::kOfCache) return kube::Action::Done();
  if (absence == SeenDeletions::Absence::kUnseen) {
    return kube::Action::Gone(
        ReportKept(recorder_, manager_.clock().Now(), kept, absl::StrCat("Work ", name)));
  }
  RETURN_IF_ERROR(DeleteSlices(key, "", {}, stop));
  return kube::Action::Gone();
}

absl::Status RegisterImportedSlices(const Context& context, int workers) {
  const auto concerns = [](const kube::Object& work) { return Concerns(work); };
  const auto seen = std::make_shared<SeenDeletions>();
  kube::Enqueue deleted = OnDeletion(seen);
  deleted.when.remove = concerns;
  context.NewController(api::kEndpointSliceController, workers)
      .Watches(api::Works(),
               {.when = {.add = concerns, .update = OtherContent, .remove = kube::Never}})
      .Watches(api::Works(), std::move(deleted))
      .Watches(api::EndpointSlices(),
               {.when = {.update = kube::ResourceVersionChanged}, .map = RequestForWorkOf})
      .Reads(api::EndpointSlices(), kImportedByWork, ImportedIndexValues)
      .Build(std::make_unique<ImportedSliceReconciler>(context.manager, seen));
  return absl::OkStatus();
}

}  // namespace controllers
