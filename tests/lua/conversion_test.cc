// JSON to Lua and back: what a script does not change stays the same, and what it makes follows
// upstream's rules.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

// Visits every table, so that all of them are filled.
constexpr char kTouchAll[] = R"(
local function touch(t)
  for k, v in pairs(t) do if type(v) == 'table' then touch(v) end end
end
if type(a) == 'table' then touch(a) end
return a)";

TEST_CASE("an argument that is returned is the JSON it was, touched or not") {
  const std::vector<std::string> documents = {
      "{}",
      "[]",
      "[{}]",
      "[[]]",
      "[[],[[]],{}]",
      R"({"a":null})",
      R"([null])",
      R"([1,null,3])",
      R"([null,{"a":null},null])",
      R"({"a":{},"b":[],"c":null,"d":{"e":[{}]}})",
      "[9007199254740993,-9007199254740993,9223372036854775807,-9223372036854775808]",
      R"({"a":9007199254740993,"b":[9007199254740995]})",
      "[0.1,1e300,-0.5,100.5,12345678901234567890]",
      R"(["","é","\u0000x","a string that is longer than fifteen bytes"])",
      R"({"":1,"1":2,"1.5":3,"a.b":{"c/d":{}}})",
      R"([true,false,[true,[false,[null]]]])",
  };
  for (const std::string& document : documents) {
    CAPTURE(document);
    const json::Value value = MustParse(document);
    const std::string text = json::Write(value);
    CHECK(Eval("return a", {value}) == text);
    CHECK(Eval(kTouchAll, {value}) == text);
    const json::Value nested = json::Value::Object({{"x", value}});
    CHECK(Eval("a.x = a.x a.y = 1 a.y = nil return a", {nested}) == "{\"x\":" + text + "}");
    CHECK(Eval("return { k = a.x }", {nested}) ==
          (text == "{}" ? "{\"k\":{}}" : "{\"k\":" + text + "}"));
  }
}

TEST_CASE("scalars are themselves") {
  CHECK(Eval("return a", {json::Value(int64_t{9007199254740993})}) == "9007199254740993");
  CHECK(Eval("return a", {json::Value("x")}) == "\"x\"");
  CHECK(Eval("return a", {json::Value(true)}) == "true");
  CHECK(Eval("return a", {json::Value()}) == "nil");
  CHECK(Eval("return 1/3") == "0.3333333333333333");
  CHECK(Eval("return 3.0") == "3");
  CHECK(Eval("return -0.0") == "0");
  CHECK(Eval("return 2^53") == "9007199254740992");
  CHECK(Eval("return 2^63") == "9223372036854776000");
}

TEST_CASE("what is unchanged is shared with the argument") {
  const ScriptRunner runner(Patient());
  const json::Value object =
      MustParse(R"({"spec":{"a":1,"list":[{"b":{"c":[1,2]}}]},"status":{}})");
  const auto script = MustCompile(
      "function F(o) local x = o.spec.list[1].b.c[1] o.status.n = x return o end "
      "function G(o) local x = o.spec.list[1].b.c[1] return o end");
  const json::Value changed = runner.Run(*script, {"F", {object}})->results[0].json;
  CHECK(json::Write(changed) == R"({"spec":{"a":1,"list":[{"b":{"c":[1,2]}}]},"status":{"n":1}})");
  CHECK(changed["spec"].SharesWith(object["spec"]));
  CHECK(runner.Run(*script, {"G", {object}})->results[0].json.SharesWith(object));
  CHECK(json::Write(object["status"]) == "{}");
}

TEST_CASE(
    "an argument passed on whole is not a part of the result's size; repeated parts of it are") {
  const ScriptRunner runner(SmallBudget());
  const size_t most = SmallBudget().budget.result;
  json::Value object = json::Value::Object();
  object.Mutable({"spec", "text"}) = json::Value(std::string(most / 2, 'x'));
  object.Mutable({"status", "text"}) = json::Value(std::string(most / 2, 'y'));
  const std::string whole = json::Write(object);
  CHECK(Eval(runner, "return a", {object}) == whole);
  CHECK(Eval(runner, "return a.spec", {object}) == json::Write(object["spec"]));
  const std::string too_large = "ERROR: test: in F: returns or passes on more JSON than ";
  CHECK_THAT(Eval(runner, "return {a}", {object}), Catch::StartsWith(too_large));
  CHECK_THAT(Eval(runner, "return {a.spec, a.spec, a.spec}", {object}),
             Catch::StartsWith(too_large));
}

// An object whose members are looked up as they are read, and one larger than what is noted of it.
json::Value Small() {
  return MustParse(
      R"({"gone":null,"list":[1,{"x":2}],"name":"n","sub":{"deep":{"v":1},"w":2},"z":0})");
}

json::Value Large() {
  json::Value large = Small();
  for (int i = 0; i < 100; ++i) large.Set(absl::StrCat("member-", i), json::Value(int64_t{i}));
  return large;
}

TEST_CASE("it makes no difference which members were read before, or how") {
  const std::vector<std::string> scripts = {
      "a.name = nil return {a.name or 'none', a}",
      "local x = a.sub a.sub = nil return {a.sub or 'none', a}",
      "local x = a.sub a.sub = nil for k in pairs(a) do x[k] = true end return {x, a}",
      "local x = a.sub a.sub = nil a.sub = x return {a.sub == x, a}",
      "local x = a.sub a.sub = {} a.sub.w = x.w return a",
      "a.name = nil a.name = 'other' return {a.name, a}",
      "a.new = 1 return {a.new, a}",
      "a.new = 1 a.new = nil return {a.new == nil, a}",
      "a.new = 1 local n = 0 for k in pairs(a) do n = n + 1 end return {n, a}",
      "a.gone = 1 return a",
      "a.gone = 1 a.gone = nil return a",
      "a.list = nil a.sub = nil a.name = nil a.z = nil return a",
      "local l, s = a.list, a.sub for k in pairs(a) do a[k] = nil end return {l, s, a}",
      "a.sub.deep.v = 2 return {a, a.sub, a.sub.deep, a.sub.w}",
      "a.sub.deep.v = 2 a.sub.deep.v = 1 return a",
      "a.list[2].x = 3 return a",
      "a.list[2].y = a.sub return a",
      "return {a.sub == a.sub, a.list == a.list, a.sub.deep == a.sub.deep}",
      "return {a[1] == nil, a[true] == nil, a.nothing == nil, #a}",
      "a[1] = 2 return a",
      "a[1] = 2 a[1] = nil return a",
      "for k in pairs(a) do a[k] = nil end a[1] = 'only' return a",
      "a.sub.self = a.sub.deep a.sub.deep = nil return a",
      "a.sub.loop = a return a",
      "local k = next(a) return {k, next(a, k)}",
  };
  for (const json::Value& object : {Small(), Large()}) {
    for (const std::string& script : scripts) {
      CAPTURE(script, object.size());
      const std::string read = "local _ = {a.name, a.list, a.sub.deep, a.z, a.gone} ";
      const std::string walked =
          "for _, v in pairs(a) do if type(v) == 'table' then next(v) end end ";
      const std::string expected = Eval(walked + script, {object});
      CHECK(Eval(script, {object}) == expected);
      CHECK(Eval(read + script, {object}) == expected);
    }
  }
}

TEST_CASE("members that a script does not read are shared with the argument") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile("function F(o) o.sub.w = 3 return o end");
  const json::Value object = Small();
  const json::Value changed = runner.Run(*script, {"F", {object}})->results[0].json;
  CHECK(changed["list"].SharesWith(object["list"]));
  CHECK(changed["sub"]["deep"].SharesWith(object["sub"]["deep"]));
  CHECK(changed["sub"]["w"].AsInt() == 3);
  CHECK(json::Write(object) == json::Write(Small()));
}

TEST_CASE("changes are made to the JSON that was there") {
  const json::Value object =
      MustParse(R"({"a":1,"b":null,"c":{"x":null,"y":[1,null,2]},"d":9007199254740993})");
  CHECK(Eval("a.a = 2 return a", {object}) ==
        R"({"a":2,"b":null,"c":{"x":null,"y":[1,null,2]},"d":9007199254740993})");
  CHECK(Eval("a.a = nil return a", {object}) ==
        R"({"b":null,"c":{"x":null,"y":[1,null,2]},"d":9007199254740993})");
  CHECK(Eval("a.b = 1 a.c.x = 2 return a.c", {object}) == R"({"x":2,"y":[1,null,2]})");
  CHECK(Eval("a.c.y[1] = 5 return a.c", {object}) == R"({"x":null,"y":[5,2]})");
  CHECK(Eval("table.insert(a.c.y, 7) return a.c", {object}) == R"({"x":null,"y":[1,2,7]})");
  CHECK(Eval("a.c.y[2] = nil return a.c", {object}) == R"({"x":null,"y":[1]})");
  CHECK(Eval("a.c.y = nil return a.c", {object}) == R"({"x":null})");
  CHECK(Eval("a.a, a.d = a.d, a.a return a", {object}) ==
        R"({"a":9007199254740993,"b":null,"c":{"x":null,"y":[1,null,2]},"d":1})");
}

TEST_CASE("numbers beyond the integers of 64 bits stay what they are") {
  const json::Value a = MustParse(
      R"({"max":9223372036854775807,"min":-9223372036854775808,"big":1e25,"small":-1e25})");
  CHECK(Eval("local touched = a.max return {big = a.big, small = a.small}", {a}) ==
        R"({"big":1e+25,"small":-1e+25})");
  CHECK(Eval("local touched = a.max + a.min return {2^70, -2^70, 1e300}", {a}) ==
        "[1.1805916207174113e+21,-1.1805916207174113e+21,1e+300]");
  CHECK(Eval("return {x = a.max, y = a.min}", {a}) ==
        R"({"x":9223372036854775807,"y":-9223372036854775808})");
  const json::Value both = MustParse(R"({"m":9223372036854775807,"n":9223372036854775808})");
  CHECK(Eval("return {m = a.m, n = a.n}", {both}) ==
        R"({"m":9223372036854775807,"n":9223372036854776000})");
}

TEST_CASE("an integer beyond 2^53 moves exactly to a member of its name when others look alike") {
  CHECK(Eval("return {x = a.x, y = a.y}",
             {MustParse(R"({"x":9007199254740993,"y":9007199254740992})")}) ==
        R"({"x":9007199254740993,"y":9007199254740992})");
}

TEST_CASE("an integer beyond 2^53 moves exactly while it is the only one of its double") {
  CHECK(Eval("return {n = a.x, m = {a.x}}", {MustParse(R"({"x":9007199254740993})")}) ==
        R"({"m":[9007199254740993],"n":9007199254740993})");
  CHECK(Eval("return {n = a.x, m = a.y}",
             {MustParse(R"({"x":9007199254740993,"y":9007199254740992})")}) ==
        R"({"m":9007199254740992,"n":9007199254740992})");
  CHECK(Eval("return {n = a.x}", {MustParse(R"({"x":9223372036854775807})")}) ==
        R"({"n":9223372036854775807})");
}

TEST_CASE("a container that is emptied stays what it was") {
  CHECK(Eval("a.x.y = nil return a", {MustParse(R"({"x":{"y":1}})")}) == R"({"x":{}})");
  CHECK(Eval("a.x[1] = nil return a", {MustParse(R"({"x":[1]})")}) == R"({"x":[]})");
  CHECK(Eval("a.x.y = nil return a", {MustParse(R"({"x":{"y":1,"z":null}})")}) ==
        R"({"x":{"z":null}})");
}

TEST_CASE("a container may become the other kind") {
  CHECK(Eval("a.x[1] = 'v' return a", {MustParse(R"({"x":{}})")}) == R"({"x":["v"]})");
  CHECK(Eval("a.x.k = 'v' return a", {MustParse(R"({"x":[]})")}) == R"({"x":{"k":"v"}})");
  CHECK(Eval("table.insert(a.x, 1) return a", {MustParse(R"({"x":{"y":1}})")}) ==
        "ERROR: test: in F: cannot encode mixed or invalid key types (at .x)");
}

TEST_CASE("empty tables of the script follow the arguments when asked to, else they go") {
  const json::Value reference = MustParse(R"({"a":{},"b":[],"l":[{"r":{}}],"x":{"y":1}})");
  const std::string make =
      "return {a = {}, b = {}, c = {}, l = {{r = {}, s = {}}, {}}, x = {z = {}}}";
  CHECK(Eval(make, {reference}, true) == R"({"a":{},"b":[],"l":[{"r":{}}],"x":{}})");
  CHECK(Eval(make, {reference}, false) == R"({"l":[{}],"x":{}})");
  CHECK(Eval("return {}", {reference}, true) == "shapeless");
  CHECK(Eval("return {}") == "shapeless");
  CHECK(Eval("a.x = {} return a", {reference}, false) == R"({"a":{},"b":[],"l":[{"r":{}}]})");
}

TEST_CASE("names with separators do not lead to other paths") {
  const json::Value reference = MustParse(R"({"a/b":{},"c":{"d":[]},"~1":{}})");
  CHECK(Eval("return {a = {b = {}}, ['c/d'] = {}, ['/'] = {}, ['~1'] = {}, k = 1}", {reference},
             true) == R"({"a":{},"k":1,"~1":{}})");
}

TEST_CASE("shared tables are fine, cycles are not") {
  CHECK(Eval("local t = {1} return {x = t, y = t}") == R"({"x":[1],"y":[1]})");
  CHECK(Eval("a.y = a.x return a", {MustParse(R"({"x":{"k":1}})")}) ==
        R"({"x":{"k":1},"y":{"k":1}})");
  CHECK(Eval("local t = {} t.t = t return t") ==
        "ERROR: test: in F: cannot encode recursively nested tables to JSON (at .t)");
  CHECK(Eval("a.x.y = a return a", {MustParse(R"({"x":{}})")}) ==
        "ERROR: test: in F: cannot encode recursively nested tables to JSON (at .x.y)");
}

TEST_CASE("what JSON cannot hold is an error") {
  CHECK(Eval("return {1, nil, 3}") == "ERROR: test: in F: cannot encode sparse array");
  CHECK(Eval("return {[0] = 1}") == "ERROR: test: in F: cannot encode sparse array");
  CHECK(Eval("return {[1.5] = 1}") == "ERROR: test: in F: cannot encode sparse array");
  CHECK(Eval("return {1, x = 2}") == "ERROR: test: in F: cannot encode mixed or invalid key types");
  CHECK(Eval("return {[true] = 2}") ==
        "ERROR: test: in F: cannot encode mixed or invalid key types");
  CHECK(Eval("return {x = {y = print}}") ==
        "ERROR: test: in F: cannot encode function to JSON (at .x.y)");
  CHECK(Eval("return {x = 0/0}") ==
        "ERROR: test: in F: unsupported value: not a finite number (at .x)");
  CHECK(Eval("return 1/0") == "ERROR: test: in F: unsupported value: not a finite number");
  CHECK(Eval("local t = {} for i = 1, 300 do t = {t} end return t") ==
        "ERROR: test: in F: cannot encode tables nested so deeply to JSON");
}

TEST_CASE("functions are results of their own type") {
  const ScriptRunner runner(Patient());
  const Value result = runner.Run(*MustCompile("function F() return F end"), {"F"})->results[0];
  CHECK(result.type == Value::Type::kFunction);
  CHECK(TypeName(result.type) == "function");
}

TEST_CASE("nulls in arrays are left out of what the script sees") {
  CHECK(Eval("return #a + a[2]", {MustParse("[1,null,3]")}) == "5");
  CHECK(Eval("return a.x == nil", {MustParse("{\"x\":null}")}) == "true");
}

TEST_CASE("many changes to a large object end soon") {
  json::Value large = json::Value::Object();
  for (int i = 0; i < 20000; ++i) large.Set(absl::StrCat("k", 100000 + i), i);
  CHECK(Eval("for k in pairs(a) do if k ~= 'k100007' then a[k] = nil end end return a", {large}) ==
        R"({"k100007":7})");
  CHECK(Eval("for k in pairs(a) do a[k] = nil a['z' .. k] = 1 end local n = 0 "
             "for _ in pairs(a) do n = n + 1 end a.n = n return a",
             {large})
            .size() > 20000);
}

}  // namespace
}  // namespace lua
