// The libraries that scripts see. Each Add function adds members to the table on top of the stack:
// the functions of a library, which scripts reach through a read-only stand-in. All may raise.
#ifndef LUA_INTERNAL_LIBRARIES_H_
#define LUA_INTERNAL_LIBRARIES_H_

#include <lua.hpp>

#include "lua/library.h"

namespace lua::internal {

// Adds LuaJIT's own function of that name from its library `from` ("_G" for base functions).
void TakeNative(lua_State* state, const char* from, const char* name);

void AddBaseFunctions(lua_State* state);
void AddStringFunctions(lua_State* state);
void AddPatternFunctions(lua_State* state);  // The string library has these as well.
void AddTableFunctions(lua_State* state);
void AddMathFunctions(lua_State* state);
void AddTimeFunctions(lua_State* state);  // The os library.
void AddBoundFunctions(lua_State* state, const Library& library);

// Adds require and package to the table of base functions. `loaded` holds by name the libraries
// that are also globals, `preloaded` those that scripts have to require. The arguments are absolute
// stack indexes.
void AddPackageFunctions(lua_State* state, int base, int loaded, int preloaded);
// Drops the `package` table of a run. Does not raise.
void DropPackage(lua_State* state);

// The functions pairs and next, which visit keys in order.
int Pairs(lua_State* state);
int Next(lua_State* state);

// The function string.format.
int Format(lua_State* state);

// A string argument of limited length; a number is converted to its text.
struct Text {
  const char* data;
  size_t size;
};
Text CheckText(lua_State* state, int argument);
// Limits CheckText, in bytes; the same limit as upstream's.
constexpr size_t kMaxText = 1000000;

// Pushes the result of tostring.
void PushText(lua_State* state, int index);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_LIBRARIES_H_
