// The Works of one binding: which they are, and how they are removed.
#ifndef BINDING_BINDING_WORKS_H_
#define BINDING_BINDING_WORKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/binding.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/fan_out.h"

namespace binding {

// Thread-safe.
template <class Scope>
class BindingWorks {
 public:
  // REQUIRES: both outlive this object, and Works are declared as read by Scope::kIdLabel.
  BindingWorks(kube::ClusterClient& client, kube::FanOut& fan_out)
      : client_(client), fan_out_(fan_out) {}

  // Returns those that the cache shows.
  std::vector<kube::ObjectPtr> Known(const api::BindingView& binding) const;
  // Returns the binding's Works, also those that the cache does not show yet.
  absl::StatusOr<std::vector<kube::ObjectPtr>> All(const api::BindingView& binding,
                                                   const base::StopToken& stop);
  absl::Status Delete(const std::vector<kube::ObjectPtr>& works, const base::StopToken& stop);

 private:
  // Asks the server for the binding's Works; to answer that, it reads all Works.
  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const api::BindingView& binding,
                                                    const base::StopToken& stop);
  // Returns whether the cache has all Works except those of the last moments.
  bool CacheFollowsWorks() const;

  kube::ClusterClient& client_;
  kube::FanOut& fan_out_;
};

}  // namespace binding

#endif  // BINDING_BINDING_WORKS_H_
