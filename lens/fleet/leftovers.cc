#include "lens/fleet/leftovers.h"

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/questions.h"

namespace lens::fleet {

Leftovers::Leftovers(const kube::Discovery& discovery, const Scope& scope,
                     const why::Objects& bindings, Lists& lists)
    : discovery_(discovery), scope_(scope), lists_(lists) {
  for (const kube::ObjectPtr& binding : bindings) {
    bound_.emplace(api::BindingView(*binding).PermanentId());
  }
}

// Nobody knows any more which policy the template had. Of other namespaces than the asked one the
// bindings were not read, and so it is with a kind of bindings that may not be read. Namespaces are
// left out as those are that exist.
void Leftovers::Take(const kube::Object& work) {
  if (!work.IsDeleting() || !scope_.policy.empty()) return;
  const absl::string_view namespaced = work.Label(api::scope::Namespaced::kIdLabel);
  const absl::string_view id =
      namespaced.empty() ? work.Label(api::scope::Cluster::kIdLabel) : namespaced;
  const kube::Resource& bindings =
      namespaced.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
  const auto cluster = api::ClusterOfExecutionNamespace(work.ns());
  const auto manifests = api::WorkView(work).Manifests();
  if (id.empty() || manifests.size() != 1 || !cluster.ok()) return;
  if (bound_.count(std::string(id)) > 0 || !lists_.CouldRead(bindings.gvk)) return;
  const kube::Object object(manifests[0]);
  if (object.gvk() == api::Namespaces().gvk) return;
  if (!scope_.ns.empty() && object.ns() != scope_.ns) return;
  by_template_[{object.gvk(), object.key()}][*cluster] = kube::Share(work);
}

void Leftovers::AddTo(std::vector<Candidate>& candidates) {
  if (by_template_.empty()) return;
  for (Candidate& candidate : candidates) {
    const auto found = by_template_.find({candidate.gvk, candidate.key});
    if (found == by_template_.end()) continue;
    candidate.seems_fine = false;
    candidate.works.insert(found->second.begin(), found->second.end());
    by_template_.erase(found);
  }
  const std::set<Id> existing = FindExisting();
  for (auto& [id, works] : by_template_) {
    if (existing.count(id) > 0) continue;  // Nobody propagates it, and it is no trouble.
    Candidate candidate{id.first, id.second};
    candidate.seems_fine = false;
    candidate.works = std::move(works);
    candidates.push_back(std::move(candidate));
  }
  by_template_.clear();
}

std::set<Leftovers::Id> Leftovers::FindExisting() {
  std::map<kube::Gvk, std::set<kube::ObjectKey>> keys;
  for (const auto& [id, works] : by_template_) keys[id.first].insert(id.second);
  std::set<Id> existing;
  for (const auto& [gvk, of_kind] : keys) FindOfKind(gvk, of_kind, existing);
  return existing;
}

// Few are asked for one by one, many by one list. A kind that is not served has no objects.
void Leftovers::FindOfKind(const kube::Gvk& gvk, const std::set<kube::ObjectKey>& keys,
                           std::set<Id>& existing) {
  const kube::Resource* resource = why::ServedAs(discovery_, gvk);
  if (resource == nullptr) return;
  if (keys.size() < kListFrom) {
    for (const kube::ObjectKey& key : keys) {
      bool known = false;
      const bool exists = lists_.Get(*resource, key, Weight::kDecides, &known) != nullptr;
      if (exists || !known) existing.insert({gvk, key});
    }
    return;
  }
  kube::ListOptions options;
  options.fields = {"metadata.name"};
  const bool all = lists_.Pages(*resource, resource->namespaced ? scope_.ns : "", Weight::kDecides,
                                options, [&](const kube::ListPage& page, bool) {
                                  for (const kube::Object& object : page.items) {
                                    existing.insert({gvk, object.key()});
                                  }
                                });
  if (all) return;
  for (const kube::ObjectKey& key : keys) existing.insert({gvk, key});
}

}  // namespace lens::fleet
