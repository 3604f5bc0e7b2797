// Implements next in the order of keys. Calls of next mostly belong to a walk through the whole
// table, so a run keeps the sorted keys of the last few tables.
#ifndef LUA_INTERNAL_KEY_WALKS_H_
#define LUA_INTERNAL_KEY_WALKS_H_

#include <lua.hpp>

namespace lua::internal {

// Pushes the key that the table at 1 has after the key at 2, or nil; the table need not have the
// key at 2 any more. Keys that a script adds on the way may be passed over, as in Lua. `keep`
// stores the walk, for a next call with the same table. Charges the meter; may raise.
void PushKeyAfter(lua_State* state, bool keep);

// Must be called when a new walk through the table at 1 begins: it must not use the keys of the
// last one.
void EndWalk(lua_State* state);

// Forgets all walks. Does not raise.
void DropWalks(lua_State* state);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_KEY_WALKS_H_
