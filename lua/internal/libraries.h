// The libraries scripts see. Each function adds members to the table on top of the stack (its own
// library's, which scripts reach through a read-only stand-in). All may raise.
#ifndef LUA_INTERNAL_LIBRARIES_H_
#define LUA_INTERNAL_LIBRARIES_H_

#include <lua.hpp>

#include "lua/library.h"

namespace lua::internal {

// Keep LuaJIT's function of that name from its library `from` ("_G" for base functions).
void TakeNative(lua_State* state, const char* from, const char* name);

void AddBaseFunctions(lua_State* state);
void AddStringFunctions(lua_State* state);
void AddPatternFunctions(lua_State* state);  // These belong to the string library, too.
void AddTableFunctions(lua_State* state);
void AddMathFunctions(lua_State* state);
void AddTimeFunctions(lua_State* state);  // os
void AddBoundFunctions(lua_State* state, const Library& library);

// require and package, to the table of base functions. `loaded` holds the libraries that are
// globals too, `preloaded` those that scripts have to require, by name. Absolute indexes.
void AddPackageFunctions(lua_State* state, int base, int loaded, int preloaded);
// Forgets what a run has made of `package`. Does not raise.
void DropPackage(lua_State* state);

// Pairs and next in the order of keys.
int Pairs(lua_State* state);
int Next(lua_State* state);

// string.format.
int Format(lua_State* state);

// A string argument in bounds of length; a number becomes its text.
struct Text {
  const char* data;
  size_t size;
};
Text CheckText(lua_State* state, int argument);
// The length limit of CheckText, in bytes, upstream's.
constexpr size_t kMaxText = 1000000;

// Pushes what tostring gives.
void PushText(lua_State* state, int index);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_LIBRARIES_H_
