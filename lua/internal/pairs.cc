// The functions pairs and next, which visit keys in order.

#include "lua/internal/key_order.h"
#include "lua/internal/key_walks.h"
#include "lua/internal/libraries.h"
#include "lua/internal/sources.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

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

// Prepares the table at 1 for a walk: fills it, and replaces a table over another one (a library,
// the globals) by a copy with the members of both. Returns whether it is still the same table.
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

// Upvalues: the table, the list of its keys, the number of visited keys.
int NextPair(lua_State* state) {
  auto visited = static_cast<int>(lua_tointeger(state, lua_upvalueindex(3)));
  while (true) {
    lua_settop(state, 0);
    lua_rawgeti(state, lua_upvalueindex(2), ++visited);
    if (lua_isnil(state, 1)) return 1;
    lua_pushvalue(state, 1);
    lua_rawget(state, lua_upvalueindex(1));
    if (!lua_isnil(state, 2)) break;  // Otherwise the key was removed in the meantime.
  }
  lua_pushinteger(state, visited);
  lua_replace(state, lua_upvalueindex(3));
  return 2;
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
    PushKeyAfter(state, same);
  }
  if (lua_isnil(state, -1)) return 1;
  lua_pushvalue(state, -1);
  lua_rawget(state, 1);
  return 2;
}

}  // namespace lua::internal
