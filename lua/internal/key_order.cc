// pairs and next, in the order of keys: 1, 2, ..., then other numbers, strings by their bytes, the
// rest. LuaJIT's own order changes from run to run, and results would with it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <new>

#include "absl/strings/string_view.h"
#include "lua/internal/libraries.h"
#include "lua/internal/sources.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// What decides about a key's place. Views of Lua's strings hold as long as the table holds them.
struct Key {
  int rank = 0;
  double number = 0;
  absl::string_view text;
  const void* pointer = nullptr;
  int index = 0;  // Of the list it was collected into.

  bool operator<(const Key& other) const {
    if (rank != other.rank) return rank < other.rank;
    if (number != other.number) return number < other.number;
    if (text != other.text) return text < other.text;
    return std::less<const void*>()(pointer, other.pointer);
  }
};

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

// Adds the members of the table at `from` to the table on top.
void AddMembers(lua_State* state, int from) {
  lua_pushnil(state);
  while (lua_next(state, from) != 0) {
    State::Of(state).meter().Charge(state, 1);
    lua_pushvalue(state, -2);
    lua_insert(state, -2);
    lua_rawset(state, -4);
  }
}

// The table at 1 becomes one that can be walked through: filled; and where it is one over another
// (a library, the globals), a copy with the members of both. Whether it is still the same table.
bool MakeWhole(lua_State* state) {
  State::Of(state).sources().Fill(state, 1);
  if (lua_getmetatable(state, 1) == 0) return true;
  lua_pushliteral(state, "__index");
  lua_rawget(state, -2);
  const int below = lua_gettop(state);
  lua_newtable(state);
  if (lua_istable(state, below)) AddMembers(state, below);
  AddMembers(state, 1);
  lua_replace(state, 1);
  lua_settop(state, below - 2);
  return false;
}

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

// The keys of the table at 1 into `keys`, and in the same order into the list on top of the stack.
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

// Pushes the list of all keys of the table at 1, in order.
void PushSortedKeys(lua_State* state) {
  const size_t count = CountKeys(state);
  State::Of(state).meter().Charge(state, count);
  Key few[kFewKeys];
  Key* keys = few;
  // Memory of Lua's: an error may leave this function.
  if (count > kFewKeys) keys = static_cast<Key*>(lua_newuserdata(state, count * sizeof(Key)));
  lua_createtable(state, static_cast<int>(count), 0);
  CollectKeys(state, keys);
  if (std::is_sorted(keys, keys + count)) return;
  std::sort(keys, keys + count);
  const int list = lua_gettop(state);
  lua_createtable(state, static_cast<int>(count), 0);
  for (size_t i = 0; i < count; ++i) {
    lua_rawgeti(state, list, keys[i].index);
    lua_rawseti(state, -2, static_cast<int>(i + 1));
  }
}

// Upvalues: the table, the list of its keys, how many have been visited.
int NextPair(lua_State* state) {
  auto visited = static_cast<int>(lua_tointeger(state, lua_upvalueindex(3)));
  while (true) {
    lua_settop(state, 0);
    lua_rawgeti(state, lua_upvalueindex(2), ++visited);
    if (lua_isnil(state, 1)) return 1;
    lua_pushvalue(state, 1);
    lua_rawget(state, lua_upvalueindex(1));
    if (!lua_isnil(state, 2)) break;  // Else it was removed meanwhile.
  }
  lua_pushinteger(state, visited);
  lua_replace(state, lua_upvalueindex(3));
  return 2;
}

// Pushes the first key of the table at 1, or nil.
void PushFirstKey(lua_State* state) {
  Key best;
  size_t count = 0;
  lua_settop(state, 2);
  lua_pushnil(state);  // The best key, at 3.
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

// Calls of next with a key mostly belong to a walk through the whole table: the run keeps the keys
// of the last few tables, in order, and under 0 how far the walk has come. Keys that a script adds
// on the way may be passed over, as in Lua.
constexpr const char* kWalks = "walks";  // In the registry: lists of keys by table.
constexpr int kMaxWalks = 8;

// Pushes the table of walks; there is room for one more in it.
void PushWalks(lua_State* state) {
  lua_getfield(state, LUA_REGISTRYINDEX, kWalks);
  if (!lua_isnil(state, -1)) {
    lua_rawgeti(state, -1, 0);
    const auto count = lua_tointeger(state, -1);
    lua_pop(state, 1);
    if (count < kMaxWalks) return;
  }
  lua_pop(state, 1);
  State::Of(state).NoteWrittenLibrary();
  lua_newtable(state);
  lua_pushvalue(state, -1);
  lua_setfield(state, LUA_REGISTRYINDEX, kWalks);
}

// Where a walk is that its table's next walk must not go on with: the keys may be others by then.
constexpr int kOver = -1;  // No key of the list is there, and not the place itself.

void SetPlace(lua_State* state, int walk, int place) {
  lua_pushinteger(state, place);
  lua_rawseti(state, walk, 0);
}

// A new walk begins through the table at 1.
void EndWalk(lua_State* state) {
  lua_getfield(state, LUA_REGISTRYINDEX, kWalks);
  if (lua_istable(state, -1)) {
    lua_pushvalue(state, 1);
    lua_rawget(state, -2);
    if (lua_istable(state, -1)) SetPlace(state, lua_gettop(state), kOver);
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
}

// Whether the walk on top of the stack has come to the key at 2.
bool IsAtKey(lua_State* state) {
  lua_rawgeti(state, -1, 0);
  lua_rawgeti(state, -2, static_cast<int>(lua_tointeger(state, -1)));
  const bool at_key = lua_rawequal(state, -1, 2) != 0;
  lua_pop(state, 2);
  return at_key;
}

// Sets the walk on top of the stack to the last key that is not behind the key at 2.
void FindPlace(lua_State* state) {
  const int walk = lua_gettop(state);
  const Key key = KeyAt(state, 2);
  auto first = 0;  // What is behind the key begins after this many.
  auto count = static_cast<int>(lua_objlen(state, walk));
  while (count > 0) {
    const int half = count / 2;
    lua_rawgeti(state, walk, first + half + 1);
    const bool behind = key < KeyAt(state, -1);
    lua_pop(state, 1);
    if (!behind) first += half + 1;
    count = behind ? half : count - half - 1;
  }
  SetPlace(state, walk, first);
}

// Pushes the walk through the table at 1 that has come to the key at 2. With `keep` the next call
// finds it again.
void PushWalk(lua_State* state, bool keep) {
  if (!keep) {
    PushSortedKeys(state);
    FindPlace(state);
    return;
  }
  PushWalks(state);
  const int walks = lua_gettop(state);
  lua_pushvalue(state, 1);
  lua_rawget(state, walks);
  if (lua_istable(state, -1) && IsAtKey(state)) return;
  const bool known = lua_istable(state, -1);
  PushSortedKeys(state);
  FindPlace(state);
  lua_pushvalue(state, 1);
  lua_pushvalue(state, -2);
  lua_rawset(state, walks);
  if (known) return;
  lua_rawgeti(state, walks, 0);
  lua_pushinteger(state, lua_tointeger(state, -1) + 1);
  lua_rawseti(state, walks, 0);
  lua_pop(state, 1);
}

// Pushes the next key of the walk on top of the stack that the table at 1 still has, or nil.
void PushKeyAfter(lua_State* state) {
  const int walk = lua_gettop(state);
  lua_rawgeti(state, walk, 0);
  auto place = static_cast<int>(lua_tointeger(state, -1));
  while (true) {
    lua_settop(state, walk);
    State::Of(state).meter().Charge(state, 1);
    lua_rawgeti(state, walk, ++place);
    if (lua_isnil(state, -1)) return SetPlace(state, walk, kOver);
    lua_pushvalue(state, -1);
    lua_rawget(state, 1);
    if (!lua_isnil(state, -1)) break;  // Else it was removed meanwhile.
  }
  lua_pop(state, 1);
  SetPlace(state, walk, place);
}

}  // namespace

int Pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  MakeWhole(state);
  PushSortedKeys(state);
  lua_pushvalue(state, 1);
  lua_insert(state, -2);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, &NextPair, 3);
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

int Next(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  const bool same = MakeWhole(state);
  if (lua_isnil(state, 2)) {
    EndWalk(state);
    PushFirstKey(state);
  } else {
    PushWalk(state, same);
    PushKeyAfter(state);
  }
  if (lua_isnil(state, -1)) return 1;
  lua_pushvalue(state, -1);
  lua_rawget(state, 1);
  return 2;
}

void DropWalks(lua_State* state) {
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, kWalks);
}

}  // namespace lua::internal
