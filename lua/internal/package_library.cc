// require and package. Scripts cannot load anything from outside: modules are the libraries of the
// runner, the global libraries, and functions that the script itself puts into package.preload. As
// upstream's pkg/util/lifted/lua/loadlib_safe.go.
//
// The table `package` is made when a run first uses it, and dropped with the run.

#include "lua/internal/libraries.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Registry fields: the run's package table, and its original list of loaders.
constexpr const char* kPackage = "package";
constexpr const char* kLoaders = "package.loaders";

// Stands in package.loaded while a module is being made.
int BeingLoaded(lua_State* state) { return luaL_error(state, "the module is being loaded"); }

int RefuseLoadLib(lua_State* state) { return luaL_error(state, "loadlib is not supported"); }

// The loader of a library of the runner, in package.preload. Upvalue 1: the library.
int GiveLibrary(lua_State* state) {
  lua_pushvalue(state, lua_upvalueindex(1));
  return 1;
}

// package.loaders[1]: returns the function in package.preload, or an error text.
int FindPreloaded(lua_State* state) {
  luaL_checkstring(state, 1);
  lua_settop(state, 1);
  lua_getfield(state, LUA_REGISTRYINDEX, kPackage);
  lua_pushliteral(state, "preload");
  lua_rawget(state, 2);
  if (!lua_istable(state, 3)) return luaL_error(state, "package.preload must be a table");
  lua_pushvalue(state, 1);
  lua_rawget(state, 3);
  if (lua_isnil(state, 4)) {
    lua_pushfstring(state, "no field package.preload['%s']", lua_tostring(state, 1));
  }
  return 1;
}

// Copies the members of the table at `from` to the table on top; `convert` is applied to each
// value.
void CopyMembers(lua_State* state, int from, void (*convert)(lua_State*)) {
  lua_pushnil(state);
  while (lua_next(state, from) != 0) {
    convert(state);
    lua_pushvalue(state, -2);
    lua_insert(state, -2);
    lua_rawset(state, -4);
  }
}

void Keep(lua_State* /*state*/) {}
void MakeLoader(lua_State* state) { lua_pushcclosure(state, &GiveLibrary, 1); }

// Pushes the run's package table, and makes it if need be. `loaded` and `preloaded` hold libraries
// by name.
void PushPackage(lua_State* state, int loaded, int preloaded) {
  lua_getfield(state, LUA_REGISTRYINDEX, kPackage);
  if (!lua_isnil(state, -1)) return;
  lua_pop(state, 1);
  State::Of(state).NoteWrittenLibrary();
  lua_newtable(state);
  lua_pushcfunction(state, &RefuseLoadLib);
  lua_setfield(state, -2, "loadlib");
  lua_newtable(state);
  CopyMembers(state, loaded, &Keep);
  lua_setfield(state, -2, "loaded");
  lua_newtable(state);
  CopyMembers(state, preloaded, &MakeLoader);
  lua_setfield(state, -2, "preload");
  lua_newtable(state);
  lua_pushcfunction(state, &FindPreloaded);
  lua_rawseti(state, -2, 1);
  lua_pushvalue(state, -1);
  lua_setfield(state, LUA_REGISTRYINDEX, kLoaders);
  lua_setfield(state, -2, "loaders");
  lua_pushvalue(state, -1);
  lua_setfield(state, LUA_REGISTRYINDEX, kPackage);
}

// __index of the base functions: finds `package`, the only global that is made on demand. Upvalues:
// the loaded and the preloaded libraries.
int FindGlobal(lua_State* state) {
  if (lua_type(state, 2) != LUA_TSTRING || lua_tostring(state, 2) != absl::string_view(kPackage)) {
    return 0;
  }
  PushPackage(state, lua_upvalueindex(1), lua_upvalueindex(2));
  return 1;
}

// Calls the function on top of the stack with the module's name, which is at 1, and leaves one
// result.
void CallWithName(lua_State* state) {
  State::Of(state).meter().CheckStack(state);
  lua_pushvalue(state, 1);
  lua_call(state, 1, 1);
}

// Pushes the function that makes the module named at 1.
void PushLoader(lua_State* state) {
  lua_getfield(state, LUA_REGISTRYINDEX, kLoaders);
  const int loaders = lua_gettop(state);
  lua_pushliteral(state, "");  // Collects the errors of the loaders.
  for (int i = 1;; ++i) {
    lua_rawgeti(state, loaders, i);
    if (lua_isnil(state, -1)) {
      luaL_error(state, "module %s not found:%s", lua_tostring(state, 1),
                 lua_tostring(state, loaders + 1));
    }
    CallWithName(state);
    if (lua_isfunction(state, -1)) return;
    if (lua_type(state, -1) == LUA_TSTRING) {
      lua_pushfstring(state, "%s\n\t%s", lua_tostring(state, loaders + 1), lua_tostring(state, -1));
      lua_replace(state, loaders + 1);
    }
    State::Of(state).meter().Charge(state, lua_objlen(state, loaders + 1));
    lua_settop(state, loaders + 1);
  }
}

bool IsBeingLoaded(lua_State* state) { return lua_tocfunction(state, -1) == &BeingLoaded; }

// Looks up the name at 1 in the table at `index`; pushes the value and returns true if it counts as
// true.
bool PushIfIn(lua_State* state, int index) {
  lua_pushvalue(state, 1);
  lua_rawget(state, index);
  if (lua_toboolean(state, -1) != 0) return true;
  lua_pop(state, 1);
  return false;
}

// Makes the module named at 1, which is not in the table at `loaded` yet, and pushes it.
void LoadModule(lua_State* state, int loaded) {
  PushLoader(state);
  lua_pushvalue(state, 1);
  lua_pushcfunction(state, &BeingLoaded);
  lua_rawset(state, loaded);
  CallWithName(state);
  const int made = lua_gettop(state);
  PushIfIn(state, loaded);
  // The module has put itself there.
  if (lua_gettop(state) > made && !IsBeingLoaded(state)) return;
  if (lua_isnil(state, made)) {
    lua_pushboolean(state, 1);
    lua_replace(state, made);
  }
  lua_pushvalue(state, 1);
  lua_pushvalue(state, made);
  lua_rawset(state, loaded);
  lua_settop(state, made);
}

// Upvalues: the loaded and the preloaded libraries, which are used until the run has a package
// table.
int Require(lua_State* state) {
  luaL_checkstring(state, 1);
  lua_settop(state, 1);
  lua_getfield(state, LUA_REGISTRYINDEX, kPackage);
  if (lua_isnil(state, 2)) {
    for (const int upvalue : {1, 2}) {
      if (PushIfIn(state, lua_upvalueindex(upvalue))) return 1;
    }
    PushPackage(state, lua_upvalueindex(1), lua_upvalueindex(2));
    lua_replace(state, 2);
  }
  lua_pushliteral(state, "loaded");
  lua_rawget(state, 2);
  if (!lua_istable(state, 3)) return luaL_error(state, "package.loaded must be a table");
  if (!PushIfIn(state, 3)) {
    LoadModule(state, 3);
  } else if (IsBeingLoaded(state)) {
    return luaL_error(state, "loop or previous error loading module: %s", lua_tostring(state, 1));
  }
  return 1;
}

}  // namespace

void AddPackageFunctions(lua_State* state, int base, int loaded, int preloaded) {
  lua_pushvalue(state, loaded);
  lua_pushvalue(state, preloaded);
  lua_pushcclosure(state, &Require, 2);
  lua_setfield(state, base, "require");
  lua_createtable(state, 0, 1);
  lua_pushvalue(state, loaded);
  lua_pushvalue(state, preloaded);
  lua_pushcclosure(state, &FindGlobal, 2);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, base);
}

void DropPackage(lua_State* state) {
  for (const char* name : {kPackage, kLoaders}) {
    lua_pushnil(state);
    lua_setfield(state, LUA_REGISTRYINDEX, name);
  }
}

}  // namespace lua::internal
