// The libraries that scripts of customizations reach with `require`.
#ifndef INTERPRETER_CUSTOMIZED_SCRIPT_LIBRARIES_H_
#define INTERPRETER_CUSTOMIZED_SCRIPT_LIBRARIES_H_

#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "lua/library.h"

namespace interpreter::customized {

// Returns "kube" (kube_library.h), which upstream has, too, and "karmada", which is ours
// (lua/scripts/karmada.lua).
std::vector<lua::Library> ScriptLibraries(const RequirementRules& rules = {});

// Returns the names of the functions of the library of this name; none if there is no such library.
std::vector<std::string> FunctionsOf(const std::string& library);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_LIBRARIES_H_
