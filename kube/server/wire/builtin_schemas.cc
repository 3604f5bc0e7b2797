#include "kube/server/wire/builtin_schemas.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kube::server {
namespace {

std::string ReferenceName(const WireMessage& message) {
  return absl::StrCat("io.k8s.", message.package, ".", message.name);
}

json::Value Scalar(char type) {
  switch (type) {
    case 'i':
      return json::Value::Object({{"type", "integer"}});
    case 'b':
      return json::Value::Object({{"type", "boolean"}});
    case 'd':
      return json::Value::Object({{"type", "number"}});
    case 'T':
    case 'M':
      return json::Value::Object({{"type", "string"}, {"format", "date-time"}});
    case 'y':
      return json::Value::Object({{"type", "string"}, {"format", "byte"}});
    case 'I':
      return json::Value::Object({{"type", "string"}, {"format", "int-or-string"}});
    case 'R':
    case 'F':
      return json::Value::Object({{"type", "object"}});
    case 'X':
      return json::Value::Object(
          {{"type", "array"}, {"items", json::Value::Object({{"type", "string"}})}});
    default:
      return json::Value::Object({{"type", "string"}});
  }
}

json::Value FieldSchema(const WireField& field, json::Value& schemas) {
  json::Value one;
  if (field.message != nullptr) {
    const std::string name = ReferenceName(*field.message);
    if (!schemas.Has(name)) AddBuiltinSchema(name, *field.message, schemas);
    // A $ref must not have siblings, so a reference that may get a description is wrapped.
    one = json::Value::Object(
        {{"allOf", json::Value::Array({json::Value::Object(
                       {{"$ref", absl::StrCat("#/components/schemas/", name)}})})}});
  } else {
    one = Scalar(field.type);
  }
  if (field.shape == WireField::Shape::kList) {
    return json::Value::Object({{"type", "array"}, {"items", std::move(one)}});
  }
  if (field.shape == WireField::Shape::kMap) {
    return json::Value::Object({{"type", "object"}, {"additionalProperties", std::move(one)}});
  }
  return one;
}

void AddProperties(const WireMessage& message, json::Value& properties, json::Value& schemas) {
  for (const WireField& field : message.fields) {
    if (field.name.empty()) {
      AddProperties(*field.message, properties, schemas);
    } else {
      properties.Set(field.name, FieldSchema(field, schemas));
    }
  }
}

}  // namespace

void AddBuiltinSchema(const std::string& name, const WireMessage& message, json::Value& schemas) {
  schemas.Set(name, json::Value());  // This ends a recursion.
  json::Value properties = json::Value::Object();
  AddProperties(message, properties, schemas);
  schemas.Set(name,
              json::Value::Object({{"type", "object"}, {"properties", std::move(properties)}}));
}

}  // namespace kube::server
