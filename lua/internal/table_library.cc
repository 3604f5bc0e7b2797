// The table library. LuaJIT's own functions that handle a whole table in one instruction are
// bounded by the size of a block: see Meter::ExpectBlocks.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lua/internal/libraries.h"
#include "lua/internal/number.h"
#include "lua/internal/sources.h"
#include "lua/internal/state.h"
#include "lua/internal/text_builder.h"

namespace lua::internal {
namespace {

// Returns the size of the list at 1, after filling the list.
int CheckList(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  State::Of(state).sources().Fill(state, 1);
  return static_cast<int>(lua_objlen(state, 1));
}

int Insert(lua_State* state) {
  const int size = CheckList(state);
  switch (lua_gettop(state)) {
    case 2:
      lua_rawseti(state, 1, size + 1);
      return 0;
    case 3:
      break;
    default:
      return luaL_error(state, "wrong number of arguments to 'insert'");
  }
  const auto place = static_cast<int>(luaL_checkinteger(state, 2));
  Meter& meter = State::Of(state).meter();
  // A place behind the end moves nothing, and one before 1 moves the whole list.
  for (int i = size; i >= place; --i) {
    meter.Charge(state, 1);
    lua_rawgeti(state, 1, i);
    lua_rawseti(state, 1, i + 1);
  }
  lua_rawseti(state, 1, place);
  return 0;
}

int Concat(lua_State* state) {
  const int size = CheckList(state);
  size_t between_size = 0;
  const char* between = luaL_optlstring(state, 2, "", &between_size);
  const auto first = static_cast<int>(luaL_optinteger(state, 3, 1));
  const auto last = static_cast<int>(luaL_optinteger(state, 4, size));
  Meter& meter = State::Of(state).meter();
  TextBuilder result(state);
  for (int i = first; i <= last; ++i) {
    lua_rawgeti(state, 1, i);
    if (lua_isstring(state, -1) == 0) {
      return luaL_error(state, "invalid value (%s) at index %d in table for 'concat'",
                        luaL_typename(state, -1), i);
    }
    if (lua_type(state, -1) == LUA_TNUMBER) {
      PushText(state, lua_gettop(state));
      lua_remove(state, -2);
    }
    size_t text_size = 0;
    const char* text = lua_tolstring(state, -1, &text_size);
    meter.Charge(state, 1 + text_size / 16);
    result.Append(text, text_size);
    lua_pop(state, 1);
    if (i == last) break;  // Avoids an overflow of i + 1.
    result.Append(between, between_size);
  }
  result.Push();
  return 1;
}

// A stable merge sort that ends after n log n comparisons even if the comparison is inconsistent.
class Sorting {
 public:
  // REQUIRES: the list is at 1, the comparison or nil at 2.
  Sorting(lua_State* state, int size) : state_(state), size_(size) {}

  void Run() {
    lua_createtable(state_, size_, 0);
    int from = 1;
    int to = 3;
    // Runs of this width are sorted; each round merges two neighbours from one table into the
    // other.
    for (int width = 1; width < size_; width = width <= size_ / 2 ? width * 2 : size_) {
      for (int begin = 1; begin <= size_; begin = NextRun(begin, width)) {
        Merge(from, to, begin, width);
      }
      std::swap(from, to);
    }
    // The last round may have written into the second table.
    for (int i = 1; from != 1 && i <= size_; ++i) Move(from, i, 1, i);
  }

 private:
  int NextRun(int begin, int width) const {
    return begin > size_ - 2 * static_cast<int64_t>(width) ? size_ + 1 : begin + 2 * width;
  }

  void Merge(int from, int to, int begin, int width) {
    const int middle = static_cast<int>(std::min<int64_t>(int64_t{begin} + width, size_ + 1));
    const int end = static_cast<int>(std::min<int64_t>(int64_t{middle} + width, size_ + 1));
    State::Of(state_).meter().Charge(state_, static_cast<size_t>(end - begin));
    int left = begin;
    int right = middle;
    for (int out = begin; out < end; ++out) {
      const bool take_right = left == middle || (right < end && IsLess(from, right, left));
      Move(from, take_right ? right++ : left++, to, out);
    }
  }

  void Move(int from, int i, int to, int j) {
    lua_rawgeti(state_, from, i);
    lua_rawseti(state_, to, j);
  }

  bool IsLess(int table, int a, int b) {
    const bool compared = !lua_isnil(state_, 2);
    if (compared) lua_pushvalue(state_, 2);
    lua_rawgeti(state_, table, a);
    lua_rawgeti(state_, table, b);
    if (compared) {
      lua_call(state_, 2, 1);
      const bool less = lua_toboolean(state_, -1) != 0;
      lua_pop(state_, 1);
      return less;
    }
    if (lua_type(state_, -2) == LUA_TSTRING && lua_type(state_, -1) == LUA_TSTRING) {
      // Comparing long strings with equal beginnings reads up to the end of the shorter one.
      const size_t bytes = std::min(lua_objlen(state_, -2), lua_objlen(state_, -1));
      State::Of(state_).meter().Charge(state_, bytes / 16);
    }
    const bool less = lua_lessthan(state_, -2, -1) != 0;
    lua_pop(state_, 2);
    return less;
  }

  lua_State* state_;
  int size_;
};

int Sort(lua_State* state) {
  const int size = CheckList(state);
  if (!lua_isnoneornil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  State::Of(state).meter().CheckStack(state);
  Sorting(state, size).Run();
  return 0;
}

}  // namespace

void AddTableFunctions(lua_State* state) {
  for (const char* name : {"getn", "maxn", "remove"}) TakeNative(state, "table", name);
  const luaL_Reg functions[] = {
      {"concat", &Concat}, {"insert", &Insert}, {"sort", &Sort}, {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
}

}  // namespace lua::internal
