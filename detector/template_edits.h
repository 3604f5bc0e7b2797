// Which templates somebody edited since their binding was last brought up to date.
//
// A binding records the template's resourceVersion, and a new value makes scheduler and binding
// loop look again. It must move when the template's specification changed, and must not when only
// its status did or when this process restarted: that would rewrite every binding.
#ifndef DETECTOR_TEMPLATE_EDITS_H_
#define DETECTOR_TEMPLATE_EDITS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe. Requests are kept without their changed_by_karmada mark.
class TemplateEdits {
 public:
  void Add(kube::Request request) {
    request.changed_by_karmada = false;
    absl::MutexLock lock(&mu_);
    edited_.insert(std::move(request));
  }
  // Whether it was there.
  bool Take(kube::Request request) {
    request.changed_by_karmada = false;
    absl::MutexLock lock(&mu_);
    return edited_.erase(request) > 0;
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<kube::Request> edited_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_EDITS_H_
