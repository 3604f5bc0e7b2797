// What Inspect reports about scripts.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
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

TEST_CASE("top-level functions are reported with their parameters and lines") {
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

TEST_CASE("globals are reported where they are read and assigned") {
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

TEST_CASE("what cannot become a global of the script is known") {
  const auto may = [](absl::string_view text) { return MustInspect(text).MayDefine("F"); };
  CHECK(may("function F() end"));
  CHECK(may("if os.time() > 0 then F = print end"));
  CHECK(may("local function make() F = print end make()"));
  CHECK(may("_G['F'] = print"));
  CHECK(may("local g = _G"));
  CHECK(may("package.loaded.x = 1"));
  CHECK_FALSE(may("local function F() end"));
  CHECK_FALSE(may("function f() end function FF() return F end"));
  CHECK_FALSE(may("local t = {} function t.F() end local kube = require('kube')"));
  CHECK_FALSE(may(""));
}

std::string Modules(absl::string_view text) {
  return absl::StrJoin(MustInspect(text).modules, " ", [](std::string* out, const auto& m) {
    absl::StrAppend(out, m.line, ":", m.column, ":", m.module, m.member.empty() ? "" : ".",
                    m.member);
  });
}

TEST_CASE("modules and their members are reported where they are written") {
  CHECK(Modules("local k = require('kube')\nreturn k.a, k:b(), x.k.c, k .d") ==
        "1:19:kube 2:10:kube.a 2:15:kube.b 2:30:kube.d");
  CHECK(Modules("return require [[m]].a, require\"n\"") == "1:16:m 1:22:m.a 1:32:n");
  CHECK(Modules("k = require('m') k.x = 1 return k.y, \"k.z\" -- k.z\n--[==[ k.z ]] ]==]") ==
        "1:13:m 1:35:m.y");
}

TEST_CASE("members are reported only of names that cannot stand for anything else") {
  for (const char* other :
       {"local k = {}", "k = {}", "function f(a, k) end", "for i, k in pairs({}) do end",
        "local function k() end", "local x, k"}) {
    CHECK(Modules(absl::StrCat("local k = require('m')\n", other, "\nlocal y = k.b")) == "1:19:m");
  }
  CHECK(Modules("local a, k = require('m')\nreturn k.b") == "1:22:m");
}

TEST_CASE("a module may have the same name in several functions") {
  CHECK(Modules("function A() local k = require('m') return k.a end\n"
                "function B() local k = require('m') return k.b end") ==
        "1:32:m 2:32:m 1:46:m.a 2:46:m.b");
  CHECK(Modules("function A() local k = require('m') return k.a end\n"
                "function B() local k = require('n') return k.b end") == "1:32:m 2:32:n");
}

TEST_CASE("modules that a script provides itself are not reported") {
  CHECK(Modules("package.preload.a = f\npackage.loaded['b'] = {}\n"
                "return require('a'), require('b').x, require('c')") == "3:46:c");
}

TEST_CASE("local functions are reported with their lines, at any depth") {
  const ScriptFacts facts = MustInspect(
      "local function A() end\nlocal B = function() local function C() end end\nlocal D = 1");
  CHECK(absl::StrJoin(facts.local_functions, " ", [](std::string* out, const auto& f) {
          absl::StrAppend(out, f.line, ":", f.name);
        }) == "1:A 2:B 2:C");
}

TEST_CASE("nothing of an inspected script runs") {
  CHECK(Globals(MustInspect("while true do end")).empty());
  CHECK(Globals(MustInspect("error('x')")) == "1:error");
}

}  // namespace
}  // namespace lua
