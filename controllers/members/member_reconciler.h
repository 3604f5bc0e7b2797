// Keeps the clients of the member clusters in line with the Cluster objects and their Secrets.
#ifndef CONTROLLERS_MEMBERS_MEMBER_RECONCILER_H_
#define CONTROLLERS_MEMBERS_MEMBER_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/member_objects.h"

namespace controllers {

// A member is connected when some loop first needs it. From then on this loop applies each change
// of the configuration, and forgets the members that leave. A configuration that cannot be used, or
// whose Secret is gone, shows in the Cluster's status, which the cluster-status loop reports.
class MemberReconciler : public kube::Reconciler {
 public:
  // REQUIRES: all three outlive the reconciler.
  MemberReconciler(kube::Manager& manager, kube::ClusterSet& members, works::MemberObjects& objects)
      : manager_(manager), members_(members), objects_(objects) {}

  // The request's key names a Cluster. A configuration that cannot be used is a terminal error: the
  // change that repairs it is reported by an event, and until then the connection stays as it is.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Returns whether the Secret that the Cluster names does not exist.
  bool LacksSecret(const kube::Object& cluster) const;

  kube::Manager& manager_;
  kube::ClusterSet& members_;
  works::MemberObjects& objects_;
};

}  // namespace controllers

#endif  // CONTROLLERS_MEMBERS_MEMBER_RECONCILER_H_
