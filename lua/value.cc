#include "lua/value.h"

namespace lua {

Value::Value(json::Value v) : json(std::move(v)) {
  switch (json.type()) {
    case json::Value::Type::kNull:
      break;
    case json::Value::Type::kBool:
      type = Type::kBoolean;
      break;
    case json::Value::Type::kInt:
    case json::Value::Type::kDouble:
      type = Type::kNumber;
      break;
    case json::Value::Type::kString:
      type = Type::kString;
      break;
    case json::Value::Type::kArray:
    case json::Value::Type::kObject:
      type = Type::kTable;
      break;
  }
}

absl::string_view TypeName(Value::Type type) {
  switch (type) {
    case Value::Type::kNil:
      return "nil";
    case Value::Type::kBoolean:
      return "boolean";
    case Value::Type::kNumber:
      return "number";
    case Value::Type::kString:
      return "string";
    case Value::Type::kTable:
      return "table";
    case Value::Type::kFunction:
      return "function";
  }
  return "";
}

}  // namespace lua
