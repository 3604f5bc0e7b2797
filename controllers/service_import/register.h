// How the loop of this folder is built.
#ifndef CONTROLLERS_SERVICE_IMPORT_REGISTER_H_
#define CONTROLLERS_SERVICE_IMPORT_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterServiceImport(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_SERVICE_IMPORT_REGISTER_H_
