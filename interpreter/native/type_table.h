// Describes Kubernetes' API structs: which fields they have, and how Go's encoder treats each.
//
// The table is kubernetes_types.txt, which scripts/kubernetes-types prints from k8s.io/api.
#ifndef INTERPRETER_NATIVE_TYPE_TABLE_H_
#define INTERPRETER_NATIVE_TYPE_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace interpreter::native {

struct Type;

struct Field {
  json::Value name;            // A JSON string.
  const Type* type = nullptr;  // Belongs to the same table.
  bool omit_empty = false;     // Absent when it is "", 0, false, null or has no items.
  bool omit_zero = false;      // Absent when it is the zero time.
};

struct Type {
  enum class Form {
    kString,
    kBool,
    kInt32,
    kInt64,
    kQuantity,
    kTime,  // metav1.Time.
    kIntOrString,
    kRaw,  // Any JSON, kept as it is.
    kPointer,
    kList,
    kMap,  // Keys are strings.
    kStruct,
  };
  Form form = Form::kRaw;
  const Type* element = nullptr;  // The elements' type of a pointer, a list or a map.
  std::vector<Field> fields;      // The fields of a struct, by name.
};

// Immutable once made; any thread may read it.
class TypeTable {
 public:
  // Returns the table of the kinds with built-in handlers. It is read at the first call.
  static const TypeTable& Kubernetes();

  // kInvalidArgument, with the line, when the text does not have the form described in its header,
  // or when a struct is mentioned that has no lines of its own.
  static absl::StatusOr<TypeTable> Parse(absl::string_view text);

  // Returns nullptr when the table does not have the kind.
  const Type* OfKind(absl::string_view api_version, absl::string_view kind) const;

 private:
  TypeTable() = default;
  absl::Status AddLine(absl::string_view line, Type*& current);
  absl::Status AddField(absl::string_view line, Type& to);
  // Returns the type with that text. A new type is added; a new struct has no fields yet.
  absl::StatusOr<Type*> TypeOf(absl::string_view text);
  absl::Status CheckStructs() const;

  absl::flat_hash_map<std::string, std::unique_ptr<Type>> types_;  // The key is the type's text.
  absl::flat_hash_map<std::string, const Type*> kinds_;            // By "<apiVersion> <kind>".
};

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_TYPE_TABLE_H_
