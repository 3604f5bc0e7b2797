// A Work that does not exist is created whole. One that exists gets the new spec, and the labels
// and annotations of the new state besides those it has, in one patch of what differs; one that is
// being deleted is an error, so that the pass is repeated until it is gone. The finished manifest
// lists the names of its own labels and annotations, by which the member's additions are
// distinguished from what the template has lost. Other manifests are sent with the version of the
// Work that the cache shows. After a conflict they are sent once more if only other parts of the
// Work have changed, such as its status; otherwise the pass is to be repeated.

#include "works/work_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "api/known_fields.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "interpreter/interpreter.h"
#include "kube/client/errors.h"
#include "kube/meta/annotation_limit.h"
#include "works/stored_size.h"

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

kube::Object FinishedManifest(const WantedWork& wanted, absl::string_view work_id) {
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

json::Value ManifestsFor(const kube::Object& work, const WantedWork& wanted) {
  if (wanted.is_finished) return json::Value::Array({wanted.manifest.root()});
  return json::Value::Array({FinishedManifest(wanted, work.Label(api::kWorkIdLabel)).root()});
}

void SetSpec(kube::Object& work, const WantedWork& wanted, json::Value manifests) {
  static const auto& field = *new api::KnownField{
      "spec",
      {{"workload", {{"manifests"}}}, {"suspendDispatching"}, {"preserveResourcesOnDeletion"}}};
  json::Value spec = json::Value::Object();
  spec.Set({"workload", "manifests"}, std::move(manifests));
  if (wanted.suspend_dispatching) spec.Set("suspendDispatching", *wanted.suspend_dispatching);
  if (wanted.preserve_resources_on_deletion) {
    spec.Set("preserveResourcesOnDeletion", *wanted.preserve_resources_on_deletion);
  }
  work.Set({"spec"}, api::WithUnknown(std::move(spec), work.spec(), field));
}

void MergeMetadata(kube::Object& work, const WantedWork& wanted) {
  for (const json::Member& m : wanted.labels.members()) work.SetLabel(m.name(), m.value.AsString());
  for (const json::Member& m : wanted.annotations.members()) {
    work.SetAnnotation(m.name(), m.value.AsString());
  }
  for (const std::string& finalizer : wanted.finalizers) work.AddFinalizer(finalizer);
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

// The hash at the end of a Work's name makes it longer than the name of its binding for kinds with
// short names. (Upstream leaves such a Work to the API server, which refuses it.)
absl::Status CheckName(const WantedWork& wanted) {
  constexpr size_t kLongest = 253;  // The names of objects are DNS subdomains.
  constexpr size_t kLongestSuffix = 11;
  const size_t length = wanted.key.name.size();
  if (length <= kLongest) return absl::OkStatus();
  return base::Terminal(absl::InvalidArgumentError(absl::StrCat(
      "the name of the Work of ", wanted.manifest.Describe(), ", which is that name with a hash, ",
      "would have ", length, " characters, and a name has at most ", kLongest,
      "; an object whose name has at most ", kLongest - kLongestSuffix,
      " characters can always be propagated")));
}

// A server refuses an object with longer annotations, and the record of applied overriders can be
// that long. What makes it so is in the Work, so the same write would be refused again.
absl::Status CheckAnnotations(const kube::Object& work) {
  const size_t bytes = kube::AnnotationBytes(work);
  if (bytes <= kube::kMaxAnnotationBytes) return absl::OkStatus();
  return base::Terminal(absl::InvalidArgumentError(absl::StrCat(
      "the annotations of Work ", work.key().ToString(), ", which record the overriders of ",
      OverridePoliciesOf(work), ", would have ", bytes, " bytes, and a server takes ",
      kube::kMaxAnnotationBytes, "; make the overriders shorter")));
}

// Says so when a Work that could not be written may be too large for the server's storage.
absl::Status ExplainedBySize(const kube::Object& work, const absl::Status& written) {
  const std::optional<size_t> bytes = SuspiciousSize(work, written);
  if (!bytes.has_value()) return written;
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  return base::Annotate(written, manifest.Describe(), " with its overrides (of ",
                        OverridePoliciesOf(work), ") makes a Work of ", *bytes,
                        " bytes, and etcd stores ", kEtcdBytes,
                        " by default; make it or what the overrides add smaller");
}

bool HaveSameManifests(const kube::Object& a, const kube::Object& b) {
  return absl::c_equal(api::WorkView(a).Manifests(), api::WorkView(b).Manifests());
}

// Other manifests must not be written over ones that the cache does not show: a leader that was cut
// off may send its last write after those of its successor, and nothing would repair that. For the
// rest no precondition is needed, since nobody else writes the lists of the spec, unless the Work
// is shared.
absl::StatusOr<kube::ObjectPtr> Update(kube::ClusterClient& client, const WantedWork& wanted,
                                       const kube::ObjectPtr& existing,
                                       const base::StopToken& stop) {
  const kube::Object work = MergedWork(wanted, *existing);
  RETURN_IF_ERROR(CheckAnnotations(work));
  kube::UpdateOptions options;
  options.precondition = HaveSameManifests(work, *existing) && !wanted.is_shared
                             ? kube::UpdateOptions::Precondition::kNever
                             : kube::UpdateOptions::Precondition::kAlways;
  return client.Update(api::Works(), existing, work, options, stop);
}

}  // namespace

kube::Object NewWork(const WantedWork& wanted) {
  kube::Object work = kube::Object::Make(api::Works().gvk, wanted.key);
  MergeMetadata(work, wanted);
  if (!wanted.owner_references.is_null()) {
    work.Set({"metadata", "ownerReferences"}, wanted.owner_references);
  }
  SetSpec(work, wanted, ManifestsFor(work, wanted));
  return work;
}

kube::Object MergedWork(const WantedWork& wanted, const kube::Object& existing) {
  kube::Object work = existing;
  MergeMetadata(work, wanted);
  SetSpec(work, wanted, ManifestsFor(work, wanted));
  return work;
}

absl::StatusOr<WorkWriter::Result> WorkWriter::CreateOrUpdate(const WantedWork& wanted,
                                                              const base::StopToken& stop) {
  return CreateOrUpdate(wanted, client_.Find(api::Works(), wanted.key), stop);
}

absl::StatusOr<WorkWriter::Result> WorkWriter::CreateOrUpdate(const WantedWork& wanted,
                                                              const kube::ObjectPtr& existing,
                                                              const base::StopToken& stop) {
  if (existing == nullptr) {
    RETURN_IF_ERROR(CheckName(wanted));
    const kube::Object work = NewWork(wanted);
    RETURN_IF_ERROR(CheckAnnotations(work));
    RETURN_IF_ERROR(ExplainedBySize(work, client_.Create(api::Works(), work, stop).status()));
    return Result{.written = true};
  }
  if (existing->IsDeleting()) {
    return absl::FailedPreconditionError(
        absl::StrCat("work ", wanted.key.ToString(), " is being deleted",
                     existing->metadata()["finalizers"].empty() ? "" : "; it waits for ",
                     absl::StrJoin(existing->metadata()["finalizers"].items(), ", ",
                                   [](std::string* out, const json::Value& finalizer) {
                                     absl::StrAppend(out, finalizer.AsString());
                                   })));
  }
  absl::StatusOr<kube::ObjectPtr> now = Update(client_, wanted, existing, stop);
  if (kube::IsConflict(now.status())) {
    // The cache shows by now what the server has. If only the status has changed, or other parts
    // that nothing is derived from, the same change is right.
    const kube::ObjectPtr live = client_.Find(api::Works(), wanted.key);
    if (live == nullptr || live->uid() != existing->uid() || live->IsDeleting() ||
        !HaveSameManifests(*live, *existing) ||
        (wanted.is_shared && live->labels() != existing->labels())) {
      return now.status();
    }
    now = Update(client_, wanted, live, stop);
  }
  if (!now.ok()) return ExplainedBySize(MergedWork(wanted, *existing), now.status());
  return Result{.written = *now != existing};
}

}  // namespace works
