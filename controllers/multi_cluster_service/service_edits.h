// Remembers which Services somebody has edited since their binding was last brought up to date.
//
// A binding records the resourceVersion of its Service, and a new value there makes the loops that
// render templates look again. The recorded version must change when the Service was edited, and
// must not when only its status was, or when this process has restarted: that would rewrite every
// binding. (The detector remembers the same of the templates that policies govern.)
//
// This memory may be empty at any moment. Then the recorded version stays old, and those loops are
// asked to look at the binding (works/rechecks.h).
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_EDITS_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_EDITS_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Thread-safe.
class ServiceEdits {
 public:
  // Records that an edit gave the Service the version that it has.
  void Add(const kube::Object& service) {
    absl::MutexLock lock(&mu_);
    edits_[service.key()] = kube::ResourceVersionOf(service);
  }
  // Returns whether an edit after `version` is known, and forgets one before it.
  bool HasSince(const kube::ObjectKey& service, absl::string_view version) {
    absl::MutexLock lock(&mu_);
    const auto edit = edits_.find(service);
    if (edit == edits_.end()) return false;
    int64_t recorded = 0;
    if (absl::SimpleAtoi(version, &recorded) && recorded >= edit->second) {
      edits_.erase(edit);
      return false;
    }
    return true;
  }
  void Forget(const kube::ObjectKey& service) {
    absl::MutexLock lock(&mu_);
    edits_.erase(service);
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, int64_t> edits_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_EDITS_H_
