// The decision goes from what is cheap and certain to what is neither. A binding that no policy
// governs is decided by its labels; then the record that the detector keeps in it is compared with
// the template; then, for bindings of upstream's, the recorded version; and last, only if all else
// is silent, the manifests of its Works, for which the interpreter may have to be asked
// (PresentState asks once). All of it is stored, so that any process decides the same; nothing is
// remembered here.

#include "works/passage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/policy_claim.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"

namespace works {
namespace {

// Returns what users determine of a manifest, without the metadata that no label or annotation is.
json::Value ContentOf(kube::Object manifest) {
  interpreter::Prune(manifest);
  manifest.EraseLabel(api::kManagedLabel);  // Its domain is not one of those that are left out.
  const kube::Object own(api::UserSpecification(manifest));
  json::Value content = own.root();
  content.Erase("metadata");
  content.Set({"metadata", "labels"}, own.labels());
  content.Set({"metadata", "annotations"}, own.annotations());
  return content;
}

// The template's present state, with which Works are compared. Users' scripts and webhooks may be
// asked what it is, so it is determined once for all Works, and only if one needs it.
class PresentState {
 public:
  PresentState(const kube::Object& object, const interpreter::Interpreter& interpreter)
      : object_(object), interpreter_(interpreter) {}

  // Returns whether the Work was made of it.
  bool IsIn(const kube::Object& work) {
    const api::WorkView view(work);
    const std::optional<int64_t> index = view.IndexOf(object_);
    if (!index.has_value()) return false;
    const kube::Object manifest(view.Manifests()[*index]);
    const std::string generation = absl::StrCat(object_.generation());
    const bool same_generation =
        object_.generation() > 0 &&
        manifest.Annotation(api::kTemplateGenerationAnnotation) == generation;
    return same_generation || (Content().ok() && ContentOf(manifest) == *Content());
  }

 private:
  const absl::StatusOr<json::Value>& Content() {
    if (!content_.has_value()) content_ = Determine();
    return *content_;
  }
  absl::StatusOr<json::Value> Determine() const {
    ASSIGN_OR_RETURN(kube::Object pruned,
                     interpreter::AnswerAs<kube::Object>(interpreter_.AskOrAssume(
                         {.operation = interpreter::Operation::kPrune, .object = object_})));
    return ContentOf(std::move(pruned));
  }

  const kube::Object& object_;
  const interpreter::Interpreter& interpreter_;
  std::optional<absl::StatusOr<json::Value>> content_;
};

bool Names(const kube::Object& work, const kube::Object& binding) {
  const kube::ObjectKey named = binding.ns().empty() ? api::scope::Cluster::BindingOf(work)
                                                     : api::scope::Namespaced::BindingOf(work);
  return named == binding.key();
}

}  // namespace

Passage PassageOf(const api::BindingView& binding, const kube::Object& object, FindWorks find,
                  const interpreter::Interpreter& interpreter) {
  if (IsReleased(binding)) return Passage::kReleased;
  const bool is_governed = binding.object().Label(api::kBindingManagedByLabel).empty() &&
                           api::HasPolicyId(binding.object());
  if (!is_governed) return Passage::kPassed;
  return HasPassed(binding, object, find, interpreter) ? Passage::kPassed : Passage::kHeldBack;
}

bool IsReleased(const api::BindingView& binding) {
  const kube::Object& object = binding.object();
  if (!object.Label(api::kBindingManagedByLabel).empty() || api::HasPolicyId(object)) return false;
  const bool is_attached = !object.spec()["requiredBy"].empty();
  return !is_attached && !binding.Resource().resource_version.empty();
}

bool HasPassed(const api::BindingView& binding, const kube::Object& object, FindWorks find,
               const interpreter::Interpreter& interpreter) {
  const api::ObjectReference recorded = binding.Resource();
  if (!recorded.uid.empty() && recorded.uid != object.uid()) return false;
  const api::PassedRecord record = api::CompareWithRecord(binding.object(), object);
  if (record != api::PassedRecord::kNone) return record == api::PassedRecord::kSame;
  if (recorded.resource_version == object.resource_version()) return true;
  const std::vector<kube::ObjectPtr> works = find();
  PresentState present(object, interpreter);
  return !works.empty() && std::all_of(works.begin(), works.end(),
                                       [&](const auto& work) { return present.IsIn(*work); });
}

std::vector<kube::ObjectPtr> TargetWorks(const api::BindingView& binding,
                                         kube::ClusterClient& control_plane) {
  const api::ObjectReference object = binding.Resource();
  const std::string name = api::WorkName(object.kind, object.name, object.ns);
  std::vector<kube::ObjectPtr> works;
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    kube::ObjectPtr work =
        control_plane.Find(api::Works(), {api::ExecutionNamespace(target.name), name});
    if (work != nullptr && Names(*work, binding.object())) works.push_back(std::move(work));
  }
  return works;
}

}  // namespace works
