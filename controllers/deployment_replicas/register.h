// How the loop of this folder is built.
#ifndef CONTROLLERS_DEPLOYMENT_REPLICAS_REGISTER_H_
#define CONTROLLERS_DEPLOYMENT_REPLICAS_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterDeploymentReplicas(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_DEPLOYMENT_REPLICAS_REGISTER_H_
