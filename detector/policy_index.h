// The policies as the detector needs them: parsed selectors, best match first.
#ifndef DETECTOR_POLICY_INDEX_H_
#define DETECTOR_POLICY_INDEX_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "api/policy.h"
#include "api/resource_selector.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"

namespace detector {

// Follows the informer of one policy kind. Thread-safe.
class PolicyIndex {
 public:
  explicit PolicyIndex(std::shared_ptr<kube::Informer> informer);
  ~PolicyIndex();
  PolicyIndex(const PolicyIndex&) = delete;

  // The policy of namespace `ns` ("" for cluster-scoped policies) that fits the object best: higher
  // explicit priority, then better selector rank, then smaller name (upstream's
  // getHighestPriorityPropagationPolicy). Policies being deleted do not count. nullptr when none
  // matches.
  kube::ObjectPtr BestFor(absl::string_view ns, const kube::Object& object) const;
  // nullptr when there is no such policy.
  kube::ObjectPtr Find(const kube::ObjectKey& key) const;
  const kube::Informer& informer() const { return *informer_; }

 private:
  struct Entry {
    kube::ObjectPtr policy;
    int64_t priority = 0;
    std::vector<api::ResourceSelector> selectors;
  };

  void Put(const kube::ObjectPtr& policy);

  const std::shared_ptr<kube::Informer> informer_;
  int64_t handler_ = 0;
  mutable absl::Mutex mu_;
  // By namespace, then name.
  std::map<std::string, std::map<std::string, Entry>, std::less<>> policies_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_POLICY_INDEX_H_
