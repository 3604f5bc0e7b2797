// The questions whose answers tell that the loops have nothing left to do, asked of the stored
// objects and not of the loops: every selected template has a binding; every binding was judged by
// the scheduler in its present generation; it has as many Works as clusters. Each call reads
// everything again, since the plane is in this process, but each kind once: thousands of policies
// may select of the same one. An answer may be false for ever, so that the caller waits for a
// limited time (dry_control_plane.cc).

#include "lens/plan/settling.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy.h"
#include "api/policy_claim.h"
#include "api/programs.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "detector/template_filter.h"
#include "kube/meta/object.h"

namespace lens::plan {
namespace {

std::vector<kube::ObjectPtr> All(sandbox::Backend& backend, const kube::Resource& resource) {
  auto objects = backend.List(resource.gvr(), "", kube::LabelSelector());
  return objects.ok() ? *std::move(objects) : std::vector<kube::ObjectPtr>();
}

// What may be a template, by kind and then by namespace; read when it is first asked for.
class Candidates {
 public:
  Candidates(sandbox::Backend& backend, const detector::TemplateFilter& filter)
      : backend_(backend), filter_(filter) {}

  // Returns whether each object that the selector of a policy in this namespace selects has a
  // binding.
  bool AreBound(const api::ResourceSelector& selector, const std::string& policy_ns) {
    const auto gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (!gvk.ok() || !filter_.AllowsResource(*gvk)) return true;
    const ByNamespace& all = OfKind(*gvk);
    const std::string ns = policy_ns.empty() ? std::string(selector.ns()) : policy_ns;
    if (ns.empty()) {
      return std::all_of(all.begin(), all.end(),
                         [&](const auto& some) { return AreAllBound(some.second, selector); });
    }
    const auto found = all.find(ns);
    return found == all.end() || AreAllBound(found->second, selector);
  }

 private:
  using ByName = std::map<std::string, kube::ObjectPtr, std::less<>>;
  using ByNamespace = std::map<std::string, ByName>;

  const ByNamespace& OfKind(const kube::Gvk& gvk) {
    const auto [kind, is_new] = kinds_.try_emplace(gvk);
    const kube::Resource resource = is_new ? backend_.Find(gvk) : kube::Resource();
    if (resource.gvk.empty()) return kind->second;
    for (const kube::ObjectPtr& object : All(backend_, resource)) {
      if (object->IsDeleting() || !filter_.AllowsObject(*object)) continue;
      kind->second[std::string(object->ns())][std::string(object->name())] = object;
    }
    return kind->second;
  }

  bool AreAllBound(const ByName& objects, const api::ResourceSelector& selector) const {
    if (!selector.name().empty()) {
      const auto found = objects.find(selector.name());
      return found == objects.end() || IsBound(*found->second, selector);
    }
    return std::all_of(objects.begin(), objects.end(),
                       [&](const auto& one) { return IsBound(*one.second, selector); });
  }

  bool IsBound(const kube::Object& object, const api::ResourceSelector& selector) const {
    if (selector.Rank(object) == api::SelectorMatch::kNone) return true;
    const kube::Resource& bindings =
        object.ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
    const kube::ObjectKey key{std::string(object.ns()),
                              api::BindingName(object.kind(), object.name())};
    return backend_.Get(bindings.gvr(), key).ok();
  }

  sandbox::Backend& backend_;
  const detector::TemplateFilter& filter_;
  std::map<kube::Gvk, ByNamespace> kinds_;
};

// Returns each selector of a policy, with the policy.
std::vector<std::pair<kube::ObjectPtr, api::ResourceSelector>> Selectors(
    sandbox::Backend& backend) {
  std::vector<std::pair<kube::ObjectPtr, api::ResourceSelector>> selectors;
  for (const auto* policies : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies()}) {
    for (const kube::ObjectPtr& policy : All(backend, *policies)) {
      for (const auto& selector : api::PolicyView(*policy).ResourceSelectors()) {
        selectors.emplace_back(policy, selector);
      }
    }
  }
  return selectors;
}

bool AreTemplatesBound(sandbox::Backend& backend, const detector::TemplateFilter& filter) {
  Candidates candidates(backend, filter);
  for (const auto& [policy, selector] : Selectors(backend)) {
    if (policy->IsDeleting()) return false;
    if (api::PolicyView(*policy).IsLazy()) continue;  // It binds nothing but what is edited.
    if (!candidates.AreBound(selector, std::string(policy->ns()))) return false;
  }
  return true;
}

// Returns whether the scheduler has nothing more to say about the binding.
bool IsPlaced(const kube::Object& binding) {
  const api::BindingView view(binding);
  const bool of_policy = api::HasPolicyId(binding);
  const bool ours =
      view.SchedulerName().empty() || view.SchedulerName() == api::kDefaultSchedulerName;
  // Such a binding waits for somebody else: an attached one follows its parent, another scheduler
  // is not simulated.
  if (!of_policy || !ours || view.IsSchedulingSuspended()) return true;
  const json::Value* scheduled =
      kube::FindCondition(binding.status()["conditions"], api::kBindingScheduled);
  if (scheduled == nullptr) return false;
  return (*scheduled)["status"].AsString() == "False" ||
         view.SchedulerObservedGeneration() == binding.generation();
}

// Returns how many Works each binding has, by its key.
template <class Scope>
std::map<kube::ObjectKey, size_t> WorkCounts(const std::vector<kube::ObjectPtr>& works) {
  std::map<kube::ObjectKey, size_t> counts;
  for (const kube::ObjectPtr& work : works) ++counts[Scope::BindingOf(*work)];
  return counts;
}

template <class Scope>
bool AreDone(sandbox::Backend& backend, const std::vector<kube::ObjectPtr>& works) {
  std::map<kube::ObjectKey, size_t> counts = WorkCounts<Scope>(works);
  for (const kube::ObjectPtr& binding : All(backend, Scope::Bindings())) {
    if (binding->IsDeleting() || !IsPlaced(*binding)) return false;
    const api::BindingView view(*binding);
    const size_t count = counts[binding->key()];
    if (count < view.DispatchTargets().size()) return false;
    // A cluster that is being evicted may have a Work and need not.
    if (count > view.ExpectedClusters().size()) return false;
  }
  return true;
}

}  // namespace

std::set<kube::Gvr> SelectedKinds(sandbox::Backend& backend, const config::Options& options) {
  std::set<kube::Gvr> kinds;
  const auto filter = detector::TemplateFilter::Create(options.skipped_propagating_apis,
                                                       options.skipped_propagating_namespaces);
  if (!filter.ok()) return kinds;
  for (const auto& [policy, selector] : Selectors(backend)) {
    const auto gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (!gvk.ok() || !filter->AllowsResource(*gvk)) continue;
    const kube::Resource resource = backend.Find(*gvk);
    if (!resource.gvk.empty()) kinds.insert(resource.gvr());
  }
  return kinds;
}

kube::ObjectPtr SelectingPolicy(sandbox::Backend& backend, const kube::Object& object) {
  for (const auto& [policy, selector] : Selectors(backend)) {
    if (!policy->ns().empty() && policy->ns() != object.ns()) continue;
    if (selector.Rank(object) != api::SelectorMatch::kNone) return policy;
  }
  return nullptr;
}

bool IsComplete(sandbox::Backend& backend, const config::Options& options) {
  const auto filter = detector::TemplateFilter::Create(options.skipped_propagating_apis,
                                                       options.skipped_propagating_namespaces);
  if (!filter.ok() || !AreTemplatesBound(backend, *filter)) return false;
  const std::vector<kube::ObjectPtr> works = All(backend, api::Works());
  return AreDone<api::scope::Namespaced>(backend, works) &&
         AreDone<api::scope::Cluster>(backend, works);
}

}  // namespace lens::plan
