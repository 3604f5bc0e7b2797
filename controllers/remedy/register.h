// How the loop of this folder is built.
#ifndef CONTROLLERS_REMEDY_REGISTER_H_
#define CONTROLLERS_REMEDY_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterRemedy(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_REMEDY_REGISTER_H_
