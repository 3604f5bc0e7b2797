// What the status of a cluster needs of the nodes and pods in its cache.
#ifndef CONTROLLERS_CLUSTERSTATUS_TRIM_H_
#define CONTROLLERS_CLUSTERSTATUS_TRIM_H_

#include "kube/meta/object.h"

namespace controllers {

// Keep only what ResourceTotals reads; for informers.
void TrimNode(kube::Object& node);
void TrimPod(kube::Object& pod);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTERSTATUS_TRIM_H_
