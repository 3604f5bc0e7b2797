#include "lua/internal/chunk_cache.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Lua keeps as many bytes of a name (LUA_IDSIZE includes the final zero byte).
constexpr size_t kMaxName = LUA_IDSIZE - 1;
// Bytes compiled between two looks at the clock, which are needed because resolving gotos takes
// time quadratic in the length of the text.
constexpr size_t kPiece = 1024;

struct Reader {
  absl::string_view rest;
};

const char* ReadPiece(lua_State* state, void* data, size_t* size) {
  auto* reader = static_cast<Reader*>(data);
  Meter& meter = State::Of(state).meter();
  if (meter.TimeIsUp()) meter.Rethrow(state);
  const absl::string_view piece = reader->rest.substr(0, kPiece);
  reader->rest.remove_prefix(piece.size());
  *size = piece.size();
  return piece.data();
}

}  // namespace

std::string ChunkName(absl::string_view script_name) {
  if (script_name.size() <= kMaxName) return std::string(script_name);
  return absl::StrCat("...", script_name.substr(script_name.size() - (kMaxName - 3)));
}

bool LoadText(lua_State* state, const Script& script) {
  Reader reader{script.text()};
  const int status = lua_loadx(state, &ReadPiece, &reader, script.chunk_name().c_str(), "t");
  Meter& meter = State::Of(state).meter();
  if (status != 0) meter.Rethrow(state);
  return status == 0;
}

void ChunkCache::Push(lua_State* state, const Script& script) {
  const auto found = chunks_.find(script.fingerprint());
  if (found != chunks_.end()) {
    Chunk& chunk = found->second;
    if (chunk.script.get() == &script ||
        (chunk.script->text() == script.text() && chunk.script->name() == script.name())) {
      chunk.last_use = ++uses_;
      State::Of(state).meter().ExpectBlocks(chunk.largest_block);
      lua_rawgeti(state, LUA_REGISTRYINDEX, chunk.reference);
      return;
    }
  }
  if (!LoadText(state, script)) lua_error(state);
  // Another script has the same fingerprint; this one is not kept.
  if (found != chunks_.end()) return;
  if (chunks_.size() >= kMaxChunks) DropOldest(state);
  lua_pushvalue(state, -1);
  Store(script, luaL_ref(state, LUA_REGISTRYINDEX), State::Of(state).meter().largest_block());
}

void ChunkCache::Store(const Script& script, int reference, size_t largest_block) {
  chunks_.emplace(script.fingerprint(),
                  Chunk{script.shared_from_this(), reference, largest_block, ++uses_});
}

void ChunkCache::DropOldest(lua_State* state) {
  const auto oldest = std::min_element(
      chunks_.begin(), chunks_.end(),
      [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
  luaL_unref(state, LUA_REGISTRYINDEX, oldest->second.reference);
  chunks_.erase(oldest);
}

}  // namespace lua::internal
