// The math library. random gives the same sequence in every run, so that a script's answer depends
// only on its arguments.

#include <cmath>
#include <cstring>

#include "lua/internal/libraries.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// SplitMix64: small, and random enough for scripts.
double NextRandom(uint64_t& random) {
  random += 0x9e3779b97f4a7c15;
  uint64_t z = random;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

int Random(lua_State* state) {
  const double random = NextRandom(State::Of(state).extras().random);
  const int arguments = lua_gettop(state);
  if (arguments == 0) {
    lua_pushnumber(state, random);
    return 1;
  }
  if (arguments > 2) return luaL_error(state, "wrong number of arguments");
  const double low = arguments == 1 ? 1 : std::floor(luaL_checknumber(state, 1));
  const double high = std::floor(luaL_checknumber(state, arguments));
  luaL_argcheck(state, low <= high, arguments, "interval is empty");
  lua_pushnumber(state, low + std::floor(random * (high - low + 1)));
  return 1;
}

int RandomSeed(lua_State* state) {
  const double seed = luaL_checknumber(state, 1);
  std::memcpy(&State::Of(state).extras().random, &seed, sizeof seed);
  return 0;
}

}  // namespace

void AddMathFunctions(lua_State* state) {
  for (const char* name :
       {"abs",   "acos", "asin",  "atan", "atan2", "ceil", "cos",   "cosh", "deg", "exp",
        "floor", "fmod", "frexp", "huge", "ldexp", "log",  "log10", "max",  "min", "modf",
        "pi",    "pow",  "rad",   "sin",  "sinh",  "sqrt", "tan",   "tanh"}) {
    TakeNative(state, "math", name);
  }
  lua_getfield(state, -1, "fmod");
  lua_setfield(state, -2, "mod");
  const luaL_Reg functions[] = {
      {"random", &Random}, {"randomseed", &RandomSeed}, {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
}

}  // namespace lua::internal
