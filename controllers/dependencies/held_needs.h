// What a template's clusters need while its present state has not passed (works/passage.h): what
// the states need that they have.
#ifndef CONTROLLERS_DEPENDENCIES_HELD_NEEDS_H_
#define CONTROLLERS_DEPENDENCIES_HELD_NEEDS_H_

#include <optional>
#include <vector>

#include "interpreter/interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the states that have to be asked about besides the binding's record, which names what the
// state needs that passed last; nullopt if the present state has passed, so that it alone decides.
// They are the template as it is, if a cluster has it or gets it because it has no Work; and if
// there is no record, the manifests that clusters keep, one of each generation.
// REQUIRES: `object` is the template of `binding`; and what works::WorkToKeep requires.
std::optional<std::vector<kube::ObjectPtr>> StatesHeldBack(
    kube::ClusterClient& client, const interpreter::Interpreter& interpreter,
    const kube::Object& binding, const kube::ObjectPtr& object);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_HELD_NEEDS_H_
