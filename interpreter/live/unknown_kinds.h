// Kinds that webhook rules were asked about before it was known how the control plane serves them.
//
// A rule by resource or scope ("widgets", namespaced) cannot be compared with a kind that discovery
// has not shown yet; until it has, the rule does not match. Such kinds are remembered here, and
// looked up again.
#ifndef INTERPRETER_LIVE_UNKNOWN_KINDS_H_
#define INTERPRETER_LIVE_UNKNOWN_KINDS_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "interpreter/webhook/hook_set.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"

namespace interpreter::live {

// Thread-safe.
class UnknownKinds {
 public:
  // More than the kinds of a control plane; further ones are not remembered.
  static constexpr size_t kMost = 1024;

  // REQUIRES: the mapper outlives this.
  explicit UnknownKinds(kube::RestMapper& mapper) : mapper_(mapper) {}

  // Returns how the kind is served, from memory. When that is not known, remembers the kind and
  // returns nullopt.
  std::optional<kube::Resource> LookUp(const kube::Gvk& gvk);
  // Asks the control plane about the remembered kinds. Returns those that are served now, and
  // forgets them.
  std::set<kube::Gvk> TakeKnown(const base::StopToken& stop);
  // Returns the problems of configurations whose rules cannot be compared with a remembered kind:
  // one text per hook and kind.
  std::vector<std::string> ProblemsOf(const std::vector<webhook::Hook>& hooks) const;

 private:
  std::set<kube::Gvk> Remembered() const;

  kube::RestMapper& mapper_;
  mutable absl::Mutex mu_;
  std::set<kube::Gvk> kinds_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_UNKNOWN_KINDS_H_
