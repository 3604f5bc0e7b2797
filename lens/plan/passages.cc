// Whether a state of a template may reach clusters follows from a record in its binding and from
// the Works (works/passage.h). A plan takes bindings over onto a simulated server, where templates
// have other versions; so PassedBindings asks on the live objects, and RecordPassage writes the
// answer in terms of the simulated ones: the version that the template has there, or one that no
// template has. After the loops have come to rest, AddHeldBack asks the same question there and
// puts the answer in words. No state.

#include "lens/plan/passages.h"

#include <map>

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

// Templates and Works, found by name.
class Index {
 public:
  Index(const std::vector<kube::ObjectPtr>& templates, const std::vector<kube::ObjectPtr>& works) {
    for (const kube::ObjectPtr& object : templates) templates_[ObjectId::Of(*object)] = object;
    for (const kube::ObjectPtr& work : works) works_[work->key()] = work;
  }

  kube::ObjectPtr TemplateOf(const api::BindingView& binding) const {
    const auto found = templates_.find(IdOf(binding.Resource()));
    return found == templates_.end() ? nullptr : found->second;
  }

  // Returns the Works in the clusters that the binding names as targets, as works::TargetWorks.
  std::vector<kube::ObjectPtr> TargetWorks(const api::BindingView& binding) const {
    const api::ObjectReference object = binding.Resource();
    const std::string name = api::WorkName(object.kind, object.name, object.ns);
    std::vector<kube::ObjectPtr> works;
    for (const api::TargetCluster& target : binding.DispatchTargets()) {
      const auto found = works_.find({api::ExecutionNamespace(target.name), name});
      const bool is_its = found != works_.end() && Names(*found->second, binding.object());
      if (is_its) works.push_back(found->second);
    }
    return works;
  }

 private:
  std::map<ObjectId, kube::ObjectPtr> templates_;
  std::map<kube::ObjectKey, kube::ObjectPtr> works_;
};

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

std::set<kube::ObjectKey> PassedBindings(const LiveState& live) {
  const Index index(Shared(live.templates), Shared(live.works));
  const why::Rules rules({});  // No customization prunes, and webhooks are not called.
  std::set<kube::ObjectKey> passed;
  for (const kube::Object& binding : live.bindings) {
    const api::BindingView view(binding);
    const kube::ObjectPtr object = index.TemplateOf(view);
    const auto find = [&] { return index.TargetWorks(view); };
    if (object == nullptr || !works::HasPassed(view, *object, find, rules.WithoutWebhooks())) {
      continue;
    }
    passed.insert(binding.key());
  }
  return passed;
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
  const Index index(state.templates, state.works);
  for (const kube::ObjectPtr& binding : state.bindings) {
    const api::BindingView view(*binding);
    const ObjectId id = IdOf(view.Resource());
    const auto found = out.find(id);
    const kube::ObjectPtr object = index.TemplateOf(view);
    if (found == out.end() || object == nullptr || binding->IsDeleting()) continue;
    const auto find = [&] { return index.TargetWorks(view); };
    const works::Passage passage = works::PassageOf(view, *object, find, interpreter);
    if (passage == works::Passage::kPassed) continue;
    found->second.held_back = TextFor(passage, PolicyFailure(warnings, id));
  }
}

}  // namespace lens::plan
