// The library "karmada" (lua/scripts/karmada.lua), called as scripts call it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "interpreter/customized/script_libraries.h"
#include "lua/script_runner.h"
#include "tests/interpreter/case_files.h"

namespace {

// Returns what the body returns, as JSON; "error: ..." when it raises. In the body, `karmada` is
// the library and `given` the JSON.
std::string Run(absl::string_view body, absl::string_view given = "{}") {
  lua::ScriptRunner::Options options;
  options.libraries = interpreter::customized::ScriptLibraries();
  const lua::ScriptRunner runner(options);
  const auto script =
      lua::Script::Compile("test", absl::StrCat("local karmada = require('karmada')\n"
                                                "function Test(given) ",
                                                body, "\nend"))
          .value();
  const auto outcome = runner.Run(*script, {"Test", {json::Parse(given).value()}});
  if (!outcome.ok()) return absl::StrCat("error: ", outcome.status().message());
  return json::Write(outcome->results[0].json);
}

// Returns the conditions of clusters a, b, ... as they are merged with the options.
std::string Merged(absl::string_view statuses, absl::string_view options = "nil") {
  return Run(absl::StrCat("local items = {} for i, status in ipairs(given.statuses) do "
                          "items[i] = {clusterName = string.char(96 + i), status = status, "
                          "health = status.health} end "
                          "return karmada.mergeConditions(items, ",
                          options, ")"),
             absl::StrCat(R"({"statuses":)", statuses, "}"));
}

}  // namespace

TEST_CASE("of the conditions of clusters the worst counts") {
  const auto [first, second, merged] = GENERATE(table<std::string, std::string, std::string>({
      {"True", "True", R"("message":"a=x, b=y","status":"True")"},
      {"True", "Unknown", R"("message":"b=y","status":"Unknown")"},
      {"Unknown", "False", R"("message":"b=y","status":"False")"},
      {"False", "True", R"("message":"a=x","status":"False")"},
      {"True", "Degraded", R"("message":"b=y","status":"Degraded")"},
  }));
  const std::string statuses = absl::StrCat(
      R"([{"conditions":[{"type":"Ready","message":"x","status":")", first,
      R"("}]},{"conditions":[{"type":"Ready","message":"y","status":")", second, R"("}]}])");
  CHECK(Merged(statuses) == absl::StrCat("[{", merged, R"(,"type":"Ready"}])"));
}

TEST_CASE("of some types True is bad") {
  constexpr absl::string_view kStatuses =
      R"([{"conditions":[{"type":"Stalled","status":"False"}]},
          {"conditions":[{"type":"Stalled","status":"True","reason":"R"}]}])";
  constexpr absl::string_view kBad =
      R"([{"message":"","reason":"R","status":"True","type":"Stalled"}])";
  CHECK(Merged(kStatuses) == R"([{"message":"","status":"False","type":"Stalled"}])");
  CHECK(Merged(kStatuses, "{bad = {Stalled = true}}") == kBad);
  CHECK(Merged(kStatuses, "{good = {Ready = true}}") == kBad);
}

TEST_CASE("a type that one cluster has not reported is not True") {
  const auto [second, merged] = GENERATE(table<std::string, std::string>({
      {R"({"conditions":[{"type":"Other","status":"False"}]})",
       R"("message":"no report of b","reason":"NotReported","status":"Unknown")"},
      {"{}", R"("message":"no report of b","reason":"NotReported","status":"Unknown")"},
      // It is healthy without conditions: it has none to report.
      {R"({"health":"Healthy"})", R"("message":"a=x","reason":"R","status":"True")"},
  }));
  const std::string result = Merged(absl::StrCat(
      R"([{"conditions":[{"type":"Ready","status":"True","message":"x","reason":"R"}]},)", second,
      "]"));
  CHECK(result.substr(0, merged.size() + 2) == absl::StrCat("[{", merged));
}

TEST_CASE("what is bad somewhere stays so while another cluster has not reported") {
  CHECK(Merged(R"([{"conditions":[{"type":"Ready","status":"False"}]},{}])") ==
        R"([{"message":"","status":"False","type":"Ready"}])");
  CHECK(Merged(R"([{"conditions":[{"type":"Stalled","status":"True"}]},{}])",
               "{bad = {Stalled = true}}") ==
        R"([{"message":"","status":"True","type":"Stalled"}])");
}

TEST_CASE("a type can stand for the opposite of another one") {
  CHECK(Merged(R"([{"conditions":[{"type":"Ready","status":"True"}]},
                   {"conditions":[{"type":"NotReady","status":"True","message":"y"}]}])",
               "{bad = {NotReady = true}, opposite = {NotReady = 'Ready'}}") ==
        R"([{"message":"b=y","status":"False","type":"Ready"},)"
        R"({"message":"b=y","status":"True","type":"NotReady"}])");
}

TEST_CASE("a merged condition is about the oldest generation of the template") {
  constexpr absl::string_view kStatus =
      R"({"generation":%,"resourceTemplateGeneration":5,
          "conditions":[{"type":"Ready","status":"True","observedGeneration":2}]})";
  const std::string current = absl::StrReplaceAll(kStatus, {{"%", "2"}});
  const std::string behind = absl::StrReplaceAll(kStatus, {{"%", "3"}});
  CHECK(Merged("[" + current + "," + current + "]", "{generations = true}") ==
        R"([{"message":"","observedGeneration":5,"status":"True","type":"Ready"}])");
  CHECK(Merged("[" + current + "," + behind + "]", "{generations = true}") ==
        R"([{"message":"","status":"True","type":"Ready"}])");
}

TEST_CASE("clusters without conditions have none together") {
  CHECK(Merged("[{},{}]") == "null");
  CHECK(Merged("[]") == "null");
}

TEST_CASE("health follows a condition and the generation") {
  const auto [object, answer] = GENERATE(table<std::string, std::string>({
      {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "[true]"},
      {R"({"status":{"conditions":[{"type":"Ready","status":"False","message":"no quota"}]}})",
       R"([false,"no quota"])"},
      {R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"NoQuota"}]}})",
       R"([false,"its condition Ready is False: NoQuota"])"},
      {R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})",
       R"([false,"its condition Ready is Unknown"])"},
      {"{}", R"([false,"it has no condition Ready yet"])"},
      {R"({"metadata":{"generation":2},
           "status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}})",
       R"([false,"its controller has not seen generation 2 yet"])"},
  }));
  CHECK(Run("return {karmada.healthBy(given, 'Ready')}", object) == answer);
}

TEST_CASE("a condition may have to be about a generation") {
  constexpr absl::string_view kObject =
      R"({"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}})";
  CHECK(Run("return {karmada.holds(given, 'Ready')}", kObject) == "[true]");
  CHECK(Run("return {karmada.holds(given, 'Ready', 1)}", kObject) == "[true]");
  CHECK(Run("return {karmada.holds(given, 'Ready', 2)}", kObject) ==
        R"([false,"its controller has not seen generation 2 yet"])");
}

TEST_CASE("a state is described with the reason that is known") {
  CHECK(Run("return karmada.describe('phase', 'Failed', 'no quota')") ==
        R"("its phase is Failed: no quota")");
  CHECK(Run("return karmada.describe('phase', 'Failed', '')") == R"("its phase is Failed")");
  CHECK(Run("return karmada.describe('phase', nil, 'no quota')") == R"("it has no phase yet")");
}

TEST_CASE("a reference that lacks its kind or version is no dependency") {
  CHECK(Run("local list, add = karmada.dependencies() add('v1', 'Secret', 'a', 'ns') "
            "add(nil, 'Secret', 'a') add('v1', nil, 'a') add('v1', 'Secret', '') "
            "add('v1', 'Secret', 'a', 'ns') add('v1', 'Secret', 'a') return list") ==
        R"([{"apiVersion":"v1","kind":"Secret","name":"a","namespace":"ns"},)"
        R"({"apiVersion":"v1","kind":"Secret","name":"a"}])");
}

TEST_CASE("texts are joined as far as a condition can hold them") {
  CHECK(Run("return karmada.joined({'a', 'b'})") == R"("a, b")");
  CHECK(Run("return #karmada.joined({string.rep('x', 32000), string.rep('y', 766), 'z'})") ==
        "32768");
  CHECK(Run("return karmada.joined({string.rep('x', 40000)})") == R"("")");
}

TEST_CASE("numbers of clusters are added up where some report them") {
  constexpr absl::string_view kItems =
      R"({"items":[{"status":{"a":1,"b":""}},{},{"status":{"a":2,"b":"x"}},{"status":{"b":"y"}}]})";
  CHECK(Run("return karmada.sum(given.items, 'a')", kItems) == "3");
  CHECK(Run("return karmada.sum(given.items, 'c')", kItems) == "0");
  CHECK(Run("return karmada.total(given.items, 'c')", kItems) == "null");
  CHECK(Run("return karmada.first(given.items, 'b')", kItems) == R"("x")");
  CHECK(Run("return karmada.last(given.items, 'b')", kItems) == R"("y")");
}

TEST_CASE("the functions of the libraries are known by name") {
  for (const std::string library : {"kube", "karmada"}) {
    const std::vector<std::string> names = interpreter::customized::FunctionsOf(library);
    CHECK(names.size() > 3);
    for (const std::string& name : names) {
      CHECK(Run(absl::StrCat("return type(require('", library, "').", name, ")")) ==
            R"("function")");
    }
  }
}

TEST_CASE("the guide lists every function of the library") {
  const std::string guide = tests::ReadFile("docs/customizing.md");
  for (const std::string& name : interpreter::customized::FunctionsOf("karmada")) {
    INFO(name);
    CHECK(absl::StrContains(guide, absl::StrCat("`", name, "(")));
  }
}
