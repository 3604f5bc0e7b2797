// What Kubernetes' Go code makes of an object by decoding it into its struct and encoding that.
#ifndef INTERPRETER_NATIVE_GO_ENCODING_H_
#define INTERPRETER_NATIVE_GO_ENCODING_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/native/type_table.h"

namespace interpreter::native {

// What becomes of a list or a map without items in a field that is left out when empty.
enum class EmptyLists {
  kOmitted,  // As the encoder does.
  // It stays, while null goes: two values are then equal exactly when the structs they decode to
  // are (reflect.DeepEqual).
  kKept,
};

// The value as apimachinery's unstructured converter gives it back after a journey through the
// type: fields the structs do not have are gone, zero values are left out or written as each
// field's tag says, quantities and times have their canonical form, integers are cut to their size.
// kInvalidArgument, naming the field, when a value does not fit its type.
absl::StatusOr<json::Value> EncodeAsGo(const Type& type, const json::Value& value,
                                       EmptyLists empty_lists = EmptyLists::kOmitted);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_GO_ENCODING_H_
