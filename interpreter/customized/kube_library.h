// The library "kube" that scripts reach with `local kube = require("kube")`.
#ifndef INTERPRETER_CUSTOMIZED_KUBE_LIBRARY_H_
#define INTERPRETER_CUSTOMIZED_KUBE_LIBRARY_H_

#include "interpreter/interpreter.h"
#include "lua/library.h"

namespace interpreter::customized {

// Returns a library with the functions of upstream's luavm/kube.go, on top of the built-in
// handlers:
//   resourceAdd(q, ...)                     sum of quantities (strings or nil) in canonical form
//   accuratePodRequirements(template)       ReplicaRequirements of a pod template; nil for none
//   getPodDependencies(template, namespace) DependentObjectReferences of a pod template, sorted; an
//                                           empty list for none (upstream: nil, which a script
//                                           cannot return)
//   getResourceQuantity(q)                  a quantity as a number
// Wrong arguments raise an error with upstream's words.
// `rules` are those of accuratePodRequirements.
lua::Library KubeLibrary(const RequirementRules& rules = {});

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_KUBE_LIBRARY_H_
