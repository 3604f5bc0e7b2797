// A FieldType points into one of three sources, and every question is answered by it (`source_`):
// the table of kube/schema (a struct, or one field of it with how it is merged), the schema of a
// custom kind, or nothing, where a kind has no table or a schema keeps unknown fields. What has no
// description has one owner as a whole, as in Kubernetes; the exception are conditions, whose items
// are told apart by their type also where a kind has no table.
//
// Texts of errors are those of structured-merge-diff, because clients of server-side apply show
// them.

#include "kube/server/fields/field_type.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/server/fields/field_set.h"

namespace kube::server {

using schema::Field;
using schema::ListKey;
using schema::Struct;
using schema::Type;

namespace {

constexpr char kListType[] = "x-kubernetes-list-type";

// What tells the items of a list apart.
struct Key {
  std::string name;
  json::Value otherwise;  // What an item without the key has; null when it has nothing.
};

json::Value OtherwiseOf(const ListKey& key) {
  switch (key.otherwise) {
    case ListKey::Otherwise::kNothing:
      break;
    case ListKey::Otherwise::kText:
      return key.text;
    case ListKey::Otherwise::kZero:
      return 0;
  }
  return json::Value();
}

bool IsTypeMeta(absl::string_view name) { return name == "apiVersion" || name == "kind"; }

bool KeepsUnknown(const json::Value& schema) {
  return schema["x-kubernetes-preserve-unknown-fields"].AsBool();
}

absl::Status NoKeys(const std::vector<Key>& keys) {
  return absl::InvalidArgumentError(absl::StrCat(
      "associative list with keys has an element that omits all key fields [",
      absl::StrJoin(
          keys, " ",
          [](std::string* out, const Key& key) { absl::StrAppend(out, "\"", key.name, "\""); }),
      "] (and doesn't have default values for any key fields)"));
}

}  // namespace

FieldType FieldType::OfBuiltin(const Gvk& gvk) {
  const Struct* known = schema::FindKind(gvk);
  FieldType type = known == nullptr ? FieldType(Source::kOpen) : OfStruct(known);
  type.is_root_ = true;
  return type;
}

FieldType FieldType::OfObjects(const json::Value& schema) {
  return OfSchema(schema, /*is_root=*/true);
}

FieldType FieldType::OfUntypedObjects() {
  FieldType type(Source::kUntyped);
  type.is_root_ = true;
  return type;
}

FieldType FieldType::OfStruct(const Struct* type) {
  FieldType out(Source::kStruct);
  out.struct_ = type;
  return out;
}

FieldType FieldType::OfSchema(const json::Value& schema, bool is_root) {
  FieldType type(Source::kSchema);
  type.schema_ = &schema;
  // An embedded resource has apiVersion, kind and metadata like an object, whatever its schema
  // says.
  type.is_root_ = is_root || schema["x-kubernetes-embedded-resource"].AsBool();
  return type;
}

FieldType FieldType::OfField(const Field& field) {
  if (field.shape == schema::Shape::kOne) {
    FieldType type = OfElement(field);
    type.field_ = &field;
    return type;
  }
  FieldType type(field.shape == schema::Shape::kList ? Source::kList : Source::kMap);
  type.field_ = &field;
  return type;
}

FieldType FieldType::OfElement(const Field& field) {
  if (field.of != nullptr) return OfStruct(field.of);
  if (field.type == Type::kRaw || field.type == Type::kStrings) return FieldType(Source::kAtomic);
  return FieldType(Source::kScalar);
}

bool FieldType::IsAtomicMap() const {
  switch (source_) {
    case Source::kStruct:
      return struct_->atomic || (field_ != nullptr && field_->merging().atomic);
    case Source::kMap:
      return field_->merging().atomic;
    case Source::kSchema:
      return (*schema_)["x-kubernetes-map-type"].AsString() == "atomic";
    case Source::kAtomic:
      return true;
    default:
      return false;
  }
}

bool FieldType::IsAtomicList() const {
  if (source_ == Source::kList) return !field_->merging().set && field_->merging().keys.empty();
  if (source_ == Source::kOpen) return !of_conditions_;
  if (source_ != Source::kSchema) return true;
  const absl::string_view type = (*schema_)[kListType].AsString();
  return type != "set" && type != "map";
}

FieldType::Form FieldType::form() const {
  switch (source_) {
    case Source::kScalar:
      return Form::kScalar;
    case Source::kStruct:
    case Source::kMap:
      return Form::kMap;
    case Source::kList:
      return Form::kList;
    case Source::kSchema: {
      const absl::string_view type = (*schema_)["type"].AsString();
      if (type == "object") return Form::kMap;
      if (type == "array") return Form::kList;
      // A schema without a type accepts everything, except for int-or-string, which never has a
      // type.
      const bool any = type.empty() && !(*schema_)["x-kubernetes-int-or-string"].AsBool();
      return any ? Form::kAny : Form::kScalar;
    }
    default:
      return Form::kAny;
  }
}

FieldType FieldType::Item() const {
  if (source_ == Source::kList) return OfElement(*field_);
  if (source_ == Source::kSchema && schema_->Has("items")) {
    return OfSchema((*schema_)["items"], false);
  }
  if (source_ == Source::kOpen) return FieldType(Source::kOpen);
  return FieldType(Source::kAtomic);
}

absl::StatusOr<std::string> FieldType::StepOf(const json::Value& item) const {
  const bool is_map = source_ == Source::kList     ? !field_->merging().keys.empty()
                      : source_ == Source::kSchema ? (*schema_)[kListType].AsString() == "map"
                                                   : of_conditions_;
  if (is_map) return KeyedStepOf(item);
  if (item.is_object()) {
    return absl::InvalidArgumentError(
        "associative list without keys has an element that's a map type");
  }
  if (item.is_array()) {
    return absl::InvalidArgumentError("not supported: associative list with lists as elements");
  }
  if (item.is_null()) {
    return absl::InvalidArgumentError(
        "associative list without keys has an element that's an explicit null");
  }
  return SetItemStep(item);
}

absl::StatusOr<std::string> FieldType::KeyedStepOf(const json::Value& item) const {
  if (item.is_null()) {
    return absl::InvalidArgumentError("associative list with keys may not have a null element");
  }
  if (!item.is_object()) {
    return absl::InvalidArgumentError("associative list with keys may not have non-map elements");
  }
  std::vector<Key> keys;
  if (source_ == Source::kList) {
    for (const ListKey& key : field_->merging().keys) {
      keys.push_back({std::string(key.name), OtherwiseOf(key)});
    }
  } else if (source_ == Source::kSchema) {
    for (const json::Value& key : (*schema_)["x-kubernetes-list-map-keys"].items()) {
      const std::string name = key.ToString();
      keys.push_back({name, (*schema_)["items"]["properties"][name]["default"]});
    }
  } else {
    keys.push_back({"type", json::Value()});
  }
  json::Value found = json::Value::Object();
  for (const Key& key : keys) {
    const json::Value* value = item.Find(key.name);
    // A key that is absent counts as its default: a port without protocol is the TCP port.
    if (value == nullptr && !key.otherwise.is_null()) value = &key.otherwise;
    if (value != nullptr) found.Set(key.name, *value);
  }
  if (found.empty()) return NoKeys(keys);
  return KeyedItemStep(found);
}

FieldType::MemberType FieldType::Member(absl::string_view name) const {
  if (is_root_) {
    if (IsTypeMeta(name)) return {FieldType(Source::kScalar)};
    if (name == "metadata") return {OfStruct(&schema::ObjectMeta())};
  }
  switch (source_) {
    case Source::kStruct: {
      const Field* field = struct_->Find(name);
      if (field == nullptr) return {FieldType(Source::kAtomic), /*known=*/false};
      return {OfField(*field)};
    }
    case Source::kMap:
      return {OfElement(*field_), true, /*named=*/false};
    case Source::kSchema:
      return SchemaMember(name);
    case Source::kOpen: {
      FieldType type(Source::kOpen);
      type.of_conditions_ = name == "conditions";
      return {type};
    }
    case Source::kUntyped:
      return {FieldType(Source::kUntyped), true, /*named=*/false};
    default:
      return {FieldType(Source::kAtomic), true, /*named=*/false};
  }
}

FieldType::MemberType FieldType::SchemaMember(absl::string_view name) const {
  if (const json::Value* property = (*schema_)["properties"].Find(name)) {
    return {OfSchema(*property, false)};
  }
  const json::Value& additional = (*schema_)["additionalProperties"];
  if (additional.is_object()) return {OfSchema(additional, false), true, /*named=*/false};
  // `additionalProperties: true`, as the other way to keep unknown fields.
  const bool known = additional.AsBool() || KeepsUnknown(*schema_);
  return {FieldType(Source::kUntyped), known, /*named=*/false};
}

void FieldType::ForEachImplied(
    absl::FunctionRef<void(absl::string_view name, const json::Value& value)> visit) const {
  if (source_ != Source::kStruct) return;
  static const auto* const object = new json::Value(json::Value::Object());
  static const auto* const null = new json::Value();
  for (const Field& field : struct_->fields) {
    if (field.merging().implied_object) visit(field.name, *object);
    if (field.merging().implied_null) visit(field.name, *null);
  }
}

}  // namespace kube::server
