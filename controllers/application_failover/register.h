// How the loop of this folder is built.
#ifndef CONTROLLERS_APPLICATION_FAILOVER_REGISTER_H_
#define CONTROLLERS_APPLICATION_FAILOVER_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop for bindings of one scope: with api::scope::Namespaced for ResourceBindings, with
// api::scope::Cluster for ClusterResourceBindings. The table of controllers has a line for each.
template <class Scope>
absl::Status RegisterApplicationFailover(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_APPLICATION_FAILOVER_REGISTER_H_
