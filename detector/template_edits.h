// Remembers which templates were edited since their binding was last brought up to date.
//
// A binding records the template's resourceVersion, and a new value makes scheduler and binding
// loop look again. The recorded version must change when the template's specification changed, and
// must not when only its status did or when this process restarted: that would rewrite every
// binding.
//
// This memory may be empty at any moment. Then the recorded version stays old, but nothing is lost:
// when a template's version differs from the recorded one and no edit is known, the detector asks
// the loops to compare what the template yields with what is there (works/rechecks.h).
#ifndef DETECTOR_TEMPLATE_EDITS_H_
#define DETECTOR_TEMPLATE_EDITS_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe. Requests are kept without their variant.
class TemplateEdits {
 public:
  // Records that the template's specification was changed, which gave it this resourceVersion.
  void Add(kube::Request request, absl::string_view version) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    edits_[std::move(request)] = std::string(version);
  }
  // Returns whether an edit is known that came after `version`, and forgets one that came before.
  bool HasSince(kube::Request request, absl::string_view version) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    const auto edit = edits_.find(request);
    if (edit == edits_.end()) return false;
    if (IsLater(edit->second, version)) return true;
    edits_.erase(edit);
    return false;
  }
  // Call it when the template does not exist any more.
  void Forget(kube::Request request) {
    request.variant = 0;
    absl::MutexLock lock(&mu_);
    edits_.erase(request);
  }
  // Forgets the edits of all templates of a kind. Call it when the kind is not watched any more.
  void ForgetKind(const kube::Gvk& gvk) {
    absl::MutexLock lock(&mu_);
    absl::erase_if(edits_, [&](const auto& edit) { return edit.first.gvk == gvk; });
  }

 private:
  // Versions that are not numbers cannot be ordered; then any different version counts as later.
  static bool IsLater(absl::string_view version, absl::string_view than) {
    int64_t a = 0, b = 0;
    if (!absl::SimpleAtoi(version, &a) || !absl::SimpleAtoi(than, &b)) return version != than;
    return a > b;
  }

  absl::Mutex mu_;
  // The version after the last edit.
  absl::flat_hash_map<kube::Request, std::string> edits_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_EDITS_H_
