// How the loop of this folder is built.
#ifndef CONTROLLERS_MEMBERS_REGISTER_H_
#define CONTROLLERS_MEMBERS_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterMembers(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_MEMBERS_REGISTER_H_
