// `next` and `pairs` visit keys in a fixed order, which Lua's tables do not have. A walk is a
// sorted list of a table's keys with the place of the last visited one; the walks of up to eight
// tables are kept in the registry, so that a loop with `next` sorts once and not at each step. A
// walk whose place is not the given key is made again from the table as it is now. When there are
// too many walks all are forgotten, which costs another sorting and nothing else. Everything is
// dropped at the end of a run.

#include "lua/internal/key_walks.h"

#include "lua/internal/key_order.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Registry field of a table that maps tables to their walks; its field 0 is the number of walks. A
// walk is the sorted list of a table's keys; its field 0 is the number of keys that have been
// visited.
constexpr const char* kWalks = "walks";
constexpr int kMaxWalks = 8;

// Pushes the table of walks, after making room for one more.
void PushWalks(lua_State* state) {
  lua_getfield(state, LUA_REGISTRYINDEX, kWalks);
  if (!lua_isnil(state, -1)) {
    lua_rawgeti(state, -1, 0);
    const auto count = lua_tointeger(state, -1);
    lua_pop(state, 1);
    if (count < kMaxWalks) return;
  }
  lua_pop(state, 1);
  // The registry keeps this table beyond the call, so the state has to be cleaned after the run.
  State::Of(state).NoteWrittenLibrary();
  lua_newtable(state);
  lua_pushvalue(state, -1);
  lua_setfield(state, LUA_REGISTRYINDEX, kWalks);
}

// Place of a finished walk. No key has this index, so the next walk through the table makes a new
// list of keys.
constexpr int kOver = -1;  // No key of the list is there, and not the place itself.

void SetPlace(lua_State* state, int walk, int place) {
  lua_pushinteger(state, place);
  lua_rawseti(state, walk, 0);
}

// Returns whether the key at 2 is the last one that the walk on top of the stack has visited.
bool IsAtKey(lua_State* state) {
  lua_rawgeti(state, -1, 0);
  lua_rawgeti(state, -2, static_cast<int>(lua_tointeger(state, -1)));
  const bool at_key = lua_rawequal(state, -1, 2) != 0;
  lua_pop(state, 2);
  return at_key;
}

// Sets the walk on top of the stack to the last key that is not greater than the key at 2.
void FindPlace(lua_State* state) {
  const int walk = lua_gettop(state);
  const Key key = KeyAt(state, 2);
  auto first = 0;  // The number of keys that are known to be not greater.
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

// Pushes a walk through the table at 1 whose last visited key is the key at 2. `keep` stores the
// walk for the next call.
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
void PushNextKey(lua_State* state) {
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
    if (!lua_isnil(state, -1)) break;  // Otherwise the key was removed in the meantime.
  }
  lua_pop(state, 1);
  SetPlace(state, walk, place);
}

}  // namespace

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

void PushKeyAfter(lua_State* state, bool keep) {
  PushWalk(state, keep);
  PushNextKey(state);
}

void DropWalks(lua_State* state) {
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, kWalks);
}

}  // namespace lua::internal
