#include "cmd/interpret/check.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"
#include "cmd/interpret/findings.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/kube/client/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

// A customization of Widgets with one script, whose lines begin at line 11 and column 9.
std::string Customization(const std::string& field, const std::string& script) {
  std::string text = absl::StrCat(
      "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\n"
      "metadata: {name: widgets}\nspec:\n  target:\n    apiVersion: example.io/v1\n"
      "    kind: Widget\n  customizations:\n    ",
      field, ":\n      luaScript: |\n        ");
  return absl::StrCat(text, absl::StrReplaceAll(script, {{"\n", "\n        "}}), "\n");
}

Ran Check(const std::string& text) { return RunTool({"check", "-"}, text); }
Ran CheckHealth(const std::string& script) {
  return Check(Customization("healthInterpretation", script));
}

}  // namespace

TEST_CASE("A customization without mistakes is fine") {
  const Ran ran = Check(tests::kWidgetHealth);
  CHECK(ran.code == 0);
  CHECK(ran.out ==
        "ok standard input: widgets (example.io/v1 Widget): InterpretHealth\n"
        "1 customization, 0 errors, 0 warnings\n");
}

TEST_CASE("A syntax error is shown at its line in the file, with a caret below its column") {
  const Ran ran = CheckHealth("function InterpretHealth(o)\n  local x = = 1\n  return x\nend");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("standard input:12:21: error: spec.customizations."
                               "healthInterpretation.luaScript: unexpected symbol near '='\n"
                               "  12 |           local x = = 1\n"
                               "     |                     ^\n"));
}

TEST_CASE("A script that ends too early is shown where it ends") {
  const Ran ran = CheckHealth("function InterpretHealth(o)\n  return true");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("standard input:12:22: error:") && Contains("'end' expected"));
}

TEST_CASE("Documents after the first are counted from the beginning of the file") {
  const Ran ran = Check(absl::StrCat(tests::kWidgetHealth, "---\n",
                                     Customization("retention", "function Retain(a, b) end end")));
  CHECK_THAT(ran.out, Contains("standard input:26:35: error: spec.customizations.retention"));
}

TEST_CASE("In a folded block a line of the script may be several lines of the file") {
  const Ran ran = Check(absl::StrReplaceAll(
      Customization(
          "healthInterpretation",
          "function InterpretHealth(o)\nlocal a = 1\n  local b = foo\n\n  return\nbar\nend"),
      {{"luaScript: |", "luaScript: >"}}));
  CHECK_THAT(ran.out, Contains("standard input:13:21: error:") &&
                          Contains("  13 |           local b = foo\n"));
  CHECK_THAT(ran.out, Contains("standard input:16:9: error:") && Contains("  16 |         bar\n"));
  const Ran syntax = Check(absl::StrReplaceAll(
      Customization("healthInterpretation", "function InterpretHealth(o)\nlocal a = = 1\nend"),
      {{"luaScript: |", "luaScript: >"}}));
  CHECK_THAT(syntax.out,
             Contains("standard input:12:19: error:") && Contains("unexpected symbol near '='"));
}

TEST_CASE("A script that is not written as a block is counted by itself") {
  const Ran ran = Check(
      absl::StrReplaceAll(Customization("healthInterpretation", "x"),
                          {{"|\n        x", "\"function InterpretHealth(o)\\nreturn\\n= end\""}}));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("standard input:10:7: error:") && Contains("line 3 of the script"));
}

TEST_CASE("A function that is missing or called something else is found") {
  CHECK_THAT(CheckHealth("function interprethealth(o) return true end").out,
             Contains("11:18: error:") &&
                 Contains("there is no function InterpretHealth, which InterpretHealth calls: is "
                          "it interprethealth?"));
  CHECK_THAT(CheckHealth("function Retain(a, b) return a end").out,
             Contains("there is no function InterpretHealth, which InterpretHealth calls\n"));
}

TEST_CASE("A wrong number of parameters is found") {
  CHECK_THAT(CheckHealth("function InterpretHealth(a, b) return true end").out,
             Contains("called with 1 argument (observedObj), but takes 2"));
  CHECK_THAT(Check(Customization("retention", "function Retain(a) return a end")).out,
             Contains("called with 2 arguments (desiredObj, observedObj), but takes 1"));
  CHECK(CheckHealth("function InterpretHealth(...) return true end").code == 0);
}

TEST_CASE("Globals that scripts do not have are found, each where it stands") {
  const Ran ran = CheckHealth(
      "local kube = require('kube')\nfunction InterpretHealth(o)\n  os.exit(1)\n"
      "  setmetatable({}, {})\n  o.statu = statu\n  return o.x == tostring(os.time())\nend");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("13:11: error:") && Contains("the global os.exit does not exist"));
  CHECK_THAT(ran.out, Contains("14:11: error:") &&
                          Contains("setmetatable is not supported in customizations"));
  CHECK_THAT(ran.out, Contains("15:21: error:") && Contains("the global statu does not exist"));
  CHECK_THAT(ran.out, Contains("3 errors, 0 warnings"));
}

TEST_CASE("What scripts may use is no finding, and print is not called to find out") {
  const Ran ran = CheckHealth(
      "local function Both(a, b) return a and b end\nfunction InterpretHealth(o)\n"
      "  print(string.upper('x'), math.floor(1.5), next({}), _G ~= nil, unpack({1}))\n"
      "  return Both(pcall(tonumber, '1'), select('#', 1) == 1)\nend");
  CHECK_THAT(ran.out, Contains("0 errors, 0 warnings"));
  CHECK(ran.err.empty());
}

TEST_CASE("Assigning a global is a warning, which is no failure") {
  const Ran ran = CheckHealth("function InterpretHealth(o)\n  x = o\n  return x ~= nil\nend");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("12:11: warning:") && Contains("write local x"));
}

TEST_CASE("Unknown fields and wrong targets are found") {
  const Ran unknown = Check(Customization("helthInterpretation", "x"));
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.out, Contains("9:5: error: spec.customizations.helthInterpretation: unknown"));
  const auto with_target = [](const std::string& target) {
    return Check(absl::StrReplaceAll(tests::kWidgetHealth,
                                     {{"apiVersion: example.io/v1\n    kind: Widget", target}}));
  };
  CHECK_THAT(with_target("apiVersion: apps/v1").out,
             Contains("6:3: error: spec.target.kind: is required"));
  CHECK_THAT(with_target("apiVersion: a/b/c\n    kind: Widget").out,
             Contains("7:5: error: spec.target.apiVersion"));
  CHECK_THAT(with_target("apiVersion: example.io/v1\n    kind: '*'").out,
             Contains("error: spec.target: a target has no wildcards"));
  CHECK_THAT(with_target("apiVersion: apps/v1\n    kind: deployment").out,
             Contains("8:5: warning: spec.target.kind: did you mean Deployment?"));
  CHECK_THAT(with_target("apiVersion: apps/v1beta1\n    kind: Deployment").out,
             Contains("7:5: warning: spec.target.apiVersion") && Contains("for apps/v1"));
}

TEST_CASE("Two customizations that answer the same question are found") {
  const Ran ran = Check(
      absl::StrCat(tests::kWidgetHealth, "---\n",
                   absl::StrReplaceAll(tests::kWidgetHealth, {{"name: widgets", "name: others"}})));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("InterpretHealth of Widget is customized by widgets (standard "
                               "input, document 1, line 1) already"));
}

TEST_CASE("What is no customization is an error") {
  const Ran ran = Check(tests::kDeployment);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("not a ResourceInterpreterCustomization, got apps/v1"));
}

TEST_CASE("In a directory cases and other objects may lie beside customizations") {
  const tests::TempDirectory dir;
  dir.Write("widget.yaml", tests::kWidgetHealth);
  dir.Write("widget-test.yaml", "name: a case\noperation: InterpretHealth\n");
  const std::string web = dir.Write("sub/web.yaml", tests::kDeployment);
  const Ran ran = RunTool({"check", "-R", dir.path()});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("1 customization, 0 errors"));
  CHECK(
      RunTool({"run", "-R", "-f", dir.path(), "--operation", "InterpretHealth", "--observed", "-"},
              tests::kReadyWidget)
          .out == "true\n");
  CHECK(RunTool({"check", web}).code == 1);
}

TEST_CASE("Findings are told as JSON on request, with places in lists too") {
  const Ran ran =
      RunTool({"check", "-", "-o", "json"},
              "apiVersion: v1\nkind: List\nitems:\n- apiVersion: config.karmada.io/v1alpha1\n"
              "  kind: ResourceInterpreterCustomization\n  metadata: {name: w}\n  spec:\n"
              "    target: {apiVersion: example.io/v1, kind: Widget}\n    customizations:\n      "
              "other: {}\n");
  CHECK(ran.code == 1);
  const auto list = json::Parse(ran.out);
  REQUIRE(list.ok());
  CHECK(json::Write(list->At(0)) ==
        R"({"column":7,"field":"spec.customizations.other","file":"standard input","line":10,)"
        R"("message":"unknown field","severity":"error"})");
}

TEST_CASE("Files that are not there or not YAML cannot be checked") {
  CHECK(RunTool({"check", "nowhere.yaml"}).code == 2);
  CHECK(RunTool({"check"}).code == 2);
  const Ran ran = Check("a: [");
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Contains("standard input: invalid YAML at line"));
}
