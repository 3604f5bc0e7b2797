// Builds the loops that collect EndpointSlices of members.
#ifndef CONTROLLERS_SLICE_COLLECTION_REGISTER_H_
#define CONTROLLERS_SLICE_COLLECTION_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Each builds two loops: SliceReconciler, and SliceWatches, which feeds it.
absl::Status RegisterServiceExport(const Context& context, int workers);
absl::Status RegisterEndpointSliceCollect(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_REGISTER_H_
