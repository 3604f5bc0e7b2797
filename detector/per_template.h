// What the detector remembers of single templates, for classes that say what it means.
#ifndef DETECTOR_PER_TEMPLATE_H_
#define DETECTOR_PER_TEMPLATE_H_

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Holds at most one Value for each template. Requests are kept without their reason. Thread-safe.
template <class Value>
class PerTemplate {
 public:
  // Call it when the template does not exist any more.
  void Forget(const kube::Request& request) { Extract(request); }
  // Forgets all templates of a kind. Call it when the kind is not watched any more.
  void ForgetKind(const kube::Gvk& gvk) {
    absl::MutexLock lock(&mu_);
    absl::erase_if(values_, [&](const auto& entry) { return entry.first.gvk == gvk; });
  }

 protected:
  // Replaces what was there.
  void Set(kube::Request request, Value value) {
    request.reason = {};
    absl::MutexLock lock(&mu_);
    values_.insert_or_assign(std::move(request), std::move(value));
  }
  // Changes what is there, or a new Value. `change` runs under the lock.
  void Change(kube::Request request, absl::FunctionRef<void(Value&)> change) {
    request.reason = {};
    absl::MutexLock lock(&mu_);
    change(values_[std::move(request)]);
  }
  // Removes and returns what is there.
  std::optional<Value> Extract(kube::Request request) {
    request.reason = {};
    absl::MutexLock lock(&mu_);
    const auto found = values_.find(request);
    if (found == values_.end()) return std::nullopt;
    Value value = std::move(found->second);
    values_.erase(found);
    return value;
  }
  // Returns whether there is something that `keep` accepts; removes what it refuses. `keep` runs
  // under the lock.
  bool HasOrForget(kube::Request request, absl::FunctionRef<bool(const Value&)> keep) {
    request.reason = {};
    absl::MutexLock lock(&mu_);
    const auto found = values_.find(request);
    if (found == values_.end()) return false;
    if (keep(found->second)) return true;
    values_.erase(found);
    return false;
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, Value> values_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_PER_TEMPLATE_H_
