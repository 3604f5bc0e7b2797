// Decodes the JSON of a built-in kind as typed Go code does: unknown fields are dropped and
// reported, wrong types refused, quantities brought to their canonical form, and values that a Go
// encoder would leave out (nulls, empty lists and maps, zero values of optional fields) are
// removed.
#ifndef KUBE_SERVER_WIRE_TYPED_FIELDS_H_
#define KUBE_SERVER_WIRE_TYPED_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

// Metadata of the object itself is not changed (see NormalizeMetadata). Kinds whose fields are not
// known only lose their nulls. 400 for a wrong type.
absl::Status DecodeTypedFields(const kube::Gvk& gvk, kube::Object& object,
                               std::vector<std::string>& unknown);
// As above, for a kind whose fields `message` has.
absl::Status DecodeTypedFields(const kube::Gvk& gvk, const WireMessage& message,
                               kube::Object& object, std::vector<std::string>& unknown);

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_TYPED_FIELDS_H_
