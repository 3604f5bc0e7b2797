// What becomes of JSON that Go code decodes into its structs and encodes again: fields that the
// structs do not have are gone, values of a wrong type are refused, and the others have the form in
// which Go writes them.
#ifndef KUBE_SCHEMA_TYPED_VALUE_H_
#define KUBE_SCHEMA_TYPED_VALUE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "kube/schema/types.h"

namespace kube::schema {

struct TypedForm {
  // What is done with fields that the value lacks, that are null, or that are zero.
  enum class Fields {
    // The shortest form that means the same: they are left out, but for zero values that Go
    // distinguishes from absent ones or writes always. An object's own apiVersion, kind and
    // metadata stay as they are. So an API server of ours keeps a body.
    kShort,
    // Go's: whatever a field's tag does not leave out is written, the struct's zero values, too, as
    // apimachinery's unstructured converter returns it. It cuts integers to their size.
    kFull,
  } fields = Fields::kShort;
  // kFull: lists and maps without items stay in fields with omitempty, while null is left out. Two
  // values are then equal exactly when the structs they decode to are (reflect.DeepEqual).
  bool keeps_empty_lists = false;
  // Not null: is given the paths of the fields that the structs do not have, such as
  // "spec.containers[0].imagee".
  std::vector<std::string>* unknown = nullptr;
};

// Quantities and times have their canonical form, whole doubles are integers, null is the zero
// value of its type. kInvalidArgument, in the words of Go's decoder, for the first value of a wrong
// type.
absl::StatusOr<json::Value> TypedValue(const Struct& type, const json::Value& value,
                                       const TypedForm& form);

}  // namespace kube::schema

#endif  // KUBE_SCHEMA_TYPED_VALUE_H_
