// A value on its way into or out of a script.
#ifndef LUA_VALUE_H_
#define LUA_VALUE_H_

#include <utility>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace lua {

// Numbers are doubles in Lua; on the way out a whole number that fits int64 is an int, and one
// that came in with the arguments is exactly what it was. `json` is null for kNil and kFunction.
struct Value {
  enum class Type { kNil, kBoolean, kNumber, kString, kTable, kFunction };

  Value() = default;
  // What JSON becomes in Lua: null is nil.
  Value(json::Value v);  // NOLINT: literals convert.

  bool is_nil() const { return type == Type::kNil; }

  Type type = Type::kNil;
  json::Value json;
  // A table without elements that the script made itself: nothing says whether `{}` or `[]` is
  // meant. `json` is then `[]`.
  bool shapeless = false;
};
// "nil", "boolean", ... as Lua's type().
absl::string_view TypeName(Value::Type type);

}  // namespace lua

#endif  // LUA_VALUE_H_
