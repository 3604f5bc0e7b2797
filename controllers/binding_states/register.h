// Counts bindings that are not as they should be.
#ifndef CONTROLLERS_BINDING_STATES_REGISTER_H_
#define CONTROLLERS_BINDING_STATES_REGISTER_H_

#include "controllers/context/context.h"

namespace controllers {

// Has the informers of both kinds of bindings keep the gauges of state_gauges.h. REQUIRES: loops
// that read bindings are registered, so that the informers run.
void CountBindingStates(const Context& context);

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATES_REGISTER_H_
