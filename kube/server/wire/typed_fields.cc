// Walks an object along the table of its kind and rebuilds it as Go's decoder and encoder together
// would leave it. Unknown fields are dropped and their paths collected; the first wrong type ends
// the decoding with Go's message. Values that Go would not write (nulls, empty lists and maps, zero
// values of optional fields) are removed, so that an object that a client sends equals the one that
// a Go server would have stored. Metadata of the object itself is left to NormalizeMetadata.

#include "kube/server/wire/typed_fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/schema/typed_value.h"
#include "kube/server/api_errors.h"

namespace kube::server {
namespace {

// For kinds without a table. Items of lists stay, because their positions matter.
json::Value WithoutNulls(const json::Value& v) {
  if (v.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : v.items()) out.Append(WithoutNulls(item));
    return out;
  }
  if (!v.is_object()) return v;
  json::Value out = json::Value::Object();
  for (const json::Member& member : v.members()) {
    if (!member.value.is_null()) out.Set(member.name(), WithoutNulls(member.value));
  }
  return out;
}

}  // namespace

absl::Status DecodeTypedFields(const kube::Gvk& gvk, kube::Object& object,
                               std::vector<std::string>& unknown) {
  const schema::Struct* type = schema::FindKind(gvk);
  absl::StatusOr<json::Value> decoded =
      type == nullptr ? WithoutNulls(object.root())
                      : schema::TypedValue(*type, object.root(), {.unknown = &unknown});
  if (!decoded.ok()) {
    return BadRequest(absl::StrCat(gvk.kind, " in version \"", gvk.version,
                                   "\" cannot be handled as a ", gvk.kind, ": ",
                                   decoded.status().message()));
  }
  // Equal parts stay shared with the state from which they were taken.
  if (*decoded != object.root()) object = kube::Object(*std::move(decoded));
  return absl::OkStatus();
}

}  // namespace kube::server
