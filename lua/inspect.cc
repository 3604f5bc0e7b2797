// Finds what a script defines and uses: from its bytecode, in a state of its own that runs nothing
// of the script, and from its text (source_facts.h).

#include <algorithm>
#include <lua.hpp>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lua/internal/source_facts.h"
#include "lua/script.h"

namespace lua {
namespace {

// Walks the functions of a chunk. Numbers of instructions differ between versions of LuaJIT, so
// they are learned from small functions first. Calls found(kind, name, line, parameters, variadic).
constexpr char kWalk[] = R"lua(
local load, chunk, found = ...
local util = require("jit.util")
local function Decode(f, pc)
  local ins = util.funcbc(f, pc)
  if not ins then return nil end
  local op = ins % 256
  local a = math.floor(ins / 256) % 256
  local d = math.floor(ins / 65536) % 65536
  return op, a, d, math.floor(d / 256), d % 256
end
local function OpOf(text, pc) return (Decode(load(text), pc)) end
local GGET, GSET = OpOf("local a = x", 1), OpOf("local a; x = a", 2)
local TGETS, TSETS = OpOf("local t; local a = t.x", 2), OpOf("local t, a; t.x = a", 2)
local FNEW = OpOf("local f = function() end", 1)
local libraries = {string = true, table = true, math = true, os = true, io = true, debug = true,
                   coroutine = true, package = true, jit = true, ffi = true, bit = true}
local function Walk(f, top)
  -- By slot: the library table that is in it, where from, and whether a member was used.
  local held = {}
  local function Drop(slot)
    local library = held[slot]
    if library and not library.used then found("get", library.name, library.line) end
    held[slot] = nil
  end
  local made, made_slot
  local pc = 1
  while true do
    local op, a, d, b, c = Decode(f, pc)
    if not op then break end
    local line = util.funcinfo(f, pc).currentline
    if (op == TGETS or op == TSETS) and held[b] then
      local member = held[b].name .. "." .. tostring(util.funck(f, -c - 1))
      found(op == TGETS and "get" or "set", member, line)
      held[b].used = true
    end
    if op ~= TSETS and op ~= GSET then Drop(a) end
    if op == GGET then
      local name = util.funck(f, -d - 1)
      if libraries[name] then
        held[a] = {name = name, line = line}
      else
        found("get", name, line)
      end
    elseif op == GSET then
      local name = util.funck(f, -d - 1)
      if top and made and made_slot == a then
        local info = util.funcinfo(made)
        found("function", name, info.linedefined, info.params, info.isvararg)
      end
      found("set", name, line)
    end
    made = nil
    if op == FNEW then made, made_slot = util.funck(f, -d - 1), a end
    pc = pc + 1
  end
  for slot in pairs(held) do Drop(slot) end
  local i = -1
  while true do
    local constant = util.funck(f, i)
    if constant == nil then break end
    if type(constant) == "proto" then Walk(constant, false) end
    i = i - 1
  end
end
Walk(chunk, true)
)lua";

// Limits how many uses of globals are listed; a script of a megabyte could have more.
constexpr size_t kMaxFacts = 100000;

void Add(lua_State* state, ScriptFacts& facts) {
  size_t size = 0;
  const char* text = lua_tolstring(state, 2, &size);
  std::string name(text, size);
  const absl::string_view kind = lua_tostring(state, 1);
  const auto line = static_cast<int>(lua_tointeger(state, 3));
  if (kind == "function") {
    facts.functions.push_back({std::move(name), static_cast<int>(lua_tointeger(state, 4)),
                               lua_toboolean(state, 5) != 0, line});
  } else if (facts.globals.size() < kMaxFacts) {
    facts.globals.push_back({std::move(name), line, kind == "set"});
  } else {
    facts.complete = false;
  }
}

int Found(lua_State* state) {
  // The checks raise an error of Lua, which skips destructors: they precede every object of C++.
  luaL_checkstring(state, 1);
  luaL_checkstring(state, 2);
  Add(state, *static_cast<ScriptFacts*>(lua_touserdata(state, lua_upvalueindex(1))));
  return 0;
}

int Load(lua_State* state) {
  // For kWalk's own small functions only; the script itself is loaded as text, never as bytecode.
  if (luaL_loadstring(state, luaL_checkstring(state, 1)) != 0) lua_error(state);
  return 1;
}

struct Inspection {
  const Script& script;
  ScriptFacts facts;
};

int Inspecting(lua_State* state) {
  auto* inspection = static_cast<Inspection*>(lua_touserdata(state, 1));
  luaL_openlibs(state);
  if (luaL_loadbufferx(state, kWalk, sizeof kWalk - 1, "=inspect", "t") != 0) lua_error(state);
  lua_pushcfunction(state, &Load);
  const std::string& text = inspection->script.text();
  if (luaL_loadbufferx(state, text.data(), text.size(), inspection->script.chunk_name().c_str(),
                       "t") != 0) {
    lua_error(state);
  }
  lua_pushlightuserdata(state, &inspection->facts);
  lua_pushcclosure(state, &Found, 1);
  lua_call(state, 3, 0);
  return 0;
}

bool EarlierUse(const ScriptFacts::GlobalUse& a, const ScriptFacts::GlobalUse& b) {
  return std::tie(a.line, a.name, a.assigned) < std::tie(b.line, b.name, b.assigned);
}

bool SameUse(const ScriptFacts::GlobalUse& a, const ScriptFacts::GlobalUse& b) {
  return std::tie(a.line, a.name, a.assigned) == std::tie(b.line, b.name, b.assigned);
}

}  // namespace

// Scripts reach globals by name and through _G; the sandbox refuses getfenv, setfenv, rawset and
// load. A script that uses `package` may define anything.
bool ScriptFacts::MayDefine(absl::string_view global) const {
  return !complete || std::any_of(globals.begin(), globals.end(), [&](const GlobalUse& use) {
    return (use.assigned && use.name == global) || use.name == "_G" || use.name == "package" ||
           absl::StartsWith(use.name, "package.");
  });
}

absl::StatusOr<ScriptFacts> Inspect(const Script& script) {
  // It is a plain state with all libraries: nothing of the script is called in it.
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), &lua_close);
  if (state == nullptr) return absl::ResourceExhaustedError("no memory for a Lua state");
  Inspection inspection{script, {}};
  if (lua_cpcall(state.get(), &Inspecting, &inspection) != 0) {
    const char* message = lua_tostring(state.get(), -1);
    return absl::InternalError(absl::StrCat("inspecting ", script.name(), ": ",
                                            message != nullptr ? message : "unknown error"));
  }
  ScriptFacts facts = std::move(inspection.facts);
  std::sort(facts.globals.begin(), facts.globals.end(), EarlierUse);
  facts.globals.erase(std::unique(facts.globals.begin(), facts.globals.end(), SameUse),
                      facts.globals.end());
  AddSourceFacts(script.text(), facts);
  std::sort(facts.functions.begin(), facts.functions.end(),
            [](const auto& a, const auto& b) { return a.line < b.line; });
  return facts;
}

}  // namespace lua
