// A value that is passed to a script or returned by it.
#ifndef LUA_VALUE_H_
#define LUA_VALUE_H_

#include <utility>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace lua {

// Numbers are doubles in Lua. A whole number in a result that fits int64 becomes an int; one that
// came in with the arguments keeps its exact value. `json` is null for kNil and kFunction.
struct Value {
  enum class Type { kNil, kBoolean, kNumber, kString, kTable, kFunction };

  Value() = default;
  // Converts JSON to its Lua value: null is nil.
  Value(json::Value v);  // NOLINT: literals convert.

  bool is_nil() const { return type == Type::kNil; }

  Type type = Type::kNil;
  json::Value json;
  // An empty table that the script made: it may mean `{}` or `[]`. `json` is then `[]`.
  bool shapeless = false;
};
// Returns "nil", "boolean", ... as Lua's type() does.
absl::string_view TypeName(Value::Type type);

}  // namespace lua

#endif  // LUA_VALUE_H_
