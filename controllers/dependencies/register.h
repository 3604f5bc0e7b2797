// How the loop of this folder is built.
#ifndef CONTROLLERS_DEPENDENCIES_REGISTER_H_
#define CONTROLLERS_DEPENDENCIES_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop over the ResourceBindings that propagate dependencies.
absl::Status RegisterDependencies(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_REGISTER_H_
