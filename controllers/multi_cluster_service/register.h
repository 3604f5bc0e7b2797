// How the loops of this folder are built.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_REGISTER_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

absl::Status RegisterEndpointSliceDispatch(const Context& context, int workers);

absl::Status RegisterMultiClusterService(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_REGISTER_H_
