// Builds what scripts see, once for each state: the functions of libraries lie in tables that no
// script can reach, and scripts get empty stand-ins that find them by metatable. After a run it is
// enough to empty the stand-ins; LibraryTablesArePristine then verifies that nothing of one script
// is left for the next one. The order in MakeLibraryTables matters: LuaJIT's libraries are opened
// to take functions from them, and removed at the end, so that no unbounded or unsafe function
// stays reachable.

#include "lua/internal/library_tables.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lua/internal/key_walks.h"
#include "lua/internal/libraries.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Begins the names of chunks that are sources of libraries. LuaJIT shows what follows the sign.
constexpr absl::string_view kLibraryChunk = "=library ";

// Stack indexes of the tables that MakeLibraryTables builds.
constexpr int kBase = 1;       // The base functions.
constexpr int kLibraries = 2;  // The list of stand-ins.
constexpr int kLoaded = 3;     // Stand-ins that are globals, by name (for require).
constexpr int kPreloaded = 4;  // The other stand-ins, by name (for require).

void Open(lua_State* state, lua_CFunction open, const char* name) {
  lua_pushcfunction(state, open);
  lua_pushstring(state, name);
  lua_call(state, 1, 0);
}

int AssignToLibrary(lua_State* state) {
  State::Of(state).NoteWrittenLibrary();
  lua_settop(state, 3);
  lua_rawset(state, 1);
  return 0;
}

// Is called on an assignment to a global that does not exist yet. If the name is that of a base
// function, the global table first becomes a copy of the base functions instead of a table over
// them: a script that uses such a name for a variable (`error = status.error`) must find nil where
// it put nil. Base functions that are made on demand can still be reached.
int AssignToGlobals(lua_State* state) {
  lua_settop(state, 3);
  lua_pushvalue(state, 2);
  lua_rawget(state, lua_upvalueindex(1));
  const bool takes_base_name = !lua_isnil(state, -1);
  lua_settop(state, 3);
  if (takes_base_name) {
    lua_getmetatable(state, lua_upvalueindex(1));
    lua_setmetatable(state, 1);
    lua_pushnil(state);
    while (lua_next(state, lua_upvalueindex(1)) != 0) {
      lua_pushvalue(state, -2);
      lua_insert(state, -2);
      lua_rawset(state, 1);
    }
  }
  lua_rawset(state, 1);
  return 0;
}

// Replaces the library's functions, on top of the stack, by a stand-in, and adds the stand-in to
// the table at `by_name`.
void AddLibrary(lua_State* state, int by_name, const char* name) {
  lua_newtable(state);  // The stand-in.
  lua_createtable(state, 0, 2);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, &AssignToLibrary);
  lua_setfield(state, -2, "__newindex");
  lua_setmetatable(state, -2);
  lua_pushvalue(state, -1);
  lua_setfield(state, by_name, name);
  lua_pushvalue(state, -1);
  lua_rawseti(state, kLibraries, static_cast<int>(lua_objlen(state, kLibraries)) + 1);
  lua_insert(state, -2);
  lua_pop(state, 1);
}

using AddFunctions = void (*)(lua_State*);

// Adds a library that is also a global of the same name.
void AddGlobalLibrary(lua_State* state, const char* name,
                      std::initializer_list<AddFunctions> functions) {
  lua_newtable(state);
  for (AddFunctions add : functions) add(state);
  AddLibrary(state, kLoaded, name);
  lua_setfield(state, kBase, name);
}

// Adds to the table on top of the stack the functions that the library's source returns. Their
// globals are the base functions.
void AddSourceFunctions(lua_State* state, const Library& library) {
  if (library.source == nullptr) return;
  const std::string name = LibraryChunkName(library.name);
  const std::string& text = *library.source;
  if (luaL_loadbuffer(state, text.data(), text.size(), name.c_str()) != 0) lua_error(state);
  lua_pushvalue(state, kBase);
  lua_setfenv(state, -2);
  lua_call(state, 0, 1);
  luaL_checktype(state, -1, LUA_TTABLE);
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    lua_pushvalue(state, -2);
    lua_insert(state, -2);
    lua_rawset(state, -5);
  }
  lua_pop(state, 1);
}

int MakeStringMetatable(lua_State* state) {
  lua_pushliteral(state, "");
  lua_createtable(state, 0, 1);
  // Methods of strings (`s:upper()`) are found in the stand-in of `string`, the first one in the
  // list.
  lua_rawgeti(state, kLibraries, 1);
  lua_setfield(state, -2, "__index");
  lua_pushvalue(state, -1);
  lua_setmetatable(state, -3);
  const int reference = luaL_ref(state, LUA_REGISTRYINDEX);
  lua_pop(state, 1);
  return reference;
}

}  // namespace

std::string LibraryChunkName(const std::string& library) {
  return absl::StrCat(kLibraryChunk, library);
}

bool IsLibraryChunk(absl::string_view chunk_name) {
  return absl::StartsWith(chunk_name, kLibraryChunk);
}

void TakeNative(lua_State* state, const char* from, const char* name) {
  lua_getfield(state, LUA_GLOBALSINDEX, from);
  lua_getfield(state, -1, name);
  lua_setfield(state, -3, name);
  lua_pop(state, 1);
}

LibraryTables MakeLibraryTables(lua_State* state, const std::vector<Library>& libraries) {
  Open(state, &luaopen_base, "");
  Open(state, &luaopen_table, LUA_TABLIBNAME);
  Open(state, &luaopen_string, LUA_STRLIBNAME);
  Open(state, &luaopen_math, LUA_MATHLIBNAME);
  lua_settop(state, 0);
  for (int i = kBase; i <= kPreloaded; ++i) lua_newtable(state);

  AddGlobalLibrary(state, "string", {&AddStringFunctions, &AddPatternFunctions});
  AddGlobalLibrary(state, "table", {&AddTableFunctions});
  AddGlobalLibrary(state, "math", {&AddMathFunctions});
  AddGlobalLibrary(state, "os", {&AddTimeFunctions});
  for (const Library& library : libraries) {
    lua_newtable(state);
    AddBoundFunctions(state, library);
    AddSourceFunctions(state, library);
    AddLibrary(state, kPreloaded, library.name.c_str());
    lua_pop(state, 1);
  }
  lua_pushvalue(state, kBase);
  AddBaseFunctions(state);
  AddPackageFunctions(state, kBase, kLoaded, kPreloaded);

  LibraryTables tables;
  tables.string_metatable = MakeStringMetatable(state);
  lua_createtable(state, 0, 2);
  lua_pushvalue(state, kBase);
  lua_setfield(state, -2, "__index");
  lua_pushvalue(state, kBase);
  lua_pushcclosure(state, &AssignToGlobals, 1);
  lua_setfield(state, -2, "__newindex");
  tables.globals_metatable = luaL_ref(state, LUA_REGISTRYINDEX);
  lua_pushvalue(state, kLibraries);
  tables.libraries = luaL_ref(state, LUA_REGISTRYINDEX);

  // Scripts must not reach anything of LuaJIT's own libraries.
  lua_newtable(state);
  lua_replace(state, LUA_GLOBALSINDEX);
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, "_LOADED");
  return tables;
}

void EmptyLibraryTables(lua_State* state, int libraries) {
  lua_settop(state, 0);
  DropPackage(state);
  DropWalks(state);
  lua_rawgeti(state, LUA_REGISTRYINDEX, libraries);
  for (int i = 1; i <= static_cast<int>(lua_objlen(state, 1)); ++i) {
    lua_rawgeti(state, 1, i);
    lua_pushnil(state);
    while (lua_next(state, 2) != 0) {
      lua_pop(state, 1);
      lua_pushvalue(state, -1);
      lua_pushnil(state);
      lua_rawset(state, 2);
    }
    lua_settop(state, 1);
  }
}

bool LibraryTablesArePristine(lua_State* state, int libraries, int string_metatable) {
  const int top = lua_gettop(state);
  lua_pushliteral(state, "");
  lua_getmetatable(state, -1);
  lua_rawgeti(state, LUA_REGISTRYINDEX, string_metatable);
  bool pristine = lua_rawequal(state, -1, -2) != 0;
  lua_pushliteral(state, "__index");
  lua_rawget(state, -2);
  lua_rawgeti(state, LUA_REGISTRYINDEX, libraries);
  const int list = lua_gettop(state);
  lua_rawgeti(state, list, 1);
  pristine = pristine && lua_rawequal(state, -1, list - 1) != 0;
  for (int i = 1; pristine && i <= static_cast<int>(lua_objlen(state, list)); ++i) {
    lua_rawgeti(state, list, i);
    lua_pushnil(state);
    pristine = lua_next(state, -2) == 0;
    lua_settop(state, list);
  }
  lua_settop(state, top);
  return pristine;
}

}  // namespace lua::internal
