// Finds misspelt fields, as `kubectl apply` does with --validate=strict.
#ifndef SANDBOX_UNKNOWN_FIELDS_H_
#define SANDBOX_UNKNOWN_FIELDS_H_

#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Returns the paths of the fields that the server would drop from the object, such as
// "spec.placement.clusterAffinty", sorted. The status, which nobody writes by hand, is left out.
// Empty for kinds whose fields are not known.
std::vector<std::string> UnknownFields(Backend& backend, const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_UNKNOWN_FIELDS_H_
