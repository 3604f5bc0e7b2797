// How the loop of this folder is built.
#ifndef CONTROLLERS_CLUSTER_REGISTER_H_
#define CONTROLLERS_CLUSTER_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop and the monitor of pull clusters.
absl::Status RegisterCluster(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_REGISTER_H_
