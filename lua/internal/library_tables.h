// Builds the tables of libraries in a state, and checks that runs leave them as they were.
//
// Scripts hold empty stand-ins whose metatable finds the library's functions. A script may assign
// to a stand-in (`function string.trim(s)`), which hides the library's function for the rest of the
// run; after the run it is emptied.
#ifndef LUA_INTERNAL_LIBRARY_TABLES_H_
#define LUA_INTERNAL_LIBRARY_TABLES_H_

#include <lua.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lua/library.h"

namespace lua::internal {

// References into the registry.
struct LibraryTables {
  int globals_metatable = 0;  // The metatable of the global table of a run.
  int libraries = 0;          // A list of the stand-ins; the first one is `string`.
  int string_metatable = 0;
};

// Opens LuaJIT's libraries, takes from them what scripts may use, and drops the rest. May raise.
LibraryTables MakeLibraryTables(lua_State* state, const std::vector<Library>& libraries);

// The name of the chunk that is a library's source; and whether a chunk with that name is one.
std::string LibraryChunkName(const std::string& library);
bool IsLibraryChunk(absl::string_view chunk_name);

// Removes what scripts have assigned to the stand-ins. May raise.
void EmptyLibraryTables(lua_State* state, int libraries);
// Returns whether all stand-ins are empty and strings still have their metatable. Does not raise.
bool LibraryTablesArePristine(lua_State* state, int libraries, int string_metatable);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_LIBRARY_TABLES_H_
