// What the bindings of a namespace use, added up once for all of its quotas.
#ifndef CONTROLLERS_FEDERATED_QUOTA_USAGE_SUMS_H_
#define CONTROLLERS_FEDERATED_QUOTA_USAGE_SUMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/resource_list.h"

namespace controllers {

struct UsageSum {
  api::ResourceList used;
  std::vector<absl::Status> errors;  // Of bindings that cannot be counted, and are left out.
};

// A namespace may have thousands of bindings and as many quotas: without this a change of a binding
// would cost a count of all bindings for each quota. Thread-safe. Losing this memory costs a count.
class UsageSums {
 public:
  // Call it when the cache shows something that may change the sum of the namespace, and before a
  // request for a pass is queued because of that.
  void Changed(absl::string_view ns) { ++ChangesOf(ns); }

  // Returns what `count` has returned for the namespace since its last change.
  UsageSum Of(absl::string_view ns, absl::FunctionRef<UsageSum()> count) {
    // Read before the bindings are: a change in between makes the sum out of date.
    const uint64_t changes = ChangesOf(ns);
    {
      absl::MutexLock lock(&mu_);
      const auto known = sums_.find(std::string(ns));
      if (known != sums_.end() && known->second.changes == changes) return known->second.sum;
    }
    UsageSum sum = count();
    absl::MutexLock lock(&mu_);
    sums_[std::string(ns)] = {changes, sum};
    return sum;
  }
  // Call it when the namespace has no quota any more.
  void Forget(absl::string_view ns) {
    absl::MutexLock lock(&mu_);
    sums_.erase(std::string(ns));
  }

 private:
  struct Known {
    uint64_t changes = 0;
    UsageSum sum;
  };

  // Namespaces that share a number by chance are counted once more than they have to be.
  std::atomic<uint64_t>& ChangesOf(absl::string_view ns) {
    return changes_[absl::HashOf(ns) % changes_.size()];
  }

  std::array<std::atomic<uint64_t>, 1024> changes_ = {};
  absl::Mutex mu_;
  std::map<std::string, Known> sums_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_USAGE_SUMS_H_
