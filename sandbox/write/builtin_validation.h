// Basic validation of built-in kinds: what users run into most, worded as kube-apiserver words it.
#ifndef SANDBOX_WRITE_BUILTIN_VALIDATION_H_
#define SANDBOX_WRITE_BUILTIN_VALIDATION_H_

#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

void ValidateBuiltin(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors);
// Immutable fields.
void ValidateBuiltinUpdate(const ResourceInfo& info, const kube::Object& old_object,
                           const kube::Object& object, FieldErrors& errors);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_BUILTIN_VALIDATION_H_
