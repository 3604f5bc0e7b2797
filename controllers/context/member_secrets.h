// Connects a controller that has Clusters as keys to the Secrets with the members' credentials.
#ifndef CONTROLLERS_CONTEXT_MEMBER_SECRETS_H_
#define CONTROLLERS_CONTEXT_MEMBER_SECRETS_H_

#include "controllers/context/context.h"
#include "kube/runtime/controller.h"

namespace controllers {

// A Secret that is added, changed or removed queues every Cluster whose spec.secretRef names it.
// The reconciler may read Clusters and Secrets.
kube::ControllerBuilder& WatchesMemberSecrets(kube::ControllerBuilder& builder,
                                              const Context& context);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_MEMBER_SECRETS_H_
