// What server-side apply knows about the place of a value: which fields an object has, and what
// tells the items of a list apart. Built-in kinds have the table of kube/schema, custom ones
// their schema.
#ifndef KUBE_SERVER_FIELDS_FIELD_TYPE_H_
#define KUBE_SERVER_FIELDS_FIELD_TYPE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/schema/types.h"

namespace kube::server {

// Cheap to copy. REQUIRES: what it was made of outlives it.
class FieldType {
 public:
  // Return the type of the whole objects of a kind: one that kube/schema has, and one that is
  // described by a schema, or not at all.
  static FieldType OfBuiltin(const Gvk& gvk);
  static FieldType OfObjects(const json::Value& schema);
  static FieldType OfUntypedObjects();

  // Whether an object here has one owner, with all that is in it.
  bool IsAtomicMap() const;
  // Whether a list here has one owner. If not, each of its items has owners of its own.
  bool IsAtomicList() const;
  // Returns the name of the item in sets of fields (field_set.h). kInvalidArgument: it lacks its
  // keys, or cannot be an item. REQUIRES: the list is not atomic.
  absl::StatusOr<std::string> StepOf(const json::Value& item) const;
  FieldType Item() const;

  // Whether a value here may be an object, a list, or something else.
  enum class Form { kAny, kMap, kList, kScalar };
  Form form() const;

  struct MemberType;
  // The member of an object of this type.
  MemberType Member(absl::string_view name) const;

  // Calls `visit` for the members that an object has even if nobody has set them: in built-in
  // kinds, what Go writes as {} and null.
  void ForEachImplied(
      absl::FunctionRef<void(absl::string_view name, const json::Value& value)> visit) const;

 private:
  enum class Source {
    kScalar,
    kStruct,   // An object that `struct_` describes.
    kList,     // The list `field_`.
    kMap,      // The map `field_`.
    kSchema,   // What `schema_` describes.
    kOpen,     // An object of a built-in kind without a table, or anything in it.
    kUntyped,  // Anything in a custom resource that its schema does not describe.
    kAtomic,   // Anything, with one owner.
  };
  explicit FieldType(Source source) : source_(source) {}
  static FieldType OfField(const schema::Field& field);
  static FieldType OfElement(const schema::Field& field);
  static FieldType OfStruct(const schema::Struct* type);
  static FieldType OfSchema(const json::Value& schema, bool is_root);
  MemberType SchemaMember(absl::string_view name) const;
  absl::StatusOr<std::string> KeyedStepOf(const json::Value& item) const;

  Source source_;
  const schema::Struct* struct_ = nullptr;
  const schema::Field* field_ = nullptr;
  const json::Value* schema_ = nullptr;
  // The whole object, whose metadata is not as its schema says.
  bool is_root_ = false;
  // A list in kOpen whose items are told apart by their type.
  bool of_conditions_ = false;
};

struct FieldType::MemberType {
  FieldType type;
  bool known = true;  // False: the type has no such member.
  // The type names it. Members of maps, which users name, are fields by themselves.
  bool named = true;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_FIELD_TYPE_H_
