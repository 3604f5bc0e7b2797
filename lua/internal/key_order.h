// The order of a table's keys: 1, 2, ..., then other numbers, strings by their bytes, the rest.
// LuaJIT's own order changes from run to run, and results would with it.
#ifndef LUA_INTERNAL_KEY_ORDER_H_
#define LUA_INTERNAL_KEY_ORDER_H_

#include <functional>
#include <lua.hpp>

#include "absl/strings/string_view.h"

namespace lua::internal {

// What decides about a key's place. Views of Lua's strings hold as long as the table holds them.
struct Key {
  int rank = 0;
  double number = 0;
  absl::string_view text;
  const void* pointer = nullptr;
  int index = 0;  // Its place in the list it was collected into.

  bool operator<(const Key& other) const {
    if (rank != other.rank) return rank < other.rank;
    if (number != other.number) return number < other.number;
    if (text != other.text) return text < other.text;
    return std::less<const void*>()(pointer, other.pointer);
  }
};

// The key at that index of the stack, of any type but nil. Changes no number to a string.
Key KeyAt(lua_State* state, int index);

// Both are about all keys of the table at 1 that scripts see; they charge the meter and may raise.
// Pushes the list of them, in order.
void PushSortedKeys(lua_State* state);
// Pushes the first of them, or nil, at 3: what was above 2 is gone.
void PushFirstKey(lua_State* state);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_KEY_ORDER_H_
