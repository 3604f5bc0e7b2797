// The string library without patterns and format.

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "lua/internal/libraries.h"
#include "lua/internal/number.h"
#include "lua/internal/state.h"
#include "lua/internal/text_builder.h"

namespace lua::internal {
namespace {

// A function handles as many bytes in about the time of one instruction.
constexpr size_t kBytesPerStep = 16;

int Refuse(lua_State* state) {
  return luaL_error(state,
                    "The Lua function string.%s is not supported by Karmada. If you believe this "
                    "function is essential for your use case, please submit an issue to let us "
                    "know why you need it.",
                    lua_tostring(state, lua_upvalueindex(1)));
}

// Returns a place in the text; negative places count from its end.
ptrdiff_t FromEnd(lua_Integer place, size_t size) {
  return place < 0 ? std::max<lua_Integer>(place + static_cast<lua_Integer>(size) + 1, 0) : place;
}

int Length(lua_State* state) {
  lua_pushinteger(state, static_cast<lua_Integer>(CheckText(state, 1).size));
  return 1;
}

int Sub(lua_State* state) {
  const Text text = CheckText(state, 1);
  const ptrdiff_t first = std::max<ptrdiff_t>(FromEnd(luaL_checkinteger(state, 2), text.size), 1);
  const ptrdiff_t last = std::min<ptrdiff_t>(FromEnd(luaL_optinteger(state, 3, -1), text.size),
                                             static_cast<ptrdiff_t>(text.size));
  const size_t size = first <= last ? static_cast<size_t>(last - first + 1) : 0;
  lua_pushlstring(state, size == 0 ? "" : text.data + first - 1, size);
  return 1;
}

int Byte(lua_State* state) {
  const Text text = CheckText(state, 1);
  const ptrdiff_t from = FromEnd(luaL_optinteger(state, 2, 1), text.size);
  const ptrdiff_t last = std::min<ptrdiff_t>(FromEnd(luaL_optinteger(state, 3, from), text.size),
                                             static_cast<ptrdiff_t>(text.size));
  const ptrdiff_t first = std::max<ptrdiff_t>(from, 1);
  if (first > last) return 0;
  const ptrdiff_t count = last - first + 1;
  luaL_checkstack(state, static_cast<int>(count), "string slice too long");
  for (ptrdiff_t i = 0; i < count; ++i) {
    lua_pushinteger(state, static_cast<unsigned char>(text.data[first - 1 + i]));
  }
  return static_cast<int>(count);
}

template <class Change>
int Changed(lua_State* state, Change change) {
  const Text text = CheckText(state, 1);
  State::Of(state).meter().Charge(state, text.size / kBytesPerStep);
  TextBuilder result(state);
  change(text, result.Room(text.size));
  result.Added(text.size);
  result.Push();
  return 1;
}

int Lower(lua_State* state) {
  return Changed(state, [](Text text, char* to) {
    for (size_t i = 0; i < text.size; ++i) {
      to[i] = absl::ascii_tolower(static_cast<unsigned char>(text.data[i]));
    }
  });
}

int Upper(lua_State* state) {
  return Changed(state, [](Text text, char* to) {
    for (size_t i = 0; i < text.size; ++i) {
      to[i] = absl::ascii_toupper(static_cast<unsigned char>(text.data[i]));
    }
  });
}

int Reverse(lua_State* state) {
  return Changed(
      state, [](Text text, char* to) { std::reverse_copy(text.data, text.data + text.size, to); });
}

// Upstream refuses rep; here its result is bounded like every string.
int Repeat(lua_State* state) {
  const Text text = CheckText(state, 1);
  const lua_Integer count = luaL_checkinteger(state, 2);
  Meter& meter = State::Of(state).meter();
  if (text.size == 0 || count <= 0) {
    lua_pushliteral(state, "");
    return 1;
  }
  // It is a division, because the product may overflow.
  if (static_cast<size_t>(count) > meter.budget().largest_block / text.size) {
    meter.Stop(state, End::kBlock);
  }
  const size_t size = text.size * static_cast<size_t>(count);
  meter.Charge(state, size / kBytesPerStep);
  TextBuilder result(state);
  char* to = result.Room(size);
  for (lua_Integer i = 0; i < count; ++i) std::memcpy(to + i * text.size, text.data, text.size);
  result.Added(size);
  result.Push();
  return 1;
}

}  // namespace

Text CheckText(lua_State* state, int argument) {
  // Numbers become texts as this runner writes them, which is not LuaJIT's way.
  if (lua_type(state, argument) == LUA_TNUMBER) {
    PushText(state, argument);
    lua_replace(state, argument);
  }
  Text text;
  text.data = luaL_checklstring(state, argument, &text.size);
  if (text.size > kMaxText) {
    luaL_error(state,
               "string length %d exceeds the maximum allowed input string length %d in Karmada lua "
               "string lib, please check your lua script.",
               static_cast<int>(text.size), static_cast<int>(kMaxText));
  }
  return text;
}

void AddStringFunctions(lua_State* state) {
  TakeNative(state, "string", "char");
  const luaL_Reg functions[] = {{"byte", &Byte},   {"format", &Format}, {"len", &Length},
                                {"lower", &Lower}, {"rep", &Repeat},    {"reverse", &Reverse},
                                {"sub", &Sub},     {"upper", &Upper},   {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
  lua_pushliteral(state, "dump");
  lua_pushcclosure(state, &Refuse, 1);
  lua_setfield(state, -2, "dump");
}

}  // namespace lua::internal
