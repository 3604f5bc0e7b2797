#include "kube/server/wire/builtin_schemas.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kube::server {
namespace {

using schema::Field;
using schema::Shape;
using schema::Struct;
using schema::Type;

std::string ReferenceName(const Struct& type) {
  return absl::StrCat("io.k8s.", type.group, ".", type.version, ".", type.name);
}

json::Value Scalar(Type type) {
  switch (type) {
    case Type::kInt32:
    case Type::kInt64:
      return json::Value::Object({{"type", "integer"}});
    case Type::kBool:
      return json::Value::Object({{"type", "boolean"}});
    case Type::kTime:
    case Type::kMicroTime:
      return json::Value::Object({{"type", "string"}, {"format", "date-time"}});
    case Type::kBytes:
      return json::Value::Object({{"type", "string"}, {"format", "byte"}});
    case Type::kIntOrString:
      return json::Value::Object({{"type", "string"}, {"format", "int-or-string"}});
    case Type::kRaw:
      return json::Value::Object({{"type", "object"}});
    case Type::kStrings:
      return json::Value::Object(
          {{"type", "array"}, {"items", json::Value::Object({{"type", "string"}})}});
    default:
      return json::Value::Object({{"type", "string"}});
  }
}

json::Value FieldSchema(const Field& field, json::Value& schemas) {
  json::Value one;
  if (field.of != nullptr) {
    const std::string name = ReferenceName(*field.of);
    if (!schemas.Has(name)) AddBuiltinSchema(name, *field.of, schemas);
    // A $ref must not have siblings, so a reference that may get a description is wrapped.
    one = json::Value::Object(
        {{"allOf", json::Value::Array({json::Value::Object(
                       {{"$ref", absl::StrCat("#/components/schemas/", name)}})})}});
  } else {
    one = Scalar(field.type);
  }
  if (field.shape == Shape::kList) {
    return json::Value::Object({{"type", "array"}, {"items", std::move(one)}});
  }
  if (field.shape == Shape::kMap) {
    return json::Value::Object({{"type", "object"}, {"additionalProperties", std::move(one)}});
  }
  return one;
}

}  // namespace

void AddBuiltinSchema(const std::string& name, const Struct& type, json::Value& schemas) {
  schemas.Set(name, json::Value());  // This ends a recursion.
  json::Value properties = json::Value::Object();
  for (const Field& field : type.fields) {
    properties.Set(field.name, FieldSchema(field, schemas));
  }
  schemas.Set(name,
              json::Value::Object({{"type", "object"}, {"properties", std::move(properties)}}));
}

}  // namespace kube::server
