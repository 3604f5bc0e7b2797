// An index of the policies for the detector: with parsed selectors, best match first.
#ifndef DETECTOR_POLICY_INDEX_H_
#define DETECTOR_POLICY_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/policy_selectors.h"
#include "api/resource_selector.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"

namespace detector {

// What decides between the policies of one kind that select an object.
struct Preference {
  int64_t priority = 0;  // spec.priority
  api::SelectorMatch rank = api::SelectorMatch::kNone;
  absl::string_view name;
  // Returns whether this policy goes before the other: higher explicit priority, then better
  // selector rank, then smaller name (upstream's getHighestPriorityPropagationPolicy).
  bool IsBefore(const Preference& other) const;
};

// What keeps a policy from taking an object over from the policy that has claimed it.
enum class PreemptionObstacle {
  kNone,
  kNotHigher,  // Its priority is not higher. A PropagationPolicy needs none that is higher to take
               // an object over from a ClusterPropagationPolicy.
  kNotNamed,   // No selector of its names the object: kind and labels are not enough.
  kNotAlways,  // Its spec.preemption is not Always.
};

// Returns the first obstacle in the order of the enumeration, so that an object is taken over once
// the last one is removed. REQUIRES: `preemptor` is a PropagationPolicy if `holder` is one, since a
// ClusterPropagationPolicy never takes over from those. Upstream: preemptPropagationPolicy and
// preemptClusterPropagationPolicy.
PreemptionObstacle ObstacleTo(const kube::Object& preemptor, const kube::Object& holder,
                              const kube::Object& object);
// Returns the priority that a policy in the namespace `ns` ("" for cluster-scoped policies) must
// exceed to take an object over from `holder`; nullopt when any priority does.
std::optional<int64_t> PriorityToExceed(absl::string_view ns, const kube::Object& holder);

// Follows the informer of one policy kind. Thread-safe.
class PolicyIndex {
 public:
  explicit PolicyIndex(std::shared_ptr<kube::Informer> informer);
  ~PolicyIndex();
  PolicyIndex(const PolicyIndex&) = delete;

  // Returns the policy of namespace `ns` ("" for cluster-scoped policies) that fits the object
  // best, in the order of Preference. Policies being deleted do not count. nullptr when none
  // matches. Looks only at policies that select the object's kind, and either its name or any.
  kube::ObjectPtr BestFor(absl::string_view ns, const kube::Object& object) const;
  // Returns the policy of namespace `ns` that nothing keeps from taking the object over from a
  // policy whose PriorityToExceed is `above`. Of several it is the one with the highest priority,
  // then the smaller name. nullptr when there is none.
  kube::ObjectPtr PreemptorFor(absl::string_view ns, const kube::Object& object,
                               std::optional<int64_t> above) const;
  // Returns whether any of the policy's selectors fits the object.
  bool Matches(const kube::Object& policy, const kube::Object& object) const;
  // Returns the policies that select objects of the kind. It walks over all policies.
  std::vector<kube::ObjectPtr> Selecting(const kube::Gvk& gvk) const;
  // Returns nullptr when there is no such policy.
  kube::ObjectPtr Find(const kube::ObjectKey& key) const;
  const kube::Informer& informer() const { return *informer_; }

 private:
  struct Entry {
    explicit Entry(const kube::ObjectPtr& policy);
    const kube::ObjectPtr policy;
    const int64_t priority;
    const bool preempts;  // spec.preemption is Always.
    const api::PolicySelectors selectors;
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  // Sorts by higher priority, then by smaller name.
  struct ByPreference {
    bool operator()(const EntryPtr& a, const EntryPtr& b) const;
  };
  using Candidates = std::vector<EntryPtr>;  // Sorted by preference.
  // Policies of a namespace that select the same kind and name.
  struct Bucket {
    std::set<EntryPtr, ByPreference> entries;
    // The entries in a list that readers use without a lock; null after a change until the next
    // reader needs it.
    std::shared_ptr<const Candidates> candidates;
  };
  struct Choice {
    EntryPtr entry;
    api::SelectorMatch rank = api::SelectorMatch::kNone;
  };

  // Replaces `choice` if the best of the candidates is better.
  static void Improve(Choice& choice, const Candidates& candidates, const kube::Object& object);
  void Put(const kube::ObjectPtr& policy);
  void Remove(const kube::ObjectKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns nullptr when there are none.
  std::shared_ptr<const Candidates> CandidatesIn(const std::string& bucket) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<kube::Informer> informer_;
  int64_t handler_ = 0;
  mutable absl::Mutex mu_;  // Held for look-ups, never while objects are matched.
  absl::flat_hash_map<kube::ObjectKey, EntryPtr> entries_ ABSL_GUARDED_BY(mu_);
  // By the names that BucketName returns.
  mutable absl::flat_hash_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mu_);
};

// Returns whether the policy that has claimed the object (a template or a binding) is activated
// lazily.
bool IsLazilyClaimed(const kube::Object& object, const PolicyIndex& policies,
                     const PolicyIndex& cluster_policies);

}  // namespace detector

#endif  // DETECTOR_POLICY_INDEX_H_
