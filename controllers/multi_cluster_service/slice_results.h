// What the last pass over each EndpointSlice of a MultiClusterService has led to: the condition of
// the service is about all of its slices, and a pass is about one.
//
// This memory may be empty at any moment. Then nothing is known of the service until each of its
// slices has had a pass, which a start brings; the condition stays as it is meanwhile.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_SLICE_RESULTS_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_SLICE_RESULTS_H_

#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/meta/names.h"

namespace controllers {

// Slices are named by the keys of their collected Works. Thread-safe.
class SliceResults {
 public:
  // Records the result of a pass.
  void Note(const kube::ObjectKey& service, const kube::ObjectKey& slice,
            const absl::Status& result) {
    absl::MutexLock lock(&mu_);
    results_[service][slice] = result;
    services_[slice].insert(service);
  }
  // Returns the errors of those of the slices that fail; OK when none does; nullopt when none is
  // known to fail and some have not had a pass yet.
  std::optional<absl::Status> OfAll(const kube::ObjectKey& service,
                                    const std::vector<kube::ObjectKey>& slices) const {
    absl::MutexLock lock(&mu_);
    const auto known = results_.find(service);
    base::ErrorList errors;
    bool is_complete = true;
    for (const kube::ObjectKey& slice : slices) {
      const bool is_known = known != results_.end() && known->second.contains(slice);
      is_complete = is_complete && is_known;
      if (is_known) errors.Add(known->second.at(slice));
    }
    if (errors.empty() && !is_complete) return std::nullopt;
    return errors.Join();
  }
  // Forgets a slice that is not dispatched any more. Returns the services of which it was, as far
  // as is known.
  std::vector<kube::ObjectKey> Forget(const kube::ObjectKey& slice) {
    absl::MutexLock lock(&mu_);
    const auto known = services_.find(slice);
    if (known == services_.end()) return {};
    std::vector<kube::ObjectKey> services(known->second.begin(), known->second.end());
    services_.erase(known);
    for (const kube::ObjectKey& service : services) {
      const auto results = results_.find(service);
      results->second.erase(slice);
      if (results->second.empty()) results_.erase(results);
    }
    return services;
  }

 private:
  mutable absl::Mutex mu_;
  // By service and slice.
  absl::flat_hash_map<kube::ObjectKey, absl::flat_hash_map<kube::ObjectKey, absl::Status>> results_
      ABSL_GUARDED_BY(mu_);
  // The services of a slice, so that the end of a slice does not look at all services.
  absl::flat_hash_map<kube::ObjectKey, absl::flat_hash_set<kube::ObjectKey>> services_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_SLICE_RESULTS_H_
