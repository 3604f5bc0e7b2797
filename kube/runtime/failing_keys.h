// The keys of a queue whose last pass failed, and why.
//
// This is memory of one process: a restart, or a change of the leader, begins with none, and each
// pass that fails puts its key back.
#ifndef KUBE_RUNTIME_FAILING_KEYS_H_
#define KUBE_RUNTIME_FAILING_KEYS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/metrics.h"
#include "kube/runtime/reconciler.h"

namespace kube {

// Shows the gauge karmada_controller_failing_keys. All keys are kept, and the text of the error for
// the first hundred only, so that memory grows with the keys alone. Thread-safe.
class FailingKeys {
 public:
  static constexpr size_t kMostErrors = 100;
  static constexpr size_t kErrorBytes = 500;

  // Without a registry there is no gauge. REQUIRES: the registry outlives this object.
  FailingKeys(metrics::Registry* registry, const std::string& controller);

  // Takes note of a pass that has failed.
  void Note(const Request& item, const absl::Status& error);
  // To be called after a pass that has not failed.
  void Forget(const Request& item);
  // Forgets all keys, and takes note of none from now on.
  void Close();

  const std::string& controller() const { return controller_; }
  bool Contains(const Request& item) const;
  size_t size() const;
  struct Item {
    Request request;
    std::string error;  // Of its last pass, cut; "" for those beyond the first hundred.
  };
  // Returns at most `most` of the keys, in order, those first whose error is known.
  std::vector<Item> List(size_t most) const;

 private:
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string controller_;
  metrics::Gauge* const gauge_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<Request, std::string> errors_ ABSL_GUARDED_BY(mu_);
  size_t with_error_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_FAILING_KEYS_H_
