// The base functions of scripts. Those of LuaJIT are taken over where they are harmless and do what
// upstream's do; pairs, pcall, print, tostring and their like are written here, because of the
// order of keys, of the limits of a run, or of the text. Functions that upstream's sandbox does not
// have raise its error when they are called.

#include <algorithm>
#include <string>

#include "base/log.h"
#include "lua/internal/libraries.h"
#include "lua/internal/number.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

constexpr int kMaxPrintedLines = 20;  // The limit for one run.
constexpr size_t kMaxPrintedText = 1000;

// The sandbox of upstream does not have them; calling one raises this error.
constexpr const char* kRefused[] = {
    "collectgarbage", "dofile", "getfenv", "getmetatable", "load",         "loadfile", "loadstring",
    "rawequal",       "rawget", "rawset",  "setfenv",      "setmetatable", "module",   "newproxy"};

int Refuse(lua_State* state) {
  return luaL_error(state,
                    "call function %s is not supported in karmada customized resourceinterpreter.",
                    lua_tostring(state, lua_upvalueindex(1)));
}

int ToString(lua_State* state) {
  luaL_checkany(state, 1);
  PushText(state, 1);
  return 1;
}

// Logs the line in the scratch text. Does not raise.
void LogPrinted(State& host) { base::LogInfo("a script prints", {{"text", host.scratch()}}); }

void AppendPrinted(State& host, const char* text, size_t size) {
  std::string& line = host.scratch();
  if (!line.empty()) line += ' ';
  if (line.size() < kMaxPrintedText) line.append(text, std::min(size, kMaxPrintedText));
}

// Logs at V(1), a limited number of lines per run; does nothing without V(1).
int Print(lua_State* state) {
  State& host = State::Of(state);
  if (!base::VlogOn(1) || ++host.extras().printed_lines > kMaxPrintedLines) return 0;
  host.scratch().clear();
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) {
    PushText(state, i);
    size_t size = 0;
    const char* text = lua_tolstring(state, -1, &size);
    AppendPrinted(host, text, size);
    lua_pop(state, 1);
  }
  LogPrinted(host);
  return 0;
}

// Calls the function below its arguments on top of the stack; returns whether it succeeded. An
// error that ends the run is raised again at once: with LuaJIT's own pcall the hook would raise it
// in each caller, which takes seconds with thousands of nested calls.
bool CallProtected(lua_State* state, int arguments, int results) {
  Meter& meter = State::Of(state).meter();
  meter.CheckStack(state);
  if (lua_pcall(state, arguments, results, 0) == 0) return true;
  meter.Rethrow(state);
  return false;
}

int PCall(lua_State* state) {
  luaL_checkany(state, 1);
  const bool returned = CallProtected(state, lua_gettop(state) - 1, LUA_MULTRET);
  lua_pushboolean(state, returned ? 1 : 0);
  lua_insert(state, 1);
  return lua_gettop(state);
}

// Calls the handler after the error has unwound, because LuaJIT would run it without hooks.
int XPCall(lua_State* state) {
  luaL_checkany(state, 2);
  lua_pushvalue(state, 1);
  lua_insert(state, 3);
  lua_remove(state, 1);  // Now the handler is at 1, the function at 2, then the arguments.
  if (CallProtected(state, lua_gettop(state) - 2, LUA_MULTRET)) {
    lua_pushboolean(state, 1);
    lua_replace(state, 1);
    return lua_gettop(state);
  }
  CallProtected(state, 1, 1);
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return 2;
}

}  // namespace

void PushText(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TNUMBER: {
      const NumberText text(lua_tonumber(state, index));
      lua_pushlstring(state, text.view().data(), text.view().size());
      return;
    }
    case LUA_TSTRING:
      lua_pushvalue(state, index);
      return;
    case LUA_TBOOLEAN:
      lua_pushstring(state, lua_toboolean(state, index) != 0 ? "true" : "false");
      return;
    case LUA_TNIL:
      lua_pushliteral(state, "nil");
      return;
    default:
      lua_pushfstring(state, "%s: %p", luaL_typename(state, index), lua_topointer(state, index));
  }
}

void AddBaseFunctions(lua_State* state) {
  for (const char* name : {"assert", "error", "ipairs", "select", "tonumber", "type", "unpack"}) {
    TakeNative(state, "_G", name);
  }
  const luaL_Reg functions[] = {{"next", &Next},   {"pcall", &PCall},       {"pairs", &Pairs},
                                {"print", &Print}, {"tostring", &ToString}, {"xpcall", &XPCall},
                                {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
  for (const char* name : kRefused) {
    lua_pushstring(state, name);
    lua_pushcclosure(state, &Refuse, 1);
    lua_setfield(state, -2, name);
  }
  lua_pushliteral(state, "Lua 5.1");
  lua_setfield(state, -2, "_VERSION");
}

}  // namespace lua::internal
