// A Work that does not exist is created whole. One that exists gets the new spec, and the labels
// and annotations of the new state besides those it has, in one patch of what differs; one that is
// being deleted is an error, so that the pass is repeated until it is gone. The finished manifest
// lists the names of its own labels and annotations, by which the member's additions are
// distinguished from what the template has lost.
#include "works/work_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/interpreter.h"

namespace works {
namespace {

std::string JoinedNames(const json::Value& map, std::vector<std::string> extra) {
  std::vector<std::string> names = std::move(extra);
  for (const json::Member& m : map.members()) names.emplace_back(m.name());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return absl::StrJoin(names, ",");
}

// Records in the manifest which labels and annotations come from here, so that ones the template
// loses later can be distinguished from ones that the member added.
void RecordManagedKeys(kube::Object& manifest, absl::string_view work_id) {
  manifest.SetAnnotation(api::kManagedAnnotationsAnnotation,
                         JoinedNames(manifest.annotations(), {api::kManagedAnnotationsAnnotation,
                                                              api::kManagedLabelsAnnotation}));
  if (!work_id.empty()) manifest.SetLabel(api::kWorkIdLabel, work_id);
  manifest.SetAnnotation(api::kManagedLabelsAnnotation, JoinedNames(manifest.labels(), {}));
}

kube::Object FinishedManifest(const WorkTemplate& wanted, absl::string_view work_id) {
  kube::Object manifest = wanted.manifest;
  const std::string template_uid(manifest.uid());
  interpreter::Prune(manifest);
  manifest.SetLabel(api::kManagedLabel, api::kManagedValue);
  manifest.SetAnnotation(api::kTemplateUidAnnotation, template_uid);
  manifest.SetAnnotation(api::kWorkNameAnnotation, wanted.key.name);
  manifest.SetAnnotation(api::kWorkNamespaceAnnotation, wanted.key.ns);
  const absl::string_view resolution =
      wanted.annotations[api::kConflictResolutionAnnotation].AsString();
  if (!resolution.empty()) manifest.SetAnnotation(api::kConflictResolutionAnnotation, resolution);
  RecordManagedKeys(manifest, work_id);
  return manifest;
}

json::Value ManifestsFor(const kube::Object& work, const WorkTemplate& wanted) {
  return json::Value::Array({FinishedManifest(wanted, work.Label(api::kWorkIdLabel)).root()});
}

void SetSpec(kube::Object& work, const WorkTemplate& wanted, json::Value manifests) {
  json::Value spec = json::Value::Object();
  spec.Set({"workload", "manifests"}, std::move(manifests));
  if (wanted.suspend_dispatching) spec.Set("suspendDispatching", *wanted.suspend_dispatching);
  if (wanted.preserve_resources_on_deletion) {
    spec.Set("preserveResourcesOnDeletion", *wanted.preserve_resources_on_deletion);
  }
  work.Set({"spec"}, std::move(spec));
}

void MergeMetadata(kube::Object& work, const WorkTemplate& wanted) {
  for (const json::Member& m : wanted.labels.members()) work.SetLabel(m.name(), m.value.AsString());
  for (const json::Member& m : wanted.annotations.members()) {
    work.SetAnnotation(m.name(), m.value.AsString());
  }
  work.AddFinalizer(api::kExecutionFinalizer);
}

}  // namespace

kube::Object NewWork(const WorkTemplate& wanted) {
  kube::Object work = kube::Object::Make(api::Works().gvk, wanted.key);
  MergeMetadata(work, wanted);
  if (!wanted.owner_references.is_null()) {
    work.Set({"metadata", "ownerReferences"}, wanted.owner_references);
  }
  SetSpec(work, wanted, ManifestsFor(work, wanted));
  return work;
}

kube::Object MergedWork(const WorkTemplate& wanted, const kube::Object& existing) {
  kube::Object work = existing;
  MergeMetadata(work, wanted);
  SetSpec(work, wanted, ManifestsFor(work, wanted));
  return work;
}

absl::StatusOr<WorkWriter::Result> WorkWriter::CreateOrUpdate(const WorkTemplate& wanted,
                                                              const base::StopToken& stop) {
  const kube::ObjectPtr existing = client_.Find(api::Works(), wanted.key);
  if (existing == nullptr) {
    RETURN_IF_ERROR(client_.Create(api::Works(), NewWork(wanted), stop).status());
    return Result{.written = true};
  }
  if (existing->IsDeleting()) {
    return absl::FailedPreconditionError(
        absl::StrCat("work ", wanted.key.ToString(), " is being deleted"));
  }
  // Nobody else writes the lists of the spec, so a concurrent status write is not a conflict and no
  // precondition is needed.
  kube::UpdateOptions options;
  options.precondition = kube::UpdateOptions::Precondition::kNever;
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr now,
      client_.Update(api::Works(), existing, MergedWork(wanted, *existing), options, stop));
  return Result{.written = now != existing};
}

}  // namespace works
