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
#include "kube/client/errors.h"

namespace works {
namespace {

// etcd's default for --max-request-bytes, to which a Work adds what the server records with it.
constexpr size_t kEtcdBytes = 1536 << 10;
constexpr size_t kSuspiciousBytes = 1 << 20;

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

// Returns the names of the override policies that were applied to the Work's manifest.
std::string OverridePoliciesOf(const kube::Object& work) {
  std::vector<std::string> names;
  for (const char* annotation :
       {api::kAppliedClusterOverridesAnnotation, api::kAppliedOverridesAnnotation}) {
    const absl::StatusOr<json::Value> applied = json::Parse(work.Annotation(annotation));
    if (!applied.ok()) continue;
    for (const json::Value& item : applied->items()) names.push_back(item["policyName"].ToString());
  }
  return names.empty() ? "none" : absl::StrJoin(names, ",");
}

// Says so when a Work that could not be written may be too large for the server's storage.
absl::Status ExplainedBySize(const kube::Object& work, const absl::Status& written) {
  if (written.ok() || kube::IsNoOutcome(written)) return written;
  const size_t bytes = json::Write(work.root()).size();
  if (bytes < kSuspiciousBytes) return written;
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  return base::Annotate(written, manifest.Describe(), " with its overrides (of ",
                        OverridePoliciesOf(work), ") makes a Work of ", bytes,
                        " bytes, and etcd stores ", kEtcdBytes,
                        " by default; make it or what the overrides add smaller");
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
    const kube::Object work = NewWork(wanted);
    RETURN_IF_ERROR(ExplainedBySize(work, client_.Create(api::Works(), work, stop).status()));
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
  const kube::Object work = MergedWork(wanted, *existing);
  const absl::StatusOr<kube::ObjectPtr> now =
      client_.Update(api::Works(), existing, work, options, stop);
  RETURN_IF_ERROR(ExplainedBySize(work, now.status()));
  return Result{.written = *now != existing};
}

}  // namespace works
