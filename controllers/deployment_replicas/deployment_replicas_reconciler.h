// The deployment replicas loop: takes the replicas that autoscalers of member clusters have set
// into the template (upstream's deployment-replicas-syncer).
#ifndef CONTROLLERS_DEPLOYMENT_REPLICAS_DEPLOYMENT_REPLICAS_RECONCILER_H_
#define CONTROLLERS_DEPLOYMENT_REPLICAS_DEPLOYMENT_REPLICAS_RECONCILER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// Returns why the replicas in the status of the Deployment are not those that its clusters run by
// the present spec; "" when they are. The binding's spec has to follow the template, the scheduler
// has to have seen it, and each of its clusters has to report replicas, whose sum is that of the
// template's status (upstream's isDeploymentStatusCollected).
std::string WhyNotCollected(const kube::Object& deployment, const kube::Object& binding);

// A template with the label resourcetemplate.karmada.io/retain-replicas leaves the replicas of its
// objects to the members. When its binding divides replicas, spec.replicas of the template becomes
// the sum that its members run, so that the next scheduling begins with it.
class DeploymentReplicasReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit DeploymentReplicasReconciler(kube::Manager& manager) : manager_(manager) {}

  // The request's key names a Deployment.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  kube::Manager& manager_;
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPLOYMENT_REPLICAS_DEPLOYMENT_REPLICAS_RECONCILER_H_
