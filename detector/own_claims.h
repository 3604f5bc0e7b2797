// Remembers the claims that the detector writes to templates, so that it does not take them for
// edits.
//
// The pass that claims a template goes on with the claimed object, and brings its binding up to
// date. The update that the claim causes would repeat all this work: ask the interpreter, compare
// the binding. It is recognised by its result, which is exactly what the pass has written.
//
// This memory may be empty at any moment; then the template is looked at once more. It never hides
// a change by somebody else: the server refuses a claim on a template that changed meanwhile, any
// other update ends what was expected, and a pass that fails after its claim is tried again.
#ifndef DETECTOR_OWN_CLAIMS_H_
#define DETECTOR_OWN_CLAIMS_H_

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "kube/meta/specification.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe. Requests are kept without their variant.
class OwnClaims {
 public:
  // Records that the template is about to be written as `claimed`. Call it before the write,
  // because the update may come before the answer.
  void Expect(kube::Request request, kube::Object claimed) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    expected_.insert_or_assign(std::move(request), std::move(claimed));
  }
  // Call it with the template after each update of its specification. Returns whether that is what
  // was expected; afterwards nothing is expected.
  bool Take(kube::Request request, const kube::Object& now) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    const auto found = expected_.find(request);
    if (found == expected_.end()) return false;
    const kube::Object expected = std::move(found->second);
    expected_.erase(found);
    return !kube::SpecificationChanged(expected, now);
  }
  // Call it when the template does not exist any more.
  void Forget(kube::Request request) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    expected_.erase(request);
  }
  // Call it when the kind is not watched any more.
  void ForgetKind(const kube::Gvk& gvk) {
    absl::MutexLock lock(&mu_);
    absl::erase_if(expected_, [&](const auto& claim) { return claim.first.gvk == gvk; });
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, kube::Object> expected_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_OWN_CLAIMS_H_
