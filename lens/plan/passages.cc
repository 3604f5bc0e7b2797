#include "lens/plan/passages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/reasons.h"
#include "base/status.h"
#include "lens/why/rules.h"
#include "sandbox/sim/writes.h"
#include "works/passage.h"

namespace lens::plan {
namespace {

ObjectId IdOf(const api::ObjectReference& reference) {
  return {reference.gvk().group, reference.kind, reference.ns, reference.name};
}

bool Names(const kube::Object& work, const kube::Object& binding) {
  const kube::ObjectKey named = binding.ns().empty() ? api::scope::Cluster::BindingOf(work)
                                                     : api::scope::Namespaced::BindingOf(work);
  return named == binding.key();
}

// Returns the Works in the clusters that the binding names as targets, as works::TargetWorks does.
std::vector<kube::ObjectPtr> TargetWorks(const api::BindingView& binding,
                                         const std::vector<kube::ObjectPtr>& works) {
  const api::ObjectReference object = binding.Resource();
  const std::string name = api::WorkName(object.kind, object.name, object.ns);
  std::vector<kube::ObjectPtr> found;
  for (const api::TargetCluster& target : binding.DispatchTargets()) {
    const kube::ObjectKey key = {api::ExecutionNamespace(target.name), name};
    const auto at = std::find_if(works.begin(), works.end(), [&](const kube::ObjectPtr& work) {
      return work->key() == key && Names(*work, binding.object());
    });
    if (at != works.end()) found.push_back(*at);
  }
  return found;
}

std::vector<kube::ObjectPtr> Shared(const std::vector<kube::Object>& objects) {
  std::vector<kube::ObjectPtr> shared;
  for (const kube::Object& object : objects) shared.push_back(kube::Share(object));
  return shared;
}

std::string TextFor(works::Passage passage, const std::string& failure) {
  if (passage == works::Passage::kReleased) {
    return "no policy governs it any more: clusters keep what they have, and neither edits nor "
           "overrides reach them";
  }
  return absl::StrCat("clusters that have it get this state only when its policy lets it pass",
                      failure.empty() ? "" : ": ", failure);
}

}  // namespace

bool HasPassed(const LiveState& live, const kube::Object& binding) {
  const api::BindingView view(binding);
  const ObjectId id = IdOf(view.Resource());
  const auto object =
      std::find_if(live.templates.begin(), live.templates.end(),
                   [&](const kube::Object& one) { return ObjectId::Of(one) == id; });
  if (object == live.templates.end()) return false;
  const auto find = [&] { return TargetWorks(view, Shared(live.works)); };
  // No customization prunes, and webhooks are not called.
  return works::HasPassed(view, *object, find, why::Rules({}).WithoutWebhooks());
}

absl::Status RecordPassage(sandbox::Backend& backend, bool has_passed, kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  const kube::Resource resource = backend.Find(reference.gvk());
  if (resource.gvk.empty() || reference.resource_version.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::ObjectPtr here,
                   sandbox::FindObject(backend, resource.gvr(), reference.key()));
  if (here == nullptr) return absl::OkStatus();
  kube::Object never;  // A state that no template has, before all versions.
  never.Set({"metadata", "resourceVersion"}, "0");
  const kube::Object& passed = has_passed ? *here : never;
  binding.Set({"spec", "resource", "resourceVersion"}, passed.resource_version());
  binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(passed));
  return absl::OkStatus();
}

std::string PolicyFailure(const std::vector<LoopWarning>& warnings, const ObjectId& id) {
  for (const LoopWarning& warning : warnings) {
    if (warning.reason == api::reason::kApplyPolicyFailed && warning.kind == id.kind &&
        warning.ns == id.ns && warning.name == id.name) {
      return warning.message;
    }
  }
  return "";
}

void AddHeldBack(const State& state, const std::vector<LoopWarning>& warnings,
                 const interpreter::Interpreter& interpreter, Outcome& out) {
  for (const kube::ObjectPtr& binding : state.bindings) {
    const api::BindingView view(*binding);
    const ObjectId id = IdOf(view.Resource());
    const auto found = out.find(id);
    const auto object =
        std::find_if(state.templates.begin(), state.templates.end(),
                     [&](const kube::ObjectPtr& one) { return ObjectId::Of(*one) == id; });
    if (found == out.end() || object == state.templates.end() || binding->IsDeleting()) continue;
    const auto find = [&] { return TargetWorks(view, state.works); };
    const works::Passage passage = works::PassageOf(view, **object, find, interpreter);
    if (passage == works::Passage::kPassed) continue;
    found->second.held_back = TextFor(passage, PolicyFailure(warnings, id));
  }
}

}  // namespace lens::plan
