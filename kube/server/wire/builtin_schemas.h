// Makes OpenAPI schemas of built-in types from the table of kube/schema: names and types, no
// descriptions.
#ifndef KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_
#define KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_

#include <string>

#include "base/json.h"
#include "kube/schema/types.h"

namespace kube::server {

// Adds the schema of `type` under `name`, and those that it refers to under their own names.
void AddBuiltinSchema(const std::string& name, const schema::Struct& type, json::Value& schemas);

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_BUILTIN_SCHEMAS_H_
