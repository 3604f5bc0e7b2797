// How the loop of this folder is built.
#ifndef BINDING_REGISTER_H_
#define BINDING_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace binding {

// Builds the loop for bindings of one scope: with api::scope::Namespaced for ResourceBindings, with
// api::scope::Cluster for ClusterResourceBindings. The table of controllers has a line for each.
template <class Scope>
absl::Status RegisterBinding(const controllers::Context& context, int workers);

}  // namespace binding

#endif  // BINDING_REGISTER_H_
