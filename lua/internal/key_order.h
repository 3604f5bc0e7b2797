// The order of a table's keys: 1, 2, ..., then other numbers, strings by their bytes, the rest.
// LuaJIT's own order, and with it results, would change from run to run.
#ifndef LUA_INTERNAL_KEY_ORDER_H_
#define LUA_INTERNAL_KEY_ORDER_H_

#include <functional>
#include <lua.hpp>

#include "absl/strings/string_view.h"

namespace lua::internal {

// A key in a form that can be compared. `text` is a view of Lua's string and valid while the table
// has the key.
struct Key {
  int rank = 0;
  double number = 0;
  absl::string_view text;
  const void* pointer = nullptr;
  int index = 0;  // Index in the list of keys.

  bool operator<(const Key& other) const {
    if (rank != other.rank) return rank < other.rank;
    if (number != other.number) return number < other.number;
    if (text != other.text) return text < other.text;
    return std::less<const void*>()(pointer, other.pointer);
  }
};

// Returns the key at that index of the stack; it may have any type but nil. Does not convert a
// number to a string.
Key KeyAt(lua_State* state, int index);

// Both functions handle all keys of the table at 1 that scripts see; they charge the meter and may
// raise. PushSortedKeys pushes a sorted list of them.
void PushSortedKeys(lua_State* state);
// Pushes the smallest key, or nil, at 3; removes what was above 2.
void PushFirstKey(lua_State* state);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_KEY_ORDER_H_
