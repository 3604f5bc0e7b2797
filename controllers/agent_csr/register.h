// How the loop of this folder is built.
#ifndef CONTROLLERS_AGENT_CSR_REGISTER_H_
#define CONTROLLERS_AGENT_CSR_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

// Builds the loop.
absl::Status RegisterAgentCsr(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_CSR_REGISTER_H_
