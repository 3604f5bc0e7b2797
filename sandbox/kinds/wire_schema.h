// The fields of built-in types: JSON name, protobuf number and type, as k8s.io/api v0.35 defines
// them. It is used for two purposes: reading the protobuf bodies that generated Go clients send
// (kubectl create among them), and decoding JSON as strictly as typed Go code does.
//
// Notation of the tables: "package NAME" starts a group; each line after it is a message and its
// fields, name:number:type, continued on lines that start with blanks. Types:
//   s string   i integer   b boolean   d double   y bytes   Q Quantity   T Time   M MicroTime
//   D Duration   I IntOrString   R RawExtension   F FieldsV1   X list of strings   Name message
// A type may be preceded by * (list), % (map from string) or ! (written even when zero). The field
// name ~ marks a message whose members appear in its parent's JSON.
#ifndef SANDBOX_KINDS_WIRE_SCHEMA_H_
#define SANDBOX_KINDS_WIRE_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"

namespace sandbox {

struct WireMessage;

struct WireField {
  enum class Shape { kOne, kList, kMap };

  std::string name;  // "" when the members appear in the parent.
  int number = 0;
  Shape shape = Shape::kOne;
  bool keeps_zero = false;
  char type = 0;  // A letter of the tables; 'O' for messages.
  const WireMessage* message = nullptr;
};

struct WireMessage {
  std::string package, name;
  std::vector<WireField> fields;

  // Returns nullptr when there is none.
  const WireField* ByNumber(int number) const;
  // Searches inlined messages too.
  const WireField* ByName(absl::string_view json_name) const;
};

// Returns nullptr for kinds that are not in the tables (definitions, API services, custom
// resources).
const WireMessage* FindWireMessage(const kube::Gvk& gvk);

// Return the tables.
absl::string_view CoreWireTypes();
absl::string_view AppsWireTypes();
absl::string_view AccessWireTypes();

}  // namespace sandbox

#endif  // SANDBOX_KINDS_WIRE_SCHEMA_H_
