// Builds a text in memory of the Lua state, so that the memory is counted, and is freed by the
// collector when an error leaves the function that builds the text.
#ifndef LUA_INTERNAL_TEXT_BUILDER_H_
#define LUA_INTERNAL_TEXT_BUILDER_H_

#include <cstddef>
#include <cstring>
#include <lua.hpp>

namespace lua::internal {

// Takes one slot of the Lua stack, which must stay in place. Every function may raise.
class TextBuilder {
 public:
  explicit TextBuilder(lua_State* state) : state_(state) {
    lua_pushnil(state);
    slot_ = lua_gettop(state);
  }
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;

  void Append(const char* text, size_t size) {
    if (size == 0) return;
    std::memcpy(Room(size), text, size);
    size_ += size;
  }
  void Append(char c) { Append(&c, 1); }
  // Returns room for `size` more bytes; after writing there, call Added.
  char* Room(size_t size) {
    if (size > capacity_ - size_) Grow(size);
    return data_ + size_;
  }
  void Added(size_t size) { size_ += size; }
  size_t size() const { return size_; }

  void Push() { lua_pushlstring(state_, data_, size_); }

 private:
  void Grow(size_t size) {
    size_t capacity = capacity_ * 2;
    if (capacity < size_ + size) capacity = size_ + size;
    auto* grown = static_cast<char*>(lua_newuserdata(state_, capacity));
    std::memcpy(grown, data_, size_);
    lua_replace(state_, slot_);
    data_ = grown;
    capacity_ = capacity;
  }

  lua_State* state_;
  int slot_;
  size_t size_ = 0;
  size_t capacity_ = sizeof local_;
  char* data_ = local_;
  char local_[256];
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_TEXT_BUILDER_H_
