// How the loop of this folder is built.
#ifndef CONTROLLERS_TAINT_MANAGER_REGISTER_H_
#define CONTROLLERS_TAINT_MANAGER_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop, the queues and their workers, if the flags ask for evictions.
absl::Status RegisterTaintManager(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_REGISTER_H_
