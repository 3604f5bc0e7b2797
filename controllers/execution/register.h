// How the loop of this folder is built.
#ifndef CONTROLLERS_EXECUTION_REGISTER_H_
#define CONTROLLERS_EXECUTION_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterExecution(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_EXECUTION_REGISTER_H_
