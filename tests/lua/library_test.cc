// The functions that scripts can call, and their results.
#include "lua/library.h"

#include <catch2/catch.hpp>

#include "tests/lua/lua_fixture.h"
#include "tests/support/fake_clock.h"

namespace lua {
namespace {

struct Case {
  const char* body;
  const char* result;
};

void CheckAll(std::initializer_list<Case> cases) {
  const ScriptRunner runner(Patient());
  for (const Case& c : cases) {
    CAPTURE(c.body);
    CHECK(Eval(runner, c.body) == c.result);
  }
}

TEST_CASE("base functions") {
  CheckAll({
      {"return tostring(3.0) .. tostring(1/3) .. tostring(1e100) .. tostring(2^53)",
       R"("30.33333333333333331e+1009007199254740992")"},
      {"return tostring(nil) .. tostring(true) .. tostring('x')", R"("niltruex")"},
      {"return tonumber('0x10') + tonumber('10', 2) + tonumber(' 5 ')", "23"},
      {"return tonumber('x') == nil and tonumber('') == nil", "true"},
      {"return select('#', 1, nil, nil) + select(2, 1, 5)", "8"},
      {"local a, b = unpack({1, 2}) return a + b", "3"},
      {"return type(nil) .. type(1) .. type('') .. type({}) .. type(print) .. type(true)",
       R"("nilnumberstringtablefunctionboolean")"},
      {"return select('#', pcall(error)) .. tostring(pcall(error, 'x'))", R"("2false")"},
      {"local ok, e = pcall(error, {code = 7}) return e.code", "7"},
      {"local ok, e = pcall(function() error('x') end) return e", R"("test:1: x")"},
      {"local ok, e = pcall(function() error('x', 0) end) return e", R"("x")"},
      {"local a, b, c = pcall(function(...) return ... end, 1, 2) return b + c", "3"},
      {"local a, b, c = xpcall(function(...) return ... end, print, 1, 2) return b + c", "3"},
      {"local ok, e = xpcall(function() error('x', 0) end, function(m) return m .. 'y' end) "
       "return e",
       R"("xy")"},
      {"local ok, e = pcall(assert, false) return e", R"("assertion failed!")"},
      {"return assert(1, 2)", "1"},
      {"return _VERSION", R"("Lua 5.1")"},
      {"return _G._G == _G and _G.F ~= nil and _G.string == string", "true"},
      {"x = 1 return _G.x", "1"},
      {"print('quiet', {}, nil) return 1", "1"},
      {"goto done ::done:: return 1", "1"},
      {"return require('string') == string", "true"},
      {"return rawequal(1, 1)",
       "ERROR: test: in F: call function rawequal is not supported in karmada customized "
       "resourceinterpreter."},
  });
}

TEST_CASE("require finds libraries and what a script preloads") {
  CheckAll({
      {"return require('x')",
       "ERROR: test: in F: module x not found:\n\tno field package.preload['x']"},
      {"package.preload.twice = function(name) return {of = function(n) return 2 * n end} end "
       "return require('twice').of(21)",
       "42"},
      {"local made = 0 package.preload.m = function() made = made + 1 return {} end "
       "return tostring(require('m') == require('m')) .. made",
       R"("true1")"},
      {"package.preload.m = function(name) return name end return require('m')", R"("m")"},
      {"package.preload.m = function() end return require('m')", "true"},
      {"package.preload.m = function(name) package.loaded[name] = 'itself' end return require('m')",
       R"("itself")"},
      {"package.preload.m = function() return require('m') end return require('m')",
       "ERROR: test: in F: loop or previous error loading module: m"},
      {"package.loaded.m = {n = 7} return require('m').n", "7"},
      {"table.insert(package.loaders, function(name) return function() return name .. '!' end end) "
       "return require('any')",
       R"("any!")"},
      {"package.preload = nil return require('m')",
       "ERROR: test: in F: package.preload must be a table"},
      {"return package.loadlib('x', 'y')", "ERROR: test: in F: loadlib is not supported"},
      {"return package.loaded.string == string and package.path == nil", "true"},
      {"local s = '' for k in pairs(package) do s = s .. k .. ' ' end return s",
       R"("loaded loaders loadlib preload ")"},
      {"error = 1 return type(package)", R"("table")"},
  });
}

TEST_CASE("what a run puts into package is gone in the next one") {
  const ScriptRunner runner(Patient());
  CHECK(Eval(runner,
             "package.preload.m = function() return 1 end package.loaded.n = 1 "
             "package.loaders[2] = nil return require('m')") == "1");
  CHECK(Eval(runner, "return package.preload.m == nil and package.loaded.n == nil") == "true");
  CHECK(Eval(runner, "return pcall(require, 'm')") == "false");
}

TEST_CASE("pairs and next see what is in a library and in the globals") {
  CheckAll({
      {"local s = '' for k in pairs(os) do s = s .. k .. ' ' end return s", R"("date time ")"},
      {"return next(os)", R"("date")"},
      {"os.zone = 1 local s = '' for k in pairs(os) do s = s .. k .. ' ' end return s",
       R"("date time zone ")"},
      {"local seen = {} for k, v in pairs(_G) do seen[k] = v end "
       "return seen.F == F and seen.pairs == pairs and seen._G == _G",
       "true"},
  });
}

TEST_CASE("pairs and next visit numbers, then strings, each in order") {
  CheckAll({
      {"local t = {z = 1, a = 2, [10] = 3, [2] = 4, [1] = 5, [-1] = 6, [1.5] = 7, [true] = 8} "
       "local s = '' for k in pairs(t) do s = s .. tostring(k) .. ' ' end return s",
       R"("1 2 10 -1 1.5 a z true ")"},
      {"local t = {z = 1, a = 2, [10] = 3, [2] = 4, [1] = 5} local s = '' "
       "for k in next, t do s = s .. tostring(k) .. ' ' end return s",
       R"("1 2 10 a z ")"},
      {"local t = {a = 1, b = 2, c = 3} local n = 0 "
       "for k in pairs(t) do t[k] = nil n = n + 1 end return n .. tostring(next(t))",
       R"("3nil")"},
      {"local t = {a = 1, b = 2, c = 3} local s = '' "
       "for k in pairs(t) do s = s .. k t.b = nil end return s",
       R"("ac")"},
      {"local n = 0 for i, v in ipairs({1, 2, nil, 4}) do n = n + v end return n", "3"},
      {"return next({}) == nil", "true"},
      {"local t = {a = 1, b = 2, c = 3, d = 4} local s = '' "
       "for k in next, t do s = s .. k if k == 'b' then t.b = nil t.c = nil end end return s",
       R"("abd")"},
      {"local t = {a = 1, c = 3} for k in next, t do end t.b = 2 local s = '' "
       "for k in next, t do s = s .. k end return s",
       R"("abc")"},
      {"local a, b, s = {x = 1, y = 2}, {p = 1, q = 2}, '' "
       "for k in next, a do for l in next, b do s = s .. k .. l .. ' ' end end return s",
       R"("xp xq yp yq ")"},
      // The script asks twice whether there is a second key.
      {"local t = {a = 1} local before = next(t, (next(t))) t.b = 1 "
       "return tostring(before) .. next(t, (next(t)))",
       R"("nilb")"},
      // The first walk is given up half-way; the next one goes through the same table.
      {"local t, s = {a = 1, b = 1, c = 1}, '' next(t, (next(t))) t.a = nil t.bb = 1 "
       "for k in next, t do s = s .. k .. ' ' end return s",
       R"("b bb c ")"},
      {"return next({a = 1, c = 2}, 'b')", R"("c")"},
      {"local t = {} for i = 1, 5000 do t['k' .. i] = i end local n = 0 "
       "for k, v in next, t do n = n + v end return n",
       "12502500"},
      {"local n = pairs(nil)",
       "ERROR: test:1: in F: bad argument #1 to 'pairs' (table expected, got nil)"},
  });
}

TEST_CASE("string functions") {
  CheckAll({
      {"return ('hello'):sub(2, -2) .. ('hello'):sub(-3) .. ('hello'):sub(10)", R"("ellllo")"},
      {"return ('aB'):upper() .. ('aB'):lower() .. ('abc'):reverse() .. #('abc')", R"("ABabcba3")"},
      {"return ('ab'):rep(3) .. ('ab'):rep(0) .. ('ab'):rep(-1)", R"("ababab")"},
      {"local a, b = ('AB'):byte(1, 2) return a + b", "131"},
      {"return string.char(72, 105)", R"("Hi")"},
      {"return string.len(12.5) .. string.sub(123, 2)", R"("423")"},
      {"return string.format('%5d|%-5s|%05.1f|%x|%q|%%|%s|%c|%g', 42, 'ab', 3.14159, 255, 'a\"b', "
       "0.1, 65, 1e20)",
       R"("   42|ab   |003.1|ff|\"a\\\"b\"|%|0.1|A|1e+20")"},
      {"return string.format('%s %s %s', nil, true, 3)", R"("nil true 3")"},
      {"return string.format('%d', 3.99) .. string.format('%.3s', 'abcdef')", R"("3abc")"},
      {"local s = string.format('%d', 'x')",
       "ERROR: test:1: in F: bad argument #2 to 'format' (number expected, got string)"},
      {"local s = string.format('%d')",
       "ERROR: test:1: in F: bad argument #2 to 'format' (no value)"},
      {"return string.format('%y', 1)", "ERROR: test: in F: invalid option '%y' to 'format'"},
      {"return ('a,b'):gsub(',', ';')", R"("a;b")"},
      {"local n = 0 for w in ('one two'):gmatch('%a+') do n = n + #w end return n", "6"},
      {"return string.gfind == string.gmatch", "true"},
      {"return ('x').y == nil", "true"},
      {"return 'a' < 'b' and 'Z' < 'a'", "true"},
  });
}

TEST_CASE("table functions") {
  CheckAll({
      {"local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')", R"("1,2,3")"},
      {"local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) "
       "return table.concat(t, ',', 1, 2)",
       R"("3,2")"},
      {"local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) "
       "for i = 2, 100 do if t[i - 1] > t[i] then return 'unsorted' end end return #t",
       "100"},
      {"local t = {} for i = 1, 50 do t[i] = {k = i % 3, i = i} end "
       "table.sort(t, function(a, b) return a.k < b.k end) "
       "for i = 2, 50 do if t[i-1].k == t[i].k and t[i-1].i > t[i].i then return 'unstable' end "
       "end return 1",
       "1"},
      {"local t = {1, 3} table.insert(t, 2, 2) table.insert(t, 4) return table.concat(t)",
       R"("1234")"},
      {"local t = {1, 2, 3} return table.remove(t, 1) + table.remove(t) + #t", "5"},
      {"return table.remove({}) == nil and table.getn({1}) + table.maxn({[5] = 1})", "6"},
      {"table.sort({1, 'x'})", "ERROR: test:1: in F: attempt to compare string with number"},
      {"return table.concat({{}})",
       "ERROR: test: in F: invalid value (table) at index 1 in table for 'concat'"},
  });
}

TEST_CASE("the table library sees the members of arguments") {
  CHECK(Eval("table.insert(a.list, 'z') table.sort(a.list) return table.concat(a.list)",
             {MustParse(R"({"list":["b","a"]})")}) == R"("abz")");
  CHECK(Eval("table.insert(a, 'v') return a", {MustParse("{}")}) == R"(["v"])");
}

TEST_CASE("math.random repeats in every run") {
  const ScriptRunner runner(Patient());
  const std::string body = "local s = {} for i = 1, 5 do s[i] = math.random(100) end return s";
  const std::string first = Eval(runner, body);
  CHECK(first == Eval(runner, body));
  CHECK(first != Eval(runner, "math.randomseed(7) " + body));
  CheckAll(
      {{"for i = 1, 1000 do local r = math.random(3, 5) "
        "if r < 3 or r > 5 or r ~= math.floor(r) then return r end end return 'ok'",
        R"("ok")"},
       {"return math.floor(-2.5) + math.max(1, 5, 3) + math.huge / math.huge * 0 ~= 0", "true"},
       {"return math.pi > 3.14 and math.mod(7, 3) == 1 and math.fmod(7, 3) == 1", "true"}});
}

TEST_CASE("os.time and os.date go by the runner's clock") {
  const tests::FakeClock clock(absl::FromUnixSeconds(1767225600));  // 2026-01-01T00:00:00Z
  ScriptRunner::Options options;
  options.clock = &clock;
  const ScriptRunner runner(options);
  CHECK(Eval(runner, "return os.time()") == "1767225600");
  CHECK(Eval(runner, "return os.date('100%% %%d')") == R"("100% %d")");
  CHECK(Eval(runner, "return os.date('!%Y-%m-%dT%H:%M:%SZ')") == R"("2026-01-01T00:00:00Z")");
  CHECK(Eval(runner, "return os.date('!%a %A %b %B %p %y %F %X %w %Q %', 86400)") ==
        R"("Fri Friday Jan January AM 70 1970-01-02 00:00:00 5 %Q %")");
  CHECK(Eval(runner, "local t = os.date('!*t', 0) return t.year .. t.month .. t.day .. t.wday") ==
        R"("1970115")");
  CHECK(Eval(runner, "return os.time(os.date('*t', 1000000)) ") == "1000000");
}

TEST_CASE("libraries of the host are required by name") {
  ScriptRunner::Options options;
  options.libraries = {
      {"kube",
       {{"echo",
         [](absl::Span<const Value> arguments) {
           std::vector<Value> results(arguments.begin(), arguments.end());
           return absl::StatusOr<std::vector<Value>>(std::move(results));
         }},
        {"fail", [](absl::Span<const Value>) -> absl::StatusOr<std::vector<Value>> {
           return absl::InvalidArgumentError("no such quantity");
         }}}}};
  const ScriptRunner runner(options);
  const std::string kube = "local kube = require('kube') ";
  const json::Value object = MustParse(R"({"x":{"y":[1,null,9007199254740993],"z":null}})");
  CHECK(Eval(runner, kube + "return kube.echo(a.x)", {object}) ==
        R"({"y":[1,null,9007199254740993],"z":null})");
  CHECK(Eval(runner, kube + "local x, n = kube.echo({a = a.x.y, b = {}}, nil) return {x, x.a[2]}",
             {object}) == R"([{"a":[1,null,9007199254740993]},9007199254740993])");
  CHECK(Eval(runner, kube + "return select('#', kube.echo(1, nil, 'x'))") == "3");
  CHECK(Eval(runner, kube + "\nreturn 1, kube.fail(1)") == "ERROR: test:2: in F: no such quantity");
  CHECK(Eval(runner, kube + "local ok, e = pcall(kube.fail) return e") == R"("no such quantity")");
  CHECK(Eval(runner, kube + "return {kube.echo({x = print})}") ==
        "ERROR: test:1: in F: cannot encode function to JSON (at .x)");
}

ScriptRunner::Options WithSource(std::string source) {
  ScriptRunner::Options options;
  Library library;
  library.name = "tool";
  library.source = std::make_shared<const std::string>(std::move(source));
  options.libraries.push_back(std::move(library));
  options.max_idle_states = 1;
  return options;
}

TEST_CASE("a library can be written in Lua, with the base functions as its globals") {
  const ScriptRunner runner(WithSource(R"(
local tool = {}
function tool.kinds(list)
  local kinds = {}
  for i, each in ipairs(list) do kinds[i] = type(each) end
  return table.concat(kinds, ",")
end
function tool.twice(f) return f(f(1)) end
function tool.fail(x)
  return x.y
end
return tool)"));
  const std::string tool = "local tool = require('tool') ";
  CHECK(Eval(runner, tool + "return tool.kinds(a)", {MustParse(R"([1,"x",{}])")}) ==
        R"("number,string,table")");
  CHECK(Eval(runner, tool + "return tool.twice(function(x) return x + 2 end)") == "5");
  // The script is to blame for what it gives to a library.
  CHECK(Eval(runner, tool + "\nlocal x = tool.fail(nil) return x") ==
        "ERROR: test:2: in F: library tool:10: attempt to index local 'x' (a nil value)");
  CHECK(Eval(runner, tool + "return tool.none == nil") == "true");
}

TEST_CASE("what a script does to a library in Lua ends with its run") {
  const ScriptRunner runner(
      WithSource("local tool = {} function tool.one() return #'x' end return tool"));
  const std::string tool = "local tool = require('tool') ";
  CHECK(Eval(runner, tool + "tool.one = function() return 2 end return tool.one()") == "2");
  CHECK(Eval(runner, tool + "return tool.one()") == "1");
  CHECK(Eval(runner, tool + "tool.more = 3 ipairs = nil return tool.more") == "3");
  CHECK(Eval(runner, tool + "return {tool.one(), tool.more == nil}") == "[1,true]");
}

TEST_CASE("a library in Lua is inside the bounds of the script's run") {
  ScriptRunner::Options options = WithSource(
      "local tool = {} function tool.spin() while true do end end "
      "function tool.eat() local t = {} while true do t[#t + 1] = {} end end return tool");
  options.budget = SmallBudget().budget;
  const ScriptRunner runner(std::move(options));
  const std::string tool = "local tool = require('tool') ";
  CHECK_THAT(Eval(runner, tool + "tool.spin() return 1"),
             Catch::Contains("in F: ran longer than 100ms"));
  CHECK_THAT(
      Eval(runner, tool + "pcall(tool.eat) return 1"),
      Catch::Contains("needs more memory than") || Catch::Contains("string or table larger"));
}

}  // namespace
}  // namespace lua
