// Keeps the compiled chunks of one state, by the script's content.
#ifndef LUA_INTERNAL_CHUNK_CACHE_H_
#define LUA_INTERNAL_CHUNK_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "lua/script.h"

namespace lua::internal {

// Returns the name of the chunk in Lua's messages: the script's name, cut at the front when it is
// longer than Lua keeps.
std::string ChunkName(absl::string_view script_name);

// Compiles text (never bytecode) and pushes the function. If that fails, returns false and pushes
// the message. Looks at the clock of the state's run, if there is one. May raise.
bool LoadText(lua_State* state, const Script& script);

// REQUIRES: one thread at a time.
class ChunkCache {
 public:
  // Pushes the script's function; raises the error of LoadText.
  void Push(lua_State* state, const Script& script);

 private:
  static constexpr size_t kMaxChunks = 256;
  struct Chunk {
    std::shared_ptr<const Script> script;
    int reference;         // The function's reference in the registry.
    size_t largest_block;  // The largest block that the compilation needed.
    uint64_t last_use;
  };

  void Store(const Script& script, int reference, size_t largest_block);
  void DropOldest(lua_State* state);

  absl::flat_hash_map<uint64_t, Chunk> chunks_;  // By fingerprint.
  uint64_t uses_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_CHUNK_CACHE_H_
