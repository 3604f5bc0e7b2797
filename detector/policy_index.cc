// How it works. Each policy is filed in one bucket for every (kind, name) that its selectors have,
// where a selector without a name files it under "any name". An object is matched against two
// buckets: its kind with its own name, and its kind with any name. A reader takes the buckets'
// lists, which are immutable, and matches without the lock; a change of a policy drops the lists of
// its buckets, and the next reader builds them again.
#include "detector/policy_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/policy_scope.h"

namespace detector {
namespace {

// Returns the name of the bucket for policies of namespace `ns` that select this kind and name. It
// does no harm if two buckets share a name by chance: candidates are matched in full.
std::string BucketName(absl::string_view ns, absl::string_view api_version, absl::string_view kind,
                       absl::string_view name) {
  return absl::StrCat(ns, ":", api_version, ":", kind, ":", name);
}

}  // namespace

bool PolicyIndex::ByPreference::operator()(const EntryPtr& a, const EntryPtr& b) const {
  if (a->priority != b->priority) return a->priority > b->priority;
  return a->policy->name() < b->policy->name();
}

PolicyIndex::PolicyIndex(std::shared_ptr<kube::Informer> informer)
    : informer_(std::move(informer)) {
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& policy, bool) { Put(policy); };
  handler.on_update = [this](const kube::ObjectPtr&, const kube::ObjectPtr& policy) {
    Put(policy);
  };
  handler.on_delete = [this](const kube::ObjectPtr& policy) {
    absl::MutexLock lock(&mu_);
    Remove(policy->key());
  };
  handler_ = informer_->AddHandler(std::move(handler));
}

PolicyIndex::~PolicyIndex() { informer_->RemoveHandler(handler_); }

absl::flat_hash_set<std::string> PolicyIndex::BucketsOf(const Entry& entry) {
  absl::flat_hash_set<std::string> names;
  for (const api::ResourceSelector& s : entry.selectors) {
    names.insert(BucketName(entry.policy->ns(), s.api_version(), s.kind(), s.name()));
  }
  return names;
}

void PolicyIndex::Put(const kube::ObjectPtr& policy) {
  const api::PolicyView view(*policy);
  const auto entry =
      std::make_shared<const Entry>(Entry{policy, view.Priority(), view.ResourceSelectors()});
  absl::MutexLock lock(&mu_);
  Remove(policy->key());
  if (policy->IsDeleting()) return;
  entries_[policy->key()] = entry;
  for (const std::string& name : BucketsOf(*entry)) {
    Bucket& bucket = buckets_[name];
    bucket.entries.insert(entry);
    bucket.candidates = nullptr;
  }
}

void PolicyIndex::Remove(const kube::ObjectKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  for (const std::string& name : BucketsOf(*found->second)) {
    Bucket& bucket = buckets_[name];
    bucket.entries.erase(found->second);
    bucket.candidates = nullptr;
    if (bucket.entries.empty()) buckets_.erase(name);
  }
  entries_.erase(found);
}

std::shared_ptr<const PolicyIndex::Candidates> PolicyIndex::CandidatesIn(
    const std::string& bucket) const {
  const auto found = buckets_.find(bucket);
  if (found == buckets_.end()) return nullptr;
  Bucket& b = found->second;
  if (b.candidates == nullptr) {
    b.candidates = std::make_shared<const Candidates>(b.entries.begin(), b.entries.end());
  }
  return b.candidates;
}

void PolicyIndex::Improve(Choice& choice, const Candidates& candidates,
                          const kube::Object& object) {
  for (const EntryPtr& entry : candidates) {
    // The remaining candidates have no higher priority, and those of the same priority a larger
    // name.
    if (choice.entry != nullptr && entry->priority < choice.entry->priority) return;
    const api::SelectorMatch rank = api::BestMatch(entry->selectors, object);
    if (rank == api::SelectorMatch::kNone) continue;
    const bool better = choice.entry == nullptr || entry->priority > choice.entry->priority ||
                        rank > choice.rank ||
                        (rank == choice.rank && ByPreference()(entry, choice.entry));
    if (better) choice = {entry, rank};
  }
}

kube::ObjectPtr PolicyIndex::BestFor(absl::string_view ns, const kube::Object& object) const {
  const std::string named = BucketName(ns, object.api_version(), object.kind(), object.name());
  const std::string any_name = BucketName(ns, object.api_version(), object.kind(), "");
  std::shared_ptr<const Candidates> lists[2];
  {
    absl::MutexLock lock(&mu_);
    lists[0] = CandidatesIn(named);
    lists[1] = CandidatesIn(any_name);
  }
  Choice choice;
  for (const std::shared_ptr<const Candidates>& list : lists) {
    if (list != nullptr) Improve(choice, *list, object);
  }
  return choice.entry == nullptr ? nullptr : choice.entry->policy;
}

bool PolicyIndex::Matches(const kube::Object& policy, const kube::Object& object) const {
  EntryPtr known;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(policy.key());
    if (found != entries_.end()) known = found->second;
  }
  // The index may lag behind the cache for a moment.
  const bool same = known != nullptr && known->policy->uid() == policy.uid() &&
                    known->policy->resource_version() == policy.resource_version();
  const api::SelectorMatch rank =
      same ? api::BestMatch(known->selectors, object)
           : api::BestMatch(api::PolicyView(policy).ResourceSelectors(), object);
  return rank != api::SelectorMatch::kNone;
}

std::vector<kube::ObjectPtr> PolicyIndex::Selecting(const kube::Gvk& gvk) const {
  const std::string api_version = gvk.ApiVersion();
  const auto means = [&](const api::ResourceSelector& s) {
    return s.kind() == gvk.kind && s.api_version() == api_version;
  };
  std::vector<kube::ObjectPtr> policies;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, entry] : entries_) {
    if (std::any_of(entry->selectors.begin(), entry->selectors.end(), means)) {
      policies.push_back(entry->policy);
    }
  }
  return policies;
}

kube::ObjectPtr PolicyIndex::Find(const kube::ObjectKey& key) const {
  return informer_->store().Find(key);
}

bool IsLazilyClaimed(const kube::Object& object, const PolicyIndex& policies,
                     const PolicyIndex& cluster_policies) {
  const kube::ObjectKey key = api::policy_scope::Namespaced::ClaimOn(object);
  const kube::ObjectPtr policy =
      key.name.empty() ? cluster_policies.Find(api::policy_scope::Cluster::ClaimOn(object))
                       : policies.Find(key);
  return policy != nullptr && api::PolicyView(*policy).IsLazy();
}

}  // namespace detector
