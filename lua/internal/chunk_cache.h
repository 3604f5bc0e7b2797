// The compiled chunks of one state, by the script's content.
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

// What Lua calls the chunk in its messages: the script's name, cut at the front when it is longer
// than Lua keeps.
std::string ChunkName(absl::string_view script_name);

// Compiles text (never bytecode) and leaves the function on the stack; false with the message there
// when that fails. Looks at the clock of the state's run, if it is in one. May raise.
bool LoadText(lua_State* state, const Script& script);

// One thread at a time.
class ChunkCache {
 public:
  // Pushes the script's function; raises what LoadText says.
  void Push(lua_State* state, const Script& script);

 private:
  static constexpr size_t kMaxChunks = 256;
  struct Chunk {
    std::shared_ptr<const Script> script;
    int reference;         // In the registry.
    size_t largest_block;  // That compiling it took.
    uint64_t last_use;
  };

  void Store(const Script& script, int reference, size_t largest_block);
  void DropOldest(lua_State* state);

  absl::flat_hash_map<uint64_t, Chunk> chunks_;  // By fingerprint.
  uint64_t uses_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_CHUNK_CACHE_H_
