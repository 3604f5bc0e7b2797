// Rewrites an object as Kubernetes' Go code does when it decodes it into its struct and encodes
// that.
#ifndef INTERPRETER_NATIVE_GO_ENCODING_H_
#define INTERPRETER_NATIVE_GO_ENCODING_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/native/type_table.h"

namespace interpreter::native {

// What happens to a list or a map without items in a field with omitempty.
enum class EmptyLists {
  kOmitted,  // It is left out, as Go's encoder does.
  // It stays, while null is left out: two values are then equal exactly when the structs they
  // decode to are (reflect.DeepEqual).
  kKept,
};

// Returns the value as apimachinery's unstructured converter returns it after decoding into the
// type and encoding again: fields that the structs do not have are gone, zero values are left out
// or written as each field's tag says, quantities and times have their canonical form, integers are
// cut to their size. kInvalidArgument, naming the field, when a value does not fit its type.
absl::StatusOr<json::Value> EncodeAsGo(const Type& type, const json::Value& value,
                                       EmptyLists empty_lists = EmptyLists::kOmitted);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_GO_ENCODING_H_
