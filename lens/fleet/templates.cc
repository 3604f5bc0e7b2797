// The templates of bindings are known by name; kinds with many of them are listed whole, as are
// workloads and what policies select, of which there may be templates without a binding. Objects of
// a kind that could not be read are marked so: nobody concludes that they do not exist.

#include "lens/fleet/templates.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"
#include "api/names.h"
#include "api/resources.h"
#include "lens/why/questions.h"

namespace lens::fleet {
namespace {

// Kinds whose objects run nowhere unless a policy selects them.
bool IsWorkload(const kube::Gvk& gvk) {
  static const auto& kinds = *new std::set<kube::Gvk>{{"apps", "v1", "Deployment"},
                                                      {"apps", "v1", "StatefulSet"},
                                                      {"apps", "v1", "DaemonSet"},
                                                      {"batch", "v1", "Job"},
                                                      {"batch", "v1", "CronJob"}};
  return kinds.count(gvk) > 0;
}

// Returns the candidate that the binding stands for; one without a name for a binding that may
// not stand for what it names.
Candidate CandidateOf(const kube::ObjectPtr& binding) {
  if (!api::MayStandForResource(*binding)) return {};
  const api::ObjectReference resource = api::BindingView(*binding).Resource();
  if (resource.gvk() == api::Namespaces().gvk) return {};
  return {resource.gvk(), {std::string(binding->ns()), resource.name}, nullptr, binding};
}

}  // namespace

std::vector<Candidate> Templates::Read(const why::Objects& bindings) {
  for (const kube::ObjectPtr& binding : bindings) {
    Candidate candidate = CandidateOf(binding);
    if (candidate.key.name.empty() || candidate.gvk.empty()) continue;
    by_kind_[candidate.gvk].push_back(candidates_.size());
    candidates_.push_back(std::move(candidate));
  }
  std::set<kube::Gvk> kinds = KindsToList();
  for (const auto& [gvk, indexes] : by_kind_) {
    const bool is_listed = kinds.count(gvk) > 0 || indexes.size() >= kListFrom;
    if (is_listed) {
      kinds.insert(gvk);
    } else {
      for (const size_t index : indexes) ReadOne(candidates_[index]);
    }
  }
  // By now `by_kind_` is whole; objects without a binding are added to the candidates only.
  for (const kube::Gvk& gvk : kinds) ListKind(gvk);
  return std::move(candidates_);
}

// The kinds of which objects without a binding are templates, too.
std::set<kube::Gvk> Templates::KindsToList() const {
  std::set<kube::Gvk> kinds;
  if (!scope_.cluster.empty()) return kinds;  // They are in no cluster.
  const auto add = [&](const kube::Gvk& gvk) {
    const kube::Resource* resource = why::ServedFirst(discovery_, gvk);
    if (resource == nullptr || gvk == api::Namespaces().gvk) return;
    if (!scope_.ns.empty() && !resource->namespaced) return;
    if (shared_.filter.AllowsResource(resource->gvk)) kinds.insert(resource->gvk);
  };
  for (const kube::ApiResource& served : discovery_.resources) {
    if (IsWorkload(served.resource.gvk)) add(served.resource.gvk);
  }
  for (const kube::ObjectPtr& policy : shared_.policies) {
    if (!scope_.ns.empty() && !policy->ns().empty() && policy->ns() != scope_.ns) continue;
    for (const json::Value& selector : policy->spec()["resourceSelectors"].items()) {
      const auto gvk =
          kube::ParseGvk(selector["apiVersion"].AsString(), selector["kind"].AsString());
      if (gvk.ok()) add(*gvk);
    }
  }
  return kinds;
}

void Templates::ReadOne(Candidate& candidate) {
  const kube::Resource* resource = why::ServedAs(discovery_, candidate.gvk);
  if (resource == nullptr) {
    candidate.is_read = false;
    NoteUnserved(candidate.gvk);
    return;
  }
  candidate.object = lists_.Get(*resource, candidate.key, Weight::kDecides, &candidate.is_read);
}

void Templates::NoteUnserved(const kube::Gvk& gvk) {
  if (!unserved_.insert(gvk).second) return;
  lists_.Note(absl::StrCat("the control plane does not serve ", gvk.ApiVersion(), " ", gvk.kind,
                           ", of which there are bindings"),
              Weight::kDecides);
}

void Templates::ListKind(const kube::Gvk& gvk) {
  const kube::Resource* resource = why::ServedAs(discovery_, gvk);
  std::vector<size_t> bound;
  if (const auto found = by_kind_.find(gvk); found != by_kind_.end()) bound = found->second;
  if (resource == nullptr) {
    NoteUnserved(gvk);
    for (const size_t index : bound) candidates_[index].is_read = false;
    return;
  }
  std::map<kube::ObjectKey, size_t> by_key;
  for (const size_t index : bound) by_key[candidates_[index].key] = index;
  const size_t first_unbound = candidates_.size();
  const auto take = [&](kube::ListPage page, bool begins) {
    if (begins) candidates_.resize(first_unbound);
    for (kube::Object& item : page.items) {
      const auto known = by_key.find(item.key());
      if (known == by_key.end()) {
        TakeUnbound(gvk, std::move(item));
      } else {
        candidates_[known->second].object = kube::Share(std::move(item));
      }
    }
  };
  const bool all =
      lists_.Pages(*resource, resource->namespaced ? scope_.ns : "", Weight::kDecides, {}, take);
  for (const size_t index : bound) {
    if (!all && candidates_[index].object == nullptr) candidates_[index].is_read = false;
  }
}

void Templates::TakeUnbound(const kube::Gvk& gvk, kube::Object object) {
  const bool is_excluded = !shared_.filter.AllowsObject(object) ||
                           api::IsReservedNamespace(object.ns()) ||
                           !object.ControllerOwner().uid.empty() || object.IsDeleting();
  if (is_excluded) return;
  // Its binding has the name of another object's.
  const api::BindingAddress at = api::BindingOf(gvk.kind, object.key());
  const kube::ObjectPtr binding = glance_.FindBinding(at.resource.gvk, at.key);
  if (!IsWorkload(gvk) && !IsSelected(object)) return;
  Candidate candidate{gvk, object.key(), kube::Share(std::move(object)), binding};
  candidate.seems_fine = false;
  candidates_.push_back(std::move(candidate));
}

bool Templates::IsSelected(const kube::Object& object) {
  if (selectors_.empty()) {
    for (const kube::ObjectPtr& policy : shared_.policies) {
      selectors_[std::string(policy->ns())].emplace_back(*policy);
    }
    selectors_[""];
  }
  for (const std::string& ns : {std::string(object.ns()), std::string()}) {
    for (const api::PolicySelectors& selectors : selectors_[ns]) {
      if (selectors.Match(object) != api::SelectorMatch::kNone) return true;
    }
  }
  return false;
}

}  // namespace lens::fleet
