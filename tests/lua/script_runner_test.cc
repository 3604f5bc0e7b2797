// Results and errors of runs.
#include "lua/script_runner.h"

#include <catch2/catch.hpp>

#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

TEST_CASE("a script's function gets arguments and gives results") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile("function GetReplicas(o) return o.spec.replicas, o.spec end");
  const absl::StatusOr<Outcome> outcome =
      runner.Run(*script, {"GetReplicas", {MustParse(R"({"spec":{"replicas":3,"x":null}})")}, 2});
  REQUIRE(outcome.ok());
  REQUIRE(outcome->results.size() == 2);
  CHECK(outcome->results[0].type == Value::Type::kNumber);
  CHECK(outcome->results[0].json == json::Value(3));
  CHECK(json::Write(outcome->results[1].json) == R"({"replicas":3,"x":null})");
  CHECK(outcome->usage.garbage > 0);
  CHECK(outcome->usage.peak_memory > 0);
}

TEST_CASE("states taken from the pool and given back are counted as upstream counts its VMs") {
  metrics::Registry registry;
  ScriptRunner::Options options = SmallBudget();
  options.max_idle_states = 1;
  options.metrics = &registry;
  const ScriptRunner runner(std::move(options));
  const auto count = [&](const char* name, const char* label, const char* value) {
    return registry.GetCounter(name, "", {{"name", "luavm"}, {label, value}}).Value();
  };
  const auto script = MustCompile("function F() return 1 end function G() while true do end end");
  REQUIRE(runner.Run(*script, {"F", {}, 1}).ok());
  CHECK(count("pool_get_operation_total", "from", "new") == 1);
  CHECK(count("pool_put_operation_total", "to", "pool") == 1);
  REQUIRE(runner.Run(*script, {"F", {}, 1}).ok());
  CHECK(count("pool_get_operation_total", "from", "pool") == 1);
  CHECK(count("pool_put_operation_total", "to", "pool") == 2);
  REQUIRE_FALSE(runner.Run(*script, {"G", {}, 1}).ok());  // Ends because of the budget.
  CHECK(count("pool_get_operation_total", "from", "pool") == 2);
  CHECK(count("pool_put_operation_total", "to", "destroyed") == 1);
}

TEST_CASE("missing results are nil and further ones are dropped") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile("function F() return 1, 2 end function G() end");
  CHECK(runner.Run(*script, {"F", {}, 1})->results.size() == 1);
  CHECK(runner.Run(*script, {"G", {}, 2})->results[1].is_nil());
}

TEST_CASE("a missing function is the script's fault, and named") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile("function Other() end", "my/replicaResource");
  const absl::Status status = runner.Run(*script, {"GetReplicas"}).status();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "my/replicaResource: in GetReplicas: not found function GetReplicas");
}

// Returns a runner whose library function "kept.away" lets wall time pass without using CPU time.
ScriptRunner KeptAway(absl::Duration time, absl::Duration wall) {
  ScriptRunner::Options options = SmallBudget();
  options.budget.time = time;
  options.budget.wall = wall;
  options.libraries = {{"kept", {{"away", [](absl::Span<const Value>) {
                                    absl::SleepFor(absl::Milliseconds(20));
                                    return absl::StatusOr<std::vector<Value>>(std::vector<Value>{});
                                  }}}}};
  return ScriptRunner(options);
}

TEST_CASE("time in which others had the machine does not count") {
  const ScriptRunner runner = KeptAway(absl::Milliseconds(10), absl::Minutes(1));
  const auto script = MustCompile(R"(function F()
      for i = 1, 10 do
        require("kept").away()
        for j = 1, 3000 do end
      end
      return true
    end)");
  CHECK(runner.Run(*script, {"F"}).ok());
}

TEST_CASE("a run that is kept away for ever ends by wall time") {
  const ScriptRunner runner = KeptAway(absl::Milliseconds(10), absl::Milliseconds(100));
  const auto script = MustCompile(R"(function F()
      while true do require("kept").away() for j = 1, 3000 do end end
    end)");
  const absl::Status status = runner.Run(*script, {"F"}).status();
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("ran longer than "));
}

TEST_CASE("what is not a function is not called") {
  const ScriptRunner runner(Patient());
  const absl::Status status = runner.Run(*MustCompile("F = 3"), {"F"}).status();
  CHECK(status.message() == "test: in F: F is not a function: number");
}

TEST_CASE("an error names script, line and function") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile(R"(
local function helper(o)
  return o.status.x.y
end
function F(o)
  local y = helper(o)
  return y
end
function G() error("stop", 0) end
function H() error({}) end
)",
                                  "my/healthInterpretation");
  const absl::Status status = runner.Run(*script, {"F", {MustParse("{\"status\":{}}")}}).status();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(status.message() ==
        "my/healthInterpretation:3: in helper: attempt to index field 'x' (a nil value)");
  CHECK(runner.Run(*script, {"G"}).status().message() == "my/healthInterpretation:9: in G: stop");
  CHECK(runner.Run(*script, {"H"}).status().message() ==
        "my/healthInterpretation:10: in H: (error object is a table value)");
}

TEST_CASE("long names of scripts are reported in full") {
  const ScriptRunner runner(Patient());
  const std::string name = std::string(100, 'n') + "/statusReflection";
  const auto script = MustCompile("function F() error('no') end", name);
  CHECK(runner.Run(*script, {"F"}).status().message() == name + ":1: in F: no");
  CHECK(Script::Compile(name, "x =").status().message() ==
        name + ":1: unexpected symbol near '<eof>'");
}

TEST_CASE("an error at the top level names the main chunk") {
  const ScriptRunner runner(Patient());
  CHECK(runner.Run(*MustCompile("\nlocal x = y.z"), {"F"}).status().message() ==
        "test:2: in the main chunk: attempt to index global 'y' (a nil value)");
}

TEST_CASE("a script does not compile: line and token are reported") {
  CHECK(Script::Compile("n", "function F(\nend").status().message() ==
        "n:2: <name> or '...' expected near 'end'");
  CHECK(Script::Compile("n", "\x1bLJ\x02").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Script::Compile("n", "x = 1LL").status().message() ==
        "n: malformed number: the suffixes LL, ULL and i are not Lua 5.1");
  CHECK(!Script::Compile("n", std::string(Script::kMaxText + 1, ' ')).ok());
}

TEST_CASE("nothing of a run is left for the next") {
  const ScriptRunner runner(Patient());
  const auto writes = MustCompile(R"(
x = 1
_G.y = 2
function string.trim(s) return (s:gsub("^%s+", "")) end
table.sort = nil
math.pi = 3
function F() function Leaked() end return (" a"):trim() .. math.pi end)");
  const auto reads = MustCompile(
      "function F() return tostring(x) .. tostring(y) .. tostring(string.trim) .. "
      "type(table.sort) .. tostring(Leaked) .. math.floor(math.pi * 100) end");
  for (int i = 0; i < 3; ++i) {
    CHECK(runner.Run(*writes, {"F"})->results[0].json == json::Value("a3"));
    CHECK(runner.Run(*reads, {"F"})->results[0].json == json::Value("nilnilnilfunctionnil314"));
  }
}

TEST_CASE("a global that has a base function's name is nil once it is set to nil") {
  CHECK(Eval("error = 'x'; error = nil; return {error == nil, _G.error == nil}") == "[true,true]");
  CHECK(Eval("type = a; return type == nil") == "true");
}

TEST_CASE("a number of runs leave no memory behind") {
  const ScriptRunner runner(Patient());
  const auto script = MustCompile(
      "function F(o) local t = {} for i = 1, 1000 do t[i] = 'x' .. i end return #t end");
  for (int i = 0; i < 300; ++i) {
    const absl::StatusOr<Outcome> outcome = runner.Run(*script, {"F"});
    REQUIRE(outcome.ok());
    REQUIRE(outcome->usage.peak_memory < 200000);
  }
}

TEST_CASE("endless loops end in time") {
  const ScriptRunner runner(SmallBudget());
  const auto script = MustCompile("function F()\n  while true do end\nend", "loop");
  const absl::Status status = runner.Run(*script, {"F"}).status();
  CHECK(status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(status.message() == "loop:2: in F: ran longer than 100ms");
  CHECK(Eval(runner, "return 1") == "1");
}

TEST_CASE("memory is bounded") {
  ScriptRunner::Options options = SmallBudget();
  options.budget.time = absl::Seconds(20);
  const ScriptRunner runner(options);
  const auto script =
      MustCompile("function F()\n local t = {}\n while true do t[#t+1] = {} end end");
  const absl::Status status = runner.Run(*script, {"F"}).status();
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(Eval(runner, "return 1") == "1");
}

}  // namespace
}  // namespace lua
