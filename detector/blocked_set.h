// The templates whose policy asks for what is missing or wrong.
#ifndef DETECTOR_BLOCKED_SET_H_
#define DETECTOR_BLOCKED_SET_H_

#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/names.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Each template is kept with the policy that blocks it, so that it is tried again only when that
// policy, or what it waits for, may have been corrected: there may be thousands. It is kept once,
// with the first reason, by name, of the requests that were blocked: one by a user has none, and
// asks for more than one by Karmada (request_reason.h). Thread-safe.
class BlockedSet {
 public:
  struct Blocked {
    kube::Request request;
    kube::ObjectKey policy;  // A cluster policy has no namespace.
  };

  void Add(const kube::Request& request, const kube::ObjectKey& policy);
  // Removes the template, unless a request with an earlier reason has been blocked: a pass for this
  // one may have ended before it reached what blocks the other.
  void Remove(const kube::Request& request);
  // Removes the template, whatever the reason.
  void Forget(const kube::Request& request);
  // Removes all templates of a kind.
  void RemoveKind(const kube::Gvk& gvk);

  std::vector<Blocked> All() const;

 private:
  struct Entry {
    kube::Reason reason;
    kube::ObjectKey policy;
  };

  mutable absl::Mutex mu_;
  std::map<kube::Request, Entry> entries_ ABSL_GUARDED_BY(mu_);  // By template, without reason.
};

}  // namespace detector

#endif  // DETECTOR_BLOCKED_SET_H_
