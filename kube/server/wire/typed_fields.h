// Decodes the JSON of a built-in kind as an API server's typed Go code does (kube/schema).
#ifndef KUBE_SERVER_WIRE_TYPED_FIELDS_H_
#define KUBE_SERVER_WIRE_TYPED_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"

namespace kube::server {

// Unknown fields are dropped, and their paths added to `unknown`; values that a Go encoder would
// leave out (nulls, empty lists and maps, zero values of optional fields) are removed. Metadata of
// the object itself is not changed (see NormalizeMetadata). Kinds whose fields are not known only
// lose their nulls. 400 for a wrong type.
absl::Status DecodeTypedFields(const kube::Gvk& gvk, kube::Object& object,
                               std::vector<std::string>& unknown);

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_TYPED_FIELDS_H_
