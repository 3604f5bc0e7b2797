// Makes OpenAPI schemas of built-in types from their field tables: names and types, no
// descriptions.
#ifndef KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_
#define KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_

#include <string>

#include "base/json.h"
#include "kube/server/wire/wire_schema.h"

namespace kube::server {

// Adds the schema of `message` under `name`, and those that it refers to under their own names.
void AddBuiltinSchema(const std::string& name, const WireMessage& message, json::Value& schemas);

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_
