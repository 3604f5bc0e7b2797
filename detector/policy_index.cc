// How it works. Each policy is filed in one bucket for every (kind, name) that its selectors have
// (PolicySelectors::places), where a selector without a name files it under "any name". An object
// is matched against two buckets: its kind with its own name, and its kind with any name. A reader
// takes the buckets' lists, which are immutable, and matches without the lock; a change of a policy
// drops the lists of its buckets, and the next reader builds them again.

#include "detector/policy_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/policy.h"
#include "api/policy_scope.h"

namespace detector {
namespace {

// Returns the name of the bucket for policies of namespace `ns` whose selectors are in `place`. It
// does no harm if two buckets share a name by chance: candidates are matched in full.
std::string BucketName(absl::string_view ns, absl::string_view place) {
  return absl::StrCat(ns, ":", place);
}

std::string BucketFor(absl::string_view ns, const kube::Object& object, absl::string_view name) {
  return BucketName(ns, api::PolicySelectors::PlaceOf(object.api_version(), object.kind(), name));
}

// What decides whether a policy takes objects over.
struct Preemptor {
  int64_t priority = 0;
  bool preempts = false;  // spec.preemption is Always.
  const api::PolicySelectors& selectors;
};

PreemptionObstacle ObstacleTo(const Preemptor& preemptor, std::optional<int64_t> above,
                              const kube::Object& object) {
  if (above.has_value() && preemptor.priority <= *above) return PreemptionObstacle::kNotHigher;
  if (!preemptor.selectors.Name(object)) return PreemptionObstacle::kNotNamed;
  return preemptor.preempts ? PreemptionObstacle::kNone : PreemptionObstacle::kNotAlways;
}

}  // namespace

std::optional<int64_t> PriorityToExceed(absl::string_view ns, const kube::Object& holder) {
  if (!ns.empty() && holder.ns().empty()) return std::nullopt;
  return api::PolicyView(holder).Priority();
}

PreemptionObstacle ObstacleTo(const kube::Object& preemptor, const kube::Object& holder,
                              const kube::Object& object) {
  const api::PolicyView view(preemptor);
  const api::PolicySelectors selectors(preemptor);
  return ObstacleTo(Preemptor{view.Priority(), view.PreemptsAlways(), selectors},
                    PriorityToExceed(preemptor.ns(), holder), object);
}

bool Preference::IsBefore(const Preference& other) const {
  if (priority != other.priority) return priority > other.priority;
  return rank != other.rank ? rank > other.rank : name < other.name;
}

PolicyIndex::Entry::Entry(const kube::ObjectPtr& p)
    : policy(p),
      priority(api::PolicyView(*p).Priority()),
      preempts(api::PolicyView(*p).PreemptsAlways()),
      selectors(*p) {}

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

void PolicyIndex::Put(const kube::ObjectPtr& policy) {
  // Selectors are parsed before the lock, which templates wait for.
  const auto entry = std::make_shared<const Entry>(policy);
  absl::MutexLock lock(&mu_);
  Remove(policy->key());
  if (policy->IsDeleting()) return;
  entries_[policy->key()] = entry;
  for (const auto& [place, positions] : entry->selectors.places()) {
    Bucket& bucket = buckets_[BucketName(policy->ns(), place)];
    bucket.entries.insert(entry);
    // The list is made again when somebody asks; those who hold the old one go on with it.
    bucket.candidates = nullptr;
  }
}

void PolicyIndex::Remove(const kube::ObjectKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  for (const auto& [place, positions] : found->second->selectors.places()) {
    const std::string name = BucketName(key.ns, place);
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
    const api::SelectorMatch rank = entry->selectors.Match(object);
    if (rank == api::SelectorMatch::kNone) continue;
    const auto preference = [](const EntryPtr& e, api::SelectorMatch r) {
      return Preference{e->priority, r, e->policy->name()};
    };
    const bool better = choice.entry == nullptr ||
                        preference(entry, rank).IsBefore(preference(choice.entry, choice.rank));
    if (better) choice = {entry, rank};
  }
}

kube::ObjectPtr PolicyIndex::BestFor(absl::string_view ns, const kube::Object& object) const {
  const std::string named = BucketFor(ns, object, object.name());
  const std::string any_name = BucketFor(ns, object, "");
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

kube::ObjectPtr PolicyIndex::PreemptorFor(absl::string_view ns, const kube::Object& object,
                                          std::optional<int64_t> above) const {
  // Only policies that name the object may preempt, so the bucket without a name is not looked at.
  const std::string named = BucketFor(ns, object, object.name());
  std::shared_ptr<const Candidates> candidates;
  {
    absl::MutexLock lock(&mu_);
    candidates = CandidatesIn(named);
  }
  if (candidates == nullptr) return nullptr;
  for (const EntryPtr& entry : *candidates) {
    const Preemptor preemptor{entry->priority, entry->preempts, entry->selectors};
    const PreemptionObstacle obstacle = ObstacleTo(preemptor, above, object);
    if (obstacle == PreemptionObstacle::kNone) return entry->policy;
    if (obstacle == PreemptionObstacle::kNotHigher) return nullptr;  // Nor is that of the rest.
  }
  return nullptr;
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
      same ? known->selectors.Match(object)
           : api::BestMatch(api::PolicyView(policy).ResourceSelectors(), object);
  return rank != api::SelectorMatch::kNone;
}

std::vector<kube::ObjectPtr> PolicyIndex::Selecting(const kube::Gvk& gvk) const {
  std::vector<kube::ObjectPtr> policies;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, entry] : entries_) {
    if (entry->selectors.Contain(gvk)) policies.push_back(entry->policy);
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
