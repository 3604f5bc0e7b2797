// Propagating bindings record what their templates depend on, and with that the kinds that are
// needed: the handler of bindings passes each new kind, and the end of each, to the subscription. A
// kind that begins to be watched brings all its objects as adds.
//
// When an object is added, or its labels change, its referrers are queued; the index over what
// bindings record finds them. Every edit concerns the bindings that are attached for the object:
// the loops that render templates are asked to look at them again, and nothing is written; with the
// gate TransitiveDependencies the referrers of an object that may have dependencies are also queued
// when it is edited or deleted. The same is done when the object is added, because it may have been
// edited before its kind was watched. The attached bindings of a deleted object are deleted with
// it, because it owns them.
//
// Nothing is remembered here but selectors in parsed form. After a restart the record on the
// bindings names the kinds again, and the loops over bindings look at every binding.

#include "controllers/dependencies/dependency_source.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/dependencies.h"
#include "api/keys.h"
#include "api/names.h"
#include "kube/meta/selector.h"
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
  return api::BindingView(binding).PropagateDeps() && !binding.IsDeleting() &&
         api::MayStandForResource(binding);
}

std::vector<std::string> DependencyKeys(const kube::Object& binding) {
  std::vector<std::string> keys;
  if (!PropagatesDependencies(binding)) return keys;
  for (const api::DependentReference& reference : api::RecordedDependencies(binding)) {
    keys.push_back(KeyOf(reference.api_version, reference.kind, reference.ns, reference.name));
  }
  return keys;
}

// What one binding records by labels.
struct RecordedSelectors::Parsed {
  struct Item {
    api::DependentReference reference;
    kube::LabelSelector selector;
  };
  std::string text;  // The record that was parsed.
  std::vector<Item> items;
};

bool RecordedSelectors::Select(const kube::Object& binding, const kube::Object& object) {
  const std::shared_ptr<const Parsed> parsed = ParsedOf(binding);
  return std::any_of(parsed->items.begin(), parsed->items.end(), [&](const Parsed::Item& item) {
    const api::DependentReference& r = item.reference;
    return r.api_version == object.api_version() && r.kind == object.kind() &&
           r.ns == object.ns() && item.selector.Matches(object.labels());
  });
}

std::shared_ptr<const RecordedSelectors::Parsed> RecordedSelectors::ParsedOf(
    const kube::Object& binding) {
  const absl::string_view text = binding.Annotation(api::kDependenciesAnnotation);
  {
    absl::MutexLock lock(&mu_);
    const auto known = parsed_.find(binding.key());
    // The text tells whether the record has changed; parsing happens without the lock.
    if (known != parsed_.end() && known->second->text == text) return known->second;
  }
  auto parsed = std::make_shared<Parsed>();
  parsed->text = std::string(text);
  for (api::DependentReference& reference : api::RecordedDependencies(binding)) {
    if (!reference.name.empty()) continue;
    auto selector = kube::LabelSelector::FromJson(reference.label_selector);
    if (selector.ok()) parsed->items.push_back({std::move(reference), *std::move(selector)});
  }
  absl::MutexLock lock(&mu_);
  parsed_[binding.key()] = parsed;
  return parsed;
}

void RecordedSelectors::Forget(const kube::ObjectKey& binding) {
  absl::MutexLock lock(&mu_);
  parsed_.erase(binding);
}

DependencySource::DependencySource(Deps deps, kube::WatchedKinds& kinds)
    : deps_(std::move(deps)),
      subscription_(kinds.Subscribe(*this)),
      followed_(deps_.bindings, kube::NeedKindsOf(subscription_, "dependencies of resourcebindings",
                                                  RecordedKinds)),
      forgetting_(deps_.bindings, {.on_delete = [this](const kube::ObjectPtr& last) {
                    selectors_.Forget(last->key());
                  }}) {}

kube::EventHandler DependencySource::HandlerFor(const kube::Resource&) {
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& object, bool initial_list) {
    OnAdd(*object, initial_list ? kube::kInitialListPriority : kube::kNormalPriority);
  };
  handler.on_resync = [add = handler.on_add](const kube::ObjectPtr& object) { add(object, true); };
  handler.on_update = [this](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (kube::SpecificationChanged(*before, *after)) OnUpdate(*before, *after);
  };
  handler.on_delete = [this](const kube::ObjectPtr& last) {
    if (HasDependencies(*last)) Queue(ReferrersOf(*last), kube::kNormalPriority);
  };
  return handler;
}

std::vector<kube::ObjectKey> DependencySource::ReferrersOf(const kube::Object& object) {
  std::vector<kube::ObjectKey> referrers;
  const auto under = [&](absl::string_view name) {
    return deps_.bindings->store().ByIndex(
        kDependencyIndex, KeyOf(object.api_version(), object.kind(), object.ns(), name));
  };
  for (const kube::ObjectPtr& binding : under(object.name())) referrers.push_back(binding->key());
  for (const kube::ObjectPtr& binding : under("")) {
    if (selectors_.Select(*binding, object)) referrers.push_back(binding->key());
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

bool DependencySource::HasDependencies(const kube::Object& object) const {
  return deps_.has_dependencies && deps_.has_dependencies(object.gvk());
}

void DependencySource::OnAdd(const kube::Object& object, int priority) {
  const std::vector<kube::ObjectKey> referrers = ReferrersOf(object);
  Queue(referrers, priority);
  RecheckAttached(object, referrers, priority);
}

void DependencySource::OnUpdate(const kube::Object& before, const kube::Object& after) {
  const std::vector<kube::ObjectKey> referrers = ReferrersOf(after);
  RecheckAttached(after, referrers, kube::kNormalPriority);
  if (before.labels() == after.labels() && !HasDependencies(after)) return;
  // Those that selected it by the labels that it had need it no longer.
  Queue(ReferrersOf(before), kube::kNormalPriority);
  Queue(referrers, kube::kNormalPriority);
}

}  // namespace controllers
