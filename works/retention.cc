#include "works/retention.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "base/status.h"
#include "kube/meta/patch.h"

namespace works {
namespace {

// Copies into `desired` the keys that only the member's object has, except those that came from a
// template which has lost them since.
void RetainMap(const kube::Object& observed, absl::string_view map, absl::string_view managed_list,
               kube::Object& desired) {
  const absl::string_view managed = observed.Annotation(managed_list);
  const std::vector<absl::string_view> ours = absl::StrSplit(managed, ',', absl::SkipEmpty());
  for (const json::Member& m : observed.metadata()[map].members()) {
    if (desired.metadata()[map].Has(m.name())) continue;
    if (std::find(ours.begin(), ours.end(), m.name()) != ours.end()) continue;
    // It is true only as long as objects are applied, and server-side apply sets it itself.
    if (m.name() == api::kAppliedManifestAnnotation) continue;
    desired.Set({"metadata", map, m.name()}, m.value);
  }
}

// Copies into `object` what only the member writes in an object's metadata. A Retain rule sees
// these fields, as upstream's do.
void KeepFieldsOfMember(const kube::Object& observed, kube::Object& object) {
  for (const absl::string_view field : {"resourceVersion", "finalizers", "ownerReferences"}) {
    const json::Value& value = observed.metadata()[field];
    if (!value.is_null()) object.Set({"metadata", field}, value);
  }
}

}  // namespace

absl::StatusOr<kube::Object> Retained(const kube::Object& manifest, const kube::Object& observed,
                                      const interpreter::Interpreter& interpreter) {
  kube::Object desired = manifest;
  KeepFieldsOfMember(observed, desired);
  RetainMap(observed, "annotations", api::kManagedAnnotationsAnnotation, desired);
  RetainMap(observed, "labels", api::kManagedLabelsAnnotation, desired);
  return interpreter::AnswerAs<kube::Object>(interpreter.AskOrAssume(
      {.operation = interpreter::Operation::kRetain, .object = desired, .observed = observed}));
}

absl::StatusOr<json::Value> ChangeOf(const kube::Object& manifest, const kube::Object& observed,
                                     const interpreter::Interpreter& interpreter) {
  ASSIGN_OR_RETURN(const kube::Object desired, Retained(manifest, observed, interpreter));
  kube::Object comparable = observed;
  interpreter::Prune(comparable);
  KeepFieldsOfMember(observed, comparable);
  return kube::DiffMergePatch(comparable.root(), desired.root());
}

}  // namespace works
