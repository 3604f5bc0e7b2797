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
//
// MergeMarks() adds what server-side apply has to know. A line is package.MESSAGE, then its marks:
// ! (the whole message has one owner, with all that is in it), and names of fields that are
// followed by =key:default,... (a list whose items are told apart by these keys), = (a list that is
// a set), ! (the field has one owner), + (an object that is there even if nobody has set it) or ?
// (the same, as a null). Other lists have one owner.
#ifndef KUBE_SERVER_WIRE_WIRE_SCHEMA_H_
#define KUBE_SERVER_WIRE_WIRE_SCHEMA_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace kube::server {

struct WireMessage;

// How server-side apply merges a field.
struct MergeMark {
  // What tells the items of a list apart.
  struct Key {
    std::string name;
    json::Value otherwise;  // What an item without the key has; null when it has nothing.
  };
  std::vector<Key> keys;  // Not empty: the list is a map.
  bool set = false;       // The list is a set.
  bool atomic = false;    // The field is an object that has one owner.
  // A Go struct has the field, as an object or a null, even if nobody has set it.
  bool implied_object = false, implied_null = false;
};

struct WireField {
  enum class Shape { kOne, kList, kMap };

  std::string name;  // "" when the members appear in the parent.
  int number = 0;
  Shape shape = Shape::kOne;
  bool keeps_zero = false;
  char type = 0;  // A letter of the tables; 'O' for messages.
  const WireMessage* message = nullptr;
  std::shared_ptr<const MergeMark> mark;  // Null when nothing is marked.
};

struct WireMessage {
  std::string package, name;
  std::vector<WireField> fields;
  bool atomic = false;  // The whole of it has one owner in server-side apply.

  // Returns nullptr when there is none.
  const WireField* ByNumber(int number) const;
  // Searches inlined messages too.
  const WireField* ByName(absl::string_view json_name) const;
};

// All messages of some tables. Immutable after construction.
class WireTypes {
 public:
  // A table may mention messages of another one.
  explicit WireTypes(absl::Span<const absl::string_view> tables);
  WireTypes(const WireTypes&) = delete;
  // `name` is "package.Name". Returns nullptr when no table mentions it.
  const WireMessage* Find(const std::string& name) const;
  // Adds marks, of which those for unknown messages and fields are ignored.
  void Mark(absl::string_view marks);

 private:
  WireField* FieldOf(WireMessage& message, absl::string_view name);
  void Read(absl::string_view table);
  WireField ReadField(const std::string& package, absl::string_view text);
  // Messages may be mentioned before they are described.
  WireMessage& Get(const std::string& name);

  std::map<std::string, std::unique_ptr<WireMessage>> messages_;
};

// Returns nullptr for kinds that are not in the tables (definitions, API services, custom
// resources).
const WireMessage* FindWireMessage(const kube::Gvk& gvk);

// Returns a message of the built-in types by "package.Name", such as "meta.ObjectMeta"; nullptr
// when there is none.
const WireMessage* FindBuiltinMessage(const std::string& name);

// Return the tables.
absl::string_view CoreWireTypes();
absl::string_view AppsWireTypes();
absl::string_view AccessWireTypes();
absl::string_view MergeMarks();

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_WIRE_SCHEMA_H_
