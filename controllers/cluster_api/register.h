// How the loop of this folder is built.
#ifndef CONTROLLERS_CLUSTER_API_REGISTER_H_
#define CONTROLLERS_CLUSTER_API_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop if --cluster-api-kubeconfig is given. An error says why that kubeconfig cannot be
// used; that the server cannot be reached is none.
absl::Status RegisterClusterApi(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_API_REGISTER_H_
