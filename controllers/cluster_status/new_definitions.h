// Determines when to look early at which kinds a member serves.
#ifndef CONTROLLERS_CLUSTER_STATUS_NEW_DEFINITIONS_H_
#define CONTROLLERS_CLUSTER_STATUS_NEW_DEFINITIONS_H_

#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "kube/runtime/controller.h"

namespace controllers {

// Returns how changes of Works queue Clusters: the status of a cluster is collected when a Work has
// brought a CustomResourceDefinition there, that is, when the status of such a Work changes.
// Templates of the new kind are not scheduled to the cluster before its status.apiEnablements lists
// it, and the next round may be seconds away. (Upstream waits for that round.)
kube::Enqueue AfterNewDefinitions();

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_NEW_DEFINITIONS_H_
