// Connects a controller that has Clusters as keys to the Secrets with the members' credentials.
#ifndef LOOPS_MEMBER_SECRETS_H_
#define LOOPS_MEMBER_SECRETS_H_

#include "kube/runtime/controller.h"
#include "loops/context.h"

namespace loops {

// A Secret that comes, changes or goes queues every Cluster whose spec.secretRef names it. The
// reconciler may read Clusters and Secrets.
kube::ControllerBuilder& WatchesMemberSecrets(kube::ControllerBuilder& builder,
                                              const Context& context);

}  // namespace loops

#endif  // LOOPS_MEMBER_SECRETS_H_
