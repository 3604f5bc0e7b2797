#include "tests/lua/native_pattern.h"

#include <cstdlib>
#include <lua.hpp>

namespace lua {

const char NativePattern::kScript[] = R"lua(
local function tell(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    parts[i] = type(value) .. " " .. tostring(value):gsub("^[%w_]+:%d+: ", "")
  end
  return table.concat(parts, "|")
end
function All(t)
  local s, p, start = t[1], t[2], t[3]
  local out = {}
  local function add(name, ...) out[#out + 1] = name .. "=" .. tell(...) end
  add("find", pcall(string.find, s, p, start))
  add("plain", pcall(string.find, s, p, start, true))
  add("match", pcall(string.match, s, p, start))
  add("gmatch", pcall(function()
    local found = {}
    for a, b in string.gmatch(s, p) do
      found[#found + 1] = tostring(a) .. ":" .. tostring(b)
      if #found > 50 then break end
    end
    return table.concat(found, ",")
  end))
  add("gsub whole", pcall(string.gsub, s, p, "<%0>"))
  add("gsub first", pcall(string.gsub, s, p, "%1%%", 2))
  add("gsub none", pcall(string.gsub, s, p, "x", -1))
  add("gsub table", pcall(string.gsub, s, p, {a = "A", b = 1, ab = false}))
  add("gsub function", pcall(string.gsub, s, p, function(a, b)
    if a == "a" then return nil end
    return tostring(a) .. tostring(b)
  end))
  return table.concat(out, "\n")
end
)lua";

struct NativePattern::State {
  lua_State* state = luaL_newstate();
  ~State() { lua_close(state); }
};

NativePattern::NativePattern() : state_(std::make_unique<State>()) {
  luaL_openlibs(state_->state);
  const std::string script = kScript;
  if (luaL_loadbuffer(state_->state, script.data(), script.size(), "=native") != 0 ||
      lua_pcall(state_->state, 0, 0, 0) != 0) {
    std::abort();
  }
}

NativePattern::~NativePattern() = default;

std::string NativePattern::Run(const json::Value& arguments) const {
  lua_State* state = state_->state;
  lua_settop(state, 0);
  lua_getglobal(state, "All");
  lua_newtable(state);
  for (int i = 0; i < 2; ++i) {
    const absl::string_view text = arguments.At(static_cast<size_t>(i)).AsString();
    lua_pushlstring(state, text.data(), text.size());
    lua_rawseti(state, -2, i + 1);
  }
  lua_pushinteger(state, static_cast<lua_Integer>(arguments.At(2).AsInt()));
  lua_rawseti(state, -2, 3);
  if (lua_pcall(state, 1, 1, 0) != 0) return "broken";
  size_t size = 0;
  const char* text = lua_tolstring(state, -1, &size);
  return {text, size};
}

}  // namespace lua
