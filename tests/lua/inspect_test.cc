// What Inspect tells of scripts.
#include <catch2/catch.hpp>

#include "absl/strings/str_join.h"
#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

std::string Functions(const ScriptFacts& facts) {
  return absl::StrJoin(facts.functions, " ", [](std::string* out, const auto& f) {
    absl::StrAppend(out, f.line, ":", f.name, "/", f.parameters, f.variadic ? "..." : "");
  });
}

std::string Globals(const ScriptFacts& facts) {
  return absl::StrJoin(facts.globals, " ", [](std::string* out, const auto& g) {
    absl::StrAppend(out, g.line, ":", g.name, g.assigned ? "=" : "");
  });
}

ScriptFacts MustInspect(absl::string_view text) {
  const absl::StatusOr<ScriptFacts> facts = Inspect(*MustCompile(text));
  REQUIRE(facts.ok());
  return *facts;
}

TEST_CASE("top-level functions are told with their parameters and lines") {
  const ScriptFacts facts = MustInspect(R"(
local function helper(a) end
function GetReplicas(obj, extra)
  function Inner() end
  return helper(obj)
end
InterpretHealth = function(...) end
if true then function Late(a, b, c) end end
)");
  CHECK(Functions(facts) == "3:GetReplicas/2 7:InterpretHealth/0... 8:Late/3");
}

TEST_CASE("globals are told where they are read and assigned") {
  const ScriptFacts facts = MustInspect(R"(
local kube = require("kube")
function F(obj)
  status = obj.status
  os.exit(1)
  local s = string
  local x = ("a"):rep(2) .. string.format("%d", math.floor(y))
  return function() return status, os.time(), os.time() end
end
function string.trim(s) return s end
)");
  CHECK(Globals(facts) ==
        "2:require 3:F= 4:status= 5:os.exit 6:string 7:math.floor 7:string.format 7:y "
        "8:os.time 8:status 10:string.trim=");
}

TEST_CASE("nothing of an inspected script runs") {
  CHECK(Globals(MustInspect("while true do end")).empty());
  CHECK(Globals(MustInspect("error('x')")) == "1:error");
}

}  // namespace
}  // namespace lua
