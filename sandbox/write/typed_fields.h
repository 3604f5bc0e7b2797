// Decodes the JSON of a built-in kind as typed Go code does: unknown fields are dropped and
// reported, wrong types refused, quantities brought to their canonical form, and values that a Go
// encoder would leave out (nulls, empty lists and maps, zero values of optional fields) are
// removed.
#ifndef SANDBOX_WRITE_TYPED_FIELDS_H_
#define SANDBOX_WRITE_TYPED_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Metadata of the object itself is not changed (see NormalizeMetadata). Kinds whose fields are not
// known only lose their nulls. 400 for a wrong type.
absl::Status DecodeTypedFields(const ResourceInfo& info, kube::Object& object,
                               std::vector<std::string>& unknown);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_TYPED_FIELDS_H_
