// Sorts keys of tables: whole numbers from 1 on, other numbers, texts by their bytes, booleans, and
// at last everything else by its address, which is not the same in every run. Keys are collected
// twice, once as values of Lua (in a list) and once as C++ structs that sort without calling Lua.
// Few keys are sorted on the C stack, many in memory of Lua.

#include "lua/internal/key_order.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "lua/internal/sources.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

constexpr size_t kFewKeys = 24;

size_t CountKeys(lua_State* state) {
  size_t count = 0;
  lua_pushnil(state);
  while (lua_next(state, 1) != 0) {
    lua_pop(state, 1);
    if (!IsSourceKey(state, -1)) ++count;
  }
  return count;
}

// Writes the keys of the table at 1 to `keys`, and in the same order to the list on top of the
// stack.
void CollectKeys(lua_State* state, Key* keys) {
  const int list = lua_gettop(state);
  int count = 0;
  lua_pushnil(state);
  while (lua_next(state, 1) != 0) {
    lua_pop(state, 1);
    if (IsSourceKey(state, -1)) continue;
    Key key = KeyAt(state, -1);
    key.index = ++count;
    new (keys + count - 1) Key(key);
    lua_pushvalue(state, -1);
    lua_rawseti(state, list, count);
  }
}

}  // namespace

Key KeyAt(lua_State* state, int index) {
  Key key;
  switch (lua_type(state, index)) {
    case LUA_TNUMBER:
      key.number = lua_tonumber(state, index);
      key.rank = key.number >= 1 && key.number == std::floor(key.number) ? 0 : 1;
      break;
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(state, index, &size);
      key.text = {text, size};
      key.rank = 2;
      break;
    }
    case LUA_TBOOLEAN:
      key.number = lua_toboolean(state, index);
      key.rank = 3;
      break;
    default:
      key.pointer = lua_topointer(state, index);
      key.rank = 4;
      break;
  }
  return key;
}

void PushSortedKeys(lua_State* state) {
  const size_t count = CountKeys(state);
  State::Of(state).meter().Charge(state, count);
  Key few[kFewKeys];
  Key* keys = few;
  // The memory belongs to Lua because an error may leave this function.
  if (count > kFewKeys) keys = static_cast<Key*>(lua_newuserdata(state, count * sizeof(Key)));
  lua_createtable(state, static_cast<int>(count), 0);
  CollectKeys(state, keys);
  // Lists, and tables that were built in order, need no second list.
  if (std::is_sorted(keys, keys + count)) return;
  std::sort(keys, keys + count);
  const int list = lua_gettop(state);
  lua_createtable(state, static_cast<int>(count), 0);
  for (size_t i = 0; i < count; ++i) {
    lua_rawgeti(state, list, keys[i].index);
    lua_rawseti(state, -2, static_cast<int>(i + 1));
  }
}

void PushFirstKey(lua_State* state) {
  Key best;
  size_t count = 0;
  lua_settop(state, 2);
  lua_pushnil(state);  // The smallest key, at 3.
  lua_pushnil(state);
  while (lua_next(state, 1) != 0) {
    lua_pop(state, 1);
    ++count;
    if (IsSourceKey(state, -1)) continue;
    const Key key = KeyAt(state, -1);
    if (!lua_isnil(state, 3) && !(key < best)) continue;
    best = key;
    lua_pushvalue(state, -1);
    lua_replace(state, 3);
  }
  State::Of(state).meter().Charge(state, count);
}

}  // namespace lua::internal
