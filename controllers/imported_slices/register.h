// How the loop of this folder is built.
#ifndef CONTROLLERS_IMPORTED_SLICES_REGISTER_H_
#define CONTROLLERS_IMPORTED_SLICES_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

absl::Status RegisterImportedSlices(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_IMPORTED_SLICES_REGISTER_H_
