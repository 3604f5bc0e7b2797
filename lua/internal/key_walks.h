// How far calls of next have come. With a key they mostly belong to a walk through the whole table,
// so a run keeps the sorted keys of the last few tables.
#ifndef LUA_INTERNAL_KEY_WALKS_H_
#define LUA_INTERNAL_KEY_WALKS_H_

#include <lua.hpp>

namespace lua::internal {

// Pushes the key that the table at 1 has after the key at 2, or nil; the table need not have the
// key at 2 any more. Keys that a script adds on the way may be passed over, as in Lua. `keep`: the
// next call may be about the same table, so the walk is kept for it. Charges the meter; may raise.
void PushKeyAfter(lua_State* state, bool keep);

// A new walk through the table at 1 begins: it must not go on with the keys of the last one.
void EndWalk(lua_State* state);

// Forgets all walks. Does not raise.
void DropWalks(lua_State* state);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_KEY_WALKS_H_
