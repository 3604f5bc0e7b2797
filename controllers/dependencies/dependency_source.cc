// Propagating bindings record what their templates depend on, and with that the kinds that are
// needed: the handler of bindings passes each new kind, and the end of each, to the subscription. A
// kind that begins to be watched brings all its objects as adds.
//
// An object that comes, or whose labels change, is a matter of its referrers, which are queued; the
// index over what bindings record finds them. Every edit is a matter of the bindings that are
// attached for the object: the loops that render templates are asked to look at them again, and
// nothing is written. The same is done when the object comes, because it may have been edited
// before its kind was watched. An object that goes takes its attached bindings with it, as their
// owner.
//
// Nothing is remembered here. After a restart the record on the bindings names the kinds again, and
// the loops over bindings look at every binding.
#include "controllers/dependencies/dependency_source.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/dependencies.h"
#include "api/names.h"
#include "kube/meta/specification.h"

namespace controllers {
namespace {

// Returns the key of what is depended on: an object, or, with the name "", objects of a kind and
// namespace that a selector chooses.
std::string KeyOf(absl::string_view api_version, absl::string_view kind, absl::string_view ns,
                  absl::string_view name) {
  return absl::StrCat(api_version, "\n", kind, "\n", ns, "\n", name);
}

std::set<kube::Gvk> RecordedKinds(const kube::Object& binding) {
  std::set<kube::Gvk> kinds;
  if (!PropagatesDependencies(binding)) return kinds;
  for (const api::DependentReference& reference : api::RecordedDependencies(binding)) {
    kube::Gvk gvk = reference.gvk();
    if (!gvk.kind.empty()) kinds.insert(std::move(gvk));
  }
  return kinds;
}

}  // namespace

bool PropagatesDependencies(const kube::Object& binding) {
  return api::BindingView(binding).PropagateDeps() && !binding.IsDeleting();
}

std::vector<std::string> DependencyKeys(const kube::Object& binding) {
  std::vector<std::string> keys;
  if (!PropagatesDependencies(binding)) return keys;
  for (const api::DependentReference& reference : api::RecordedDependencies(binding)) {
    keys.push_back(KeyOf(reference.api_version, reference.kind, reference.ns, reference.name));
  }
  return keys;
}

DependencySource::DependencySource(Deps deps, kube::WatchedKinds& kinds)
    : deps_(std::move(deps)),
      subscription_(kinds.Subscribe(*this)),
      followed_(deps_.bindings, kube::NeedKindsOf(subscription_, "dependencies of resourcebindings",
                                                  RecordedKinds)) {}

kube::EventHandler DependencySource::HandlerFor(const kube::Resource&) {
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& object, bool initial_list) {
    OnAdd(*object, initial_list ? kube::kInitialListPriority : kube::kNormalPriority);
  };
  handler.on_update = [this](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (kube::SpecificationChanged(*before, *after)) OnUpdate(*before, *after);
  };
  return handler;
}

std::vector<kube::ObjectKey> DependencySource::ReferrersOf(const kube::Object& object) const {
  std::vector<kube::ObjectKey> referrers;
  const auto under = [&](absl::string_view name) {
    return deps_.bindings->store().ByIndex(
        kDependencyIndex, KeyOf(object.api_version(), object.kind(), object.ns(), name));
  };
  for (const kube::ObjectPtr& binding : under(object.name())) referrers.push_back(binding->key());
  for (const kube::ObjectPtr& binding : under("")) {
    const std::vector<api::DependentReference> references = api::RecordedDependencies(*binding);
    const bool selects = std::any_of(references.begin(), references.end(), [&](const auto& r) {
      return r.name.empty() && r.Matches(object);
    });
    if (selects) referrers.push_back(binding->key());
  }
  return referrers;
}

void DependencySource::Queue(const std::vector<kube::ObjectKey>& referrers, int priority) {
  for (const kube::ObjectKey& referrer : referrers) deps_.queue.Add({.key = referrer}, priority);
}

void DependencySource::RecheckAttached(const kube::Object& object,
                                       const std::vector<kube::ObjectKey>& referrers,
                                       int priority) {
  std::set<std::string> namespaces;
  for (const kube::ObjectKey& referrer : referrers) namespaces.insert(referrer.ns);
  for (const std::string& ns : namespaces) {
    const kube::ObjectPtr attached =
        deps_.bindings->store().Find({ns, api::BindingName(object.kind(), object.name())});
    if (attached != nullptr) deps_.rechecks.Publish(*attached, priority);
  }
}

void DependencySource::OnAdd(const kube::Object& object, int priority) {
  const std::vector<kube::ObjectKey> referrers = ReferrersOf(object);
  Queue(referrers, priority);
  RecheckAttached(object, referrers, priority);
}

void DependencySource::OnUpdate(const kube::Object& before, const kube::Object& after) {
  const std::vector<kube::ObjectKey> referrers = ReferrersOf(after);
  RecheckAttached(after, referrers, kube::kNormalPriority);
  if (before.labels() == after.labels()) return;
  Queue(ReferrersOf(before), kube::kNormalPriority);
  Queue(referrers, kube::kNormalPriority);
}

}  // namespace controllers
