// What karmada-webhook refuses of ResourceInterpreterCustomizations, in its words.
#ifndef INTERPRETER_CHECK_UPSTREAM_ADMISSION_H_
#define INTERPRETER_CHECK_UPSTREAM_ADMISSION_H_

#include <string>

#include "kube/meta/object.h"

namespace interpreter::check {

// Returns why the customization may not exist beside `other`: both have a script for an operation
// of the same kind; "" when it may. Dependencies may have several scripts. Follows upstream's
// validateCustomizationRule.
std::string ConflictWith(const kube::Object& other, const kube::Object& customization);

// Returns which script does not compile; "" when all do. They are not run. Follows upstream's
// checkCustomizationsRule.
std::string CompileErrorOf(const kube::Object& customization);

}  // namespace interpreter::check

#endif  // INTERPRETER_CHECK_UPSTREAM_ADMISSION_H_
