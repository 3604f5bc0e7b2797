// Makes OpenAPI schemas of built-in types from their field tables: names and types, no
// descriptions.
#ifndef SANDBOX_KINDS_BUILTIN_SCHEMAS_H_
#define SANDBOX_KINDS_BUILTIN_SCHEMAS_H_

#include <string>

#include "base/json.h"
#include "sandbox/kinds/wire_schema.h"

namespace sandbox {

// Adds the schema of `message` under `name`, and those that it refers to under their own names.
void AddBuiltinSchema(const std::string& name, const WireMessage& message, json::Value& schemas);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_BUILTIN_SCHEMAS_H_
