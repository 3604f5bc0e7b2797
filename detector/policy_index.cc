#include "detector/policy_index.h"

#include <utility>

namespace detector {

PolicyIndex::PolicyIndex(std::shared_ptr<kube::Informer> informer)
    : informer_(std::move(informer)) {
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& policy, bool) { Put(policy); };
  handler.on_update = [this](const kube::ObjectPtr&, const kube::ObjectPtr& policy) {
    Put(policy);
  };
  handler.on_delete = [this](const kube::ObjectPtr& policy) {
    absl::MutexLock lock(&mu_);
    policies_[std::string(policy->ns())].erase(std::string(policy->name()));
  };
  handler_ = informer_->AddHandler(std::move(handler));
}

PolicyIndex::~PolicyIndex() { informer_->RemoveHandler(handler_); }

void PolicyIndex::Put(const kube::ObjectPtr& policy) {
  const api::PolicyView view(*policy);
  Entry entry{policy, view.Priority(), view.ResourceSelectors()};
  absl::MutexLock lock(&mu_);
  policies_[std::string(policy->ns())][std::string(policy->name())] = std::move(entry);
}

kube::ObjectPtr PolicyIndex::BestFor(absl::string_view ns, const kube::Object& object) const {
  absl::MutexLock lock(&mu_);
  const auto in_namespace = policies_.find(ns);
  if (in_namespace == policies_.end()) return nullptr;
  const Entry* best = nullptr;
  api::SelectorMatch best_rank = api::SelectorMatch::kNone;
  for (const auto& [name, entry] :
       in_namespace->second) {  // Smaller names first, so they win ties.
    if (entry.policy->IsDeleting()) continue;
    const api::SelectorMatch rank = api::BestMatch(entry.selectors, object);
    if (rank == api::SelectorMatch::kNone) continue;
    const bool better = best == nullptr || entry.priority > best->priority ||
                        (entry.priority == best->priority && rank > best_rank);
    if (!better) continue;
    best = &entry;
    best_rank = rank;
  }
  return best == nullptr ? nullptr : best->policy;
}

kube::ObjectPtr PolicyIndex::Find(const kube::ObjectKey& key) const {
  return informer_->store().Find(key);
}

}  // namespace detector
