// The kinds that a member serves, as Cluster.status.apiEnablements lists them.
#ifndef CONTROLLERS_CLUSTER_STATUS_API_ENABLEMENTS_H_
#define CONTROLLERS_CLUSTER_STATUS_API_ENABLEMENTS_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "kube/discovery/rest_mapper.h"

namespace controllers {

// Makes the list once for each discovery: a member is asked every few seconds, its kinds hardly
// ever change, and members with the same kinds share a discovery (kube::DiscoveryPool).
// Thread-safe.
class ApiEnablementsCache {
 public:
  // Returns the one of the process, in which several agents may share discoveries.
  static ApiEnablementsCache& OfProcess();

  // Returns the list for what a discovery has found, sorted by group-version and name; of groups
  // that it could not read, with what `before` lists. REQUIRES: `discovery` is not null.
  json::Value Of(const std::shared_ptr<const kube::Discovery>& discovery,
                 const json::Value& before);

 private:
  struct Entry {
    std::weak_ptr<const kube::Discovery> discovery;
    json::Value list;
  };
  absl::Mutex mu_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mu_);  // One for each set of kinds in the fleet.
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_API_ENABLEMENTS_H_
