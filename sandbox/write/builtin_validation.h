// Basic validation of built-in kinds: the mistakes that users make most, with the wording of
// kube-apiserver.
#ifndef SANDBOX_WRITE_BUILTIN_VALIDATION_H_
#define SANDBOX_WRITE_BUILTIN_VALIDATION_H_

#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

void ValidateBuiltin(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors);
// Checks that immutable fields have not changed.
void ValidateBuiltinUpdate(const ResourceInfo& info, const kube::Object& old_object,
                           const kube::Object& object, FieldErrors& errors);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_BUILTIN_VALIDATION_H_
