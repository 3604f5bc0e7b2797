// A set of templates that wait for something: for a policy that matches them, or for a rule by
// which their pods can be counted.
#ifndef DETECTOR_WAITING_SET_H_
#define DETECTOR_WAITING_SET_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Templates are filed by kind and namespace, so that a policy looks only at those that its
// selectors can mean. Thread-safe. Only kind and key of a request are kept.
class WaitingSet {
 public:
  // Returns whether the template was not waiting before.
  bool Add(const kube::Request& request);
  void Remove(const kube::Request& request);
  // Removes all templates of a kind.
  void RemoveKind(const kube::Gvk& gvk);

  // Returns the waiting templates of a kind; an empty `ns` or `name` means any.
  std::vector<kube::Request> Matching(const kube::Gvk& gvk, absl::string_view ns,
                                      absl::string_view name) const;
  // Returns the kinds that have a waiting template.
  std::vector<kube::Gvk> Kinds() const;

 private:
  using Names = absl::btree_set<std::string>;
  using Namespaces = std::map<std::string, Names, std::less<>>;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::Gvk, Namespaces> kinds_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_WAITING_SET_H_
