// The built-in kinds that the simulators deal with.
#ifndef SANDBOX_SIM_KINDS_H_
#define SANDBOX_SIM_KINDS_H_

#include "kube/meta/names.h"

namespace sandbox::kinds {

const kube::Resource& Pods();
const kube::Resource& Nodes();
const kube::Resource& Namespaces();
const kube::Resource& ConfigMaps();
const kube::Resource& Secrets();
const kube::Resource& ServiceAccounts();
const kube::Resource& Deployments();
const kube::Resource& ReplicaSets();
const kube::Resource& StatefulSets();
const kube::Resource& DaemonSets();
const kube::Resource& Jobs();
const kube::Resource& Events();       // Events of the core group.
const kube::Resource& Definitions();  // CustomResourceDefinitions.

}  // namespace sandbox::kinds

#endif  // SANDBOX_SIM_KINDS_H_
