// Visit checks one value: its type first, and nothing else when that is wrong; then enum, the rules
// of its type, and the combinations. All mistakes are collected, with the texts of kube-apiserver
// (those of go-openapi/validate), because users and tests read them. An object of this class serves
// for one validation: is_root_ is true until the outermost object has been seen. Accepts, for anyOf
// and the like, validates with a list of mistakes of its own.

#include "sandbox/kinds/schema_validation.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

absl::string_view TypeName(const json::Value& v) {
  switch (v.type()) {
    case json::Value::Type::kNull:
      return "null";
    case json::Value::Type::kBool:
      return "boolean";
    case json::Value::Type::kInt:
      return "integer";
    case json::Value::Type::kDouble:
      return "number";
    case json::Value::Type::kString:
      return "string";
    case json::Value::Type::kArray:
      return "array";
    case json::Value::Type::kObject:
      break;
  }
  return "object";
}

// JSON does not tell 1 from 1.0, and Kubernetes takes both for an integer.
bool IsWhole(const json::Value& v) {
  return v.is_int() || (v.is_number() && std::trunc(v.AsDouble()) == v.AsDouble());
}

bool HasType(const json::Value& v, absl::string_view type) {
  if (type == "integer") return IsWhole(v);
  if (type == "number") return v.is_number();
  return TypeName(v) == type;
}

// Lengths count characters, not bytes: every byte but the further ones of a UTF-8 sequence.
size_t CodePoints(absl::string_view s) {
  size_t n = 0;
  for (const char c : s) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

std::string Number(const json::Value& v) { return json::Write(v); }

bool IsFormatted(absl::string_view text, absl::string_view format) {
  if (format == "date-time") return kube::ParseTime(text).ok();
  if (format == "byte") {
    std::string unused;
    return absl::Base64Unescape(text, &unused);
  }
  return true;
}

}  // namespace

void SchemaValidation::Root(const json::Value& object, const json::Value& schema) {
  is_root_ = true;
  Visit(object, schema, "");
}

void SchemaValidation::Visit(const json::Value& value, const json::Value& schema,
                             const std::string& path) {
  if (value.is_null() && schema["nullable"].AsBool()) return;
  // A value of another type would fail all further checks, too.
  if (!CheckType(value, schema, path)) return;
  CheckEnum(value, schema, path);
  if (value.is_number()) CheckNumber(value, schema, path);
  if (value.is_string()) CheckString(value, schema, path);
  if (value.is_array()) CheckArray(value, schema, path);
  if (value.is_object()) CheckObject(value, schema, path);
  CheckCombinations(value, schema, path);
}

bool SchemaValidation::CheckType(const json::Value& value, const json::Value& schema,
                                 const std::string& path) {
  const absl::string_view type = schema["type"].AsString();
  if (schema["x-kubernetes-int-or-string"].AsBool()) {
    if (value.is_string() || IsWhole(value)) return true;
    errors_.TypeInvalid(
        path, TypeName(value),
        absl::StrCat(path, " in body must be of type integer,string: \"", TypeName(value), "\""));
    return false;
  }
  if (type.empty() || HasType(value, type)) return true;
  errors_.TypeInvalid(
      path, TypeName(value),
      absl::StrCat(path, " in body must be of type ", type, ": \"", TypeName(value), "\""));
  return false;
}

void SchemaValidation::CheckEnum(const json::Value& value, const json::Value& schema,
                                 const std::string& path) {
  const json::Value& allowed = schema["enum"];
  if (!allowed.is_array()) return;
  std::vector<std::string> supported;
  for (const json::Value& item : allowed.items()) {
    if (item == value) return;
    supported.push_back(item.is_string() ? item.ToString() : json::Write(item));
  }
  errors_.NotSupported(path, value, supported);
}

void SchemaValidation::CheckNumber(const json::Value& value, const json::Value& schema,
                                   const std::string& path) {
  const double n = value.AsDouble();
  const json::Value& max = schema["maximum"];
  const json::Value& min = schema["minimum"];
  if (max.is_number()) {
    const bool exclusive = schema["exclusiveMaximum"].AsBool();
    if (exclusive ? n >= max.AsDouble() : n > max.AsDouble()) {
      errors_.Invalid(path, value,
                      absl::StrCat(path, " in body should be less than ",
                                   exclusive ? "" : "or equal to ", Number(max)));
    }
  }
  if (min.is_number()) {
    const bool exclusive = schema["exclusiveMinimum"].AsBool();
    if (exclusive ? n <= min.AsDouble() : n < min.AsDouble()) {
      errors_.Invalid(path, value,
                      absl::StrCat(path, " in body should be greater than ",
                                   exclusive ? "" : "or equal to ", Number(min)));
    }
  }
  const double step = schema["multipleOf"].AsDouble();
  if (step > 0 && std::fmod(n, step) != 0) {
    errors_.Invalid(
        path, value,
        absl::StrCat(path, " in body should be a multiple of ", Number(schema["multipleOf"])));
  }
}

void SchemaValidation::CheckString(const json::Value& value, const json::Value& schema,
                                   const std::string& path) {
  const absl::string_view text = value.AsString();
  const json::Value& max = schema["maxLength"];
  if (max.is_int() && CodePoints(text) > static_cast<size_t>(max.AsInt())) {
    errors_.TooLong(path, max.AsInt());
  }
  const int64_t min = schema["minLength"].AsInt();
  if (min > 0 && CodePoints(text) < static_cast<size_t>(min)) {
    errors_.Invalid(path, value,
                    absl::StrCat(path, " in body should be at least ", min, " chars long"));
  }
  const absl::string_view pattern = schema["pattern"].AsString();
  const auto compiled = patterns_.find(std::string(pattern));
  if (compiled != patterns_.end() && !compiled->second.Finds(text)) {
    errors_.Invalid(path, value, absl::StrCat(path, " in body should match '", pattern, "'"));
  }
  CheckFormat(value, schema, path);
}

void SchemaValidation::CheckFormat(const json::Value& value, const json::Value& schema,
                                   const std::string& path) {
  const absl::string_view format = schema["format"].AsString();
  if (format.empty() || IsFormatted(value.AsString(), format)) return;
  errors_.Invalid(
      path, value,
      absl::StrCat(path, " in body must be of type ", format, ": ", json::Write(value)));
}

void SchemaValidation::CheckArray(const json::Value& value, const json::Value& schema,
                                  const std::string& path) {
  const auto size = static_cast<int64_t>(value.size());
  const json::Value& max = schema["maxItems"];
  if (max.is_int() && size > max.AsInt()) errors_.TooMany(path, size, max.AsInt());
  const int64_t min = schema["minItems"].AsInt();
  if (size < min) {
    errors_.Invalid(path, size,
                    absl::StrCat(path, " in body should have at least ", min, " items"));
  }
  CheckUnique(value, schema, path);
  const json::Value& items = schema["items"];
  if (!items.is_object()) return;
  for (size_t i = 0; i < value.size(); ++i) Visit(value.At(i), items, FieldPath(path, i));
}

void SchemaValidation::CheckUnique(const json::Value& value, const json::Value& schema,
                                   const std::string& path) {
  const absl::string_view list_type = schema["x-kubernetes-list-type"].AsString();
  const bool is_map = list_type == "map";
  if (!is_map && list_type != "set" && !schema["uniqueItems"].AsBool()) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < value.size(); ++i) {
    json::Value key = value.At(i);
    if (is_map) {
      key = json::Value::Object();
      for (const json::Value& name : schema["x-kubernetes-list-map-keys"].items()) {
        key.Set(name.AsString(), value.At(i)[name.AsString()]);
      }
    }
    if (!seen.insert(json::Write(key)).second) errors_.Duplicate(FieldPath(path, i), key);
  }
}

void SchemaValidation::CheckObject(const json::Value& value, const json::Value& schema,
                                   const std::string& path) {
  // Only the outermost object has metadata that other rules validate.
  const bool root = std::exchange(is_root_, false);
  const auto size = static_cast<int64_t>(value.size());
  const json::Value& max = schema["maxProperties"];
  if (max.is_int() && size > max.AsInt()) errors_.TooMany(path, size, max.AsInt());
  if (size < schema["minProperties"].AsInt()) {
    errors_.Invalid(path, size,
                    absl::StrCat(path, " in body should have at least ",
                                 schema["minProperties"].AsInt(), " properties"));
  }
  for (const json::Value& name : schema["required"].items()) {
    if (!value.Has(name.AsString())) errors_.Required(FieldPath(path, name.AsString()));
  }
  const json::Value& properties = schema["properties"];
  const json::Value& additional = schema["additionalProperties"];
  for (const json::Member& member : value.members()) {
    if (root && member.name() == "metadata") continue;
    const std::string member_path = FieldPath(path, member.name());
    if (const json::Value* property = properties.Find(member.name())) {
      Visit(member.value, *property, member_path);
    } else if (additional.is_object()) {
      Visit(member.value, additional, member_path);
    }
  }
}

bool SchemaValidation::Accepts(const json::Value& value, const json::Value& schema,
                               const std::string& path) const {
  FieldErrors errors;
  SchemaValidation(patterns_, errors).Visit(value, schema, path);
  return errors.empty();
}

void SchemaValidation::CheckCombinations(const json::Value& value, const json::Value& schema,
                                         const std::string& path) {
  const std::string quoted = absl::StrCat("\"", path, "\"");
  for (const json::Value& part : schema["allOf"].items()) {
    if (Accepts(value, part, path)) continue;
    errors_.Invalid(path, value, absl::StrCat(quoted, " must validate all the schemas (allOf)"));
    // Again for its own mistakes, which Accepts has thrown away.
    Visit(value, part, path);
  }
  // An int-or-string has an anyOf with the condition that CheckType has checked.
  const json::Value& any_of = schema["anyOf"];
  if (any_of.is_array() && !schema["x-kubernetes-int-or-string"].AsBool()) {
    bool found = false;
    for (const json::Value& part : any_of.items()) found = found || Accepts(value, part, path);
    if (!found) {
      errors_.Invalid(path, value,
                      absl::StrCat(quoted, " must validate at least one schema (anyOf)"));
    }
  }
  if (schema["oneOf"].is_array()) {
    int count = 0;
    for (const json::Value& part : schema["oneOf"].items()) count += Accepts(value, part, path);
    if (count != 1) {
      errors_.Invalid(path, value,
                      absl::StrCat(quoted, " must validate one and only one schema (oneOf). Found ",
                                   count == 0 ? "none valid" : "more than one valid"));
    }
  }
  if (schema["not"].is_object() && Accepts(value, schema["not"], path)) {
    errors_.Invalid(path, value, absl::StrCat(quoted, " must not validate the schema (not)"));
  }
}

}  // namespace sandbox
