// How the loop of this folder is built.
#ifndef CONTROLLERS_UNIFIED_AUTH_REGISTER_H_
#define CONTROLLERS_UNIFIED_AUTH_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterUnifiedAuth(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_UNIFIED_AUTH_REGISTER_H_
