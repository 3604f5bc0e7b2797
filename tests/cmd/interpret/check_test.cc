#include "cmd/interpret/check.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;
using tests::WidgetCustomization;

Ran Check(const std::string& text) { return RunTool({"check", "-"}, text); }
Ran CheckHealth(const std::string& script) {
  return Check(WidgetCustomization("healthInterpretation", script));
}

}  // namespace

TEST_CASE("A customization without mistakes is fine") {
  const Ran ran = Check(tests::kWidgetHealth);
  CHECK(ran.code == 0);
  CHECK(ran.out ==
        "ok standard input: widgets (example.io/v1 Widget): InterpretHealth\n"
        "1 customization, 0 errors, 0 warnings\n");
}

TEST_CASE("What a customization takes away from shipped and built-in rules is named") {
  const auto about = [](const char* api_version, const char* kind) {
    return Check(absl::StrReplaceAll(tests::kWidgetHealth,
                                     {{"example.io/v1", api_version}, {"Widget", kind}}));
  };
  CHECK_THAT(about("apps/v1", "Deployment").out,
             Contains("\n   answers instead of the built-in rules for InterpretHealth\n"));
  CHECK_THAT(about("apps.kruise.io/v1alpha1", "CloneSet").out,
             Contains("\n   answers instead of the shipped rules for InterpretHealth\n"));
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
  const Ran ran =
      Check(absl::StrCat(tests::kWidgetHealth, "---\n",
                         WidgetCustomization("retention", "function Retain(a, b) end end")));
  CHECK_THAT(ran.out, Contains("standard input:25:35: error: spec.customizations.retention"));
}

TEST_CASE("In a folded block a line of the script may be several lines of the file") {
  const Ran ran = Check(absl::StrReplaceAll(
      WidgetCustomization(
          "healthInterpretation",
          "function InterpretHealth(o)\nlocal a = 1\n  local b = foo\n\n  return\nbar\nend"),
      {{"luaScript: |", "luaScript: >"}}));
  CHECK_THAT(ran.out, Contains("standard input:13:21: error:") &&
                          Contains("  13 |           local b = foo\n"));
  CHECK_THAT(ran.out, Contains("standard input:16:9: error:") && Contains("  16 |         bar\n"));
  const Ran syntax = Check(
      absl::StrReplaceAll(WidgetCustomization("healthInterpretation",
                                              "function InterpretHealth(o)\nlocal a = = 1\nend"),
                          {{"luaScript: |", "luaScript: >"}}));
  CHECK_THAT(syntax.out,
             Contains("standard input:12:19: error:") && Contains("unexpected symbol near '='"));
}

TEST_CASE("A script that is not written as a block is counted by itself") {
  const Ran ran = Check(
      absl::StrReplaceAll(WidgetCustomization("healthInterpretation", "x"),
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
  CHECK_THAT(Check(WidgetCustomization("retention", "function Retain(a) return a end")).out,
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

TEST_CASE("What scripts may use is not a finding, and print is not called to find out") {
  const Ran ran = CheckHealth(
      "local function Both(a, b) return a and b end\nfunction InterpretHealth(o)\n"
      "  print(string.upper('x'), math.floor(1.5), next({}), _G ~= nil, unpack({1}))\n"
      "  return Both(pcall(tonumber, '1'), select('#', 1) == 1)\nend");
  CHECK_THAT(ran.out, Contains("0 errors, 0 warnings"));
  CHECK(ran.err.empty());
}

TEST_CASE("Assigning a global is a warning, which is not a failure") {
  const Ran ran = CheckHealth("function InterpretHealth(o)\n  x = o\n  return x ~= nil\nend");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("12:11: warning:") && Contains("write local x"));
}

TEST_CASE("Unknown fields and wrong targets are found") {
  const Ran unknown = Check(WidgetCustomization("helthInterpretation", "x"));
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.out, Contains("9:5: error: spec.customizations.helthInterpretation: unknown"));
  const auto with_target = [](const std::string& target) {
    return Check(absl::StrReplaceAll(tests::kWidgetHealth,
                                     {{"apiVersion: example.io/v1\n    kind: Widget", target}}));
  };
  CHECK_THAT(with_target("apiVersion: apps/v1").out,
             Contains("5:3: error: spec.target.kind: is required"));
  CHECK_THAT(with_target("apiVersion: a/b/c\n    kind: Widget").out,
             Contains("6:5: error: spec.target.apiVersion"));
  CHECK_THAT(with_target("apiVersion: example.io/v1\n    kind: '*'").out,
             Contains("error: spec.target: a target has no wildcards"));
  CHECK_THAT(with_target("apiVersion: apps/v1\n    kind: deployment").out,
             Contains("7:5: warning: spec.target.kind: did you mean Deployment?"));
  CHECK_THAT(with_target("apiVersion: apps/v1beta1\n    kind: Deployment").out,
             Contains("6:5: warning: spec.target.apiVersion") && Contains("for apps/v1"));
}

TEST_CASE("Two customizations that answer the same question are found") {
  const Ran ran = Check(
      absl::StrCat(tests::kWidgetHealth, "---\n",
                   absl::StrReplaceAll(tests::kWidgetHealth, {{"name: widgets", "name: others"}})));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("InterpretHealth of Widget is customized by widgets (standard "
                               "input, document 1, line 1) already"));
}

TEST_CASE("Check looks at webhook configurations as admission does") {
  const std::string head =
      "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterWebhookConfiguration\n"
      "metadata: {name: hooks}\nwebhooks:\n- name: w.example.com\n"
      "  interpreterContextVersions: [v1alpha1]\n  rules:\n"
      "  - {operations: [Retain], apiGroups: [a], apiVersions: [v1], kinds: [Widget]}\n";
  const Ran bad = RunTool({"check", "-"}, head);
  INFO(bad.out << bad.err);
  CHECK(bad.code == 1);
  CHECK_THAT(bad.out, Contains("error: webhooks[0].clientConfig"));
  const Ran fine = RunTool({"check", "-"}, head + "  clientConfig: {url: 'https://h/p'}\n");
  INFO(fine.out << fine.err);
  CHECK(fine.code == 0);
  CHECK_THAT(fine.out, Contains("0 customizations, 1 webhook configuration, 0 errors"));
}

TEST_CASE("What is not a customization is an error") {
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

TEST_CASE("Findings are reported as JSON on request, with places in lists too") {
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

TEST_CASE("Files that are not there cannot be checked") {
  CHECK(RunTool({"check", "nowhere.yaml"}).code == 2);
  CHECK(RunTool({"check"}).code == 2);
}

TEST_CASE("What cannot be read does not hide the findings in the rest") {
  const tests::TempDirectory dir;
  const std::string bad = dir.Write("bad.yaml", WidgetCustomization("helthInterpretation", "x"));
  const Ran ran = RunTool({"check", "nowhere.yaml", bad, "-o", "json"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Contains("\"nowhere.yaml\" is neither a file"));
  CHECK_THAT(ran.out, Contains("helthInterpretation"));
}

TEST_CASE("What is not YAML is a finding with its place, and the rest is checked") {
  const tests::TempDirectory dir;
  dir.Write("a.yaml", absl::StrCat("kind: Widget\nspec:\n  a: b: c\n---\n", tests::kWidgetHealth));
  dir.Write("b.yaml", WidgetCustomization("helthInterpretation", "x"));
  dir.Write("c.yaml", "a: [\n");
  const Ran ran = RunTool({"check", dir.path()});
  CHECK(ran.code == 1);
  CHECK(ran.err.empty());
  CHECK_THAT(ran.out, Contains(absl::StrCat(dir.path(), "/a.yaml:3:7: error: invalid YAML: ")) &&
                          Contains("  3 |   a: b: c\n    |       ^\n"));
  CHECK_THAT(ran.out, Contains("ok " + dir.path() + "/a.yaml, document 2, line 4: widgets"));
  CHECK_THAT(ran.out, Contains("/b.yaml:9:5: error:") && Contains("/c.yaml:2:1: error: invalid"));
  CHECK_THAT(ran.out, Contains("2 customizations, 3 errors"));
  const auto list = json::Parse(RunTool({"check", dir.path(), "-o", "json"}).out);
  REQUIRE(list.ok());
  CHECK(list->size() == 3);
  CHECK(list->At(0)["line"] == 3);
  CHECK(list->At(0)["column"] == 7);
}

TEST_CASE("What is not an object at all is a finding, too") {
  const Ran ran = Check("a: 1\n---\nb: 2\n");
  CHECK(ran.code == 1);
  CHECK_THAT(
      ran.out,
      Contains("standard input:1:1: error: not a Kubernetes object: apiVersion is missing") &&
          Contains("0 customizations, 2 errors"));
}

TEST_CASE("A function that is something else is found, by whatever means it is made") {
  CHECK_THAT(
      CheckHealth("x = 1\nInterpretHealth = 3").out,
      Contains("12:9: error:") &&
          Contains("InterpretHealth must be a function, which InterpretHealth calls, but is a "
                   "number"));
  CHECK_THAT(
      CheckHealth("function InterpretHealth(o) return true end\n_G.InterpretHealth = {}").out,
      Contains("but is a table"));
  const Ran by_name = CheckHealth(
      "_G.InterpretHealth = function(o) return helper(o) end\n_G['helper'] = function() end");
  CHECK_THAT(by_name.out, Contains("0 errors, 0 warnings"));
  CHECK_THAT(CheckHealth("local t = {InterpretHealth = 1}\nfunction Setup()\n"
                         "  function InterpretHealth(o) return true end\nend")
                 .out,
             Contains("there is no function InterpretHealth"));
}

TEST_CASE("A function that is local is reported to be local, at its line") {
  for (const char* script : {"local x = 1\nlocal function InterpretHealth(o) return true end",
                             "local x = 1\nlocal InterpretHealth = function(o) return true end"}) {
    const Ran ran = CheckHealth(script);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Contains("standard input:12:") &&
                            Contains("the one here is local; leave out \"local\""));
  }
}

TEST_CASE("Members that a library lacks are found, however it is called") {
  const Ran ran = CheckHealth(
      "local k = require(\"kube\")\nfunction InterpretHealth(o)\n"
      "  local a = k.resourceAd(o.a) == require('kube').foo\n"
      "  return a and k.resourceAdd('1') == require \"kube\" . bar\nend");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("13:23: error:") &&
                          Contains("kube has no resourceAd: it is nil; is it resourceAdd?"));
  CHECK_THAT(ran.out, Contains("13:58: error:") && Contains("kube has no foo: it is nil\n"));
  CHECK_THAT(ran.out, Contains("14:63: error:") && Contains("kube has no bar"));
  CHECK_THAT(ran.out, Contains("3 errors"));
  // A variable that may hold something other than the module is not checked.
  CHECK(
      CheckHealth("local k = require('kube')\nfunction InterpretHealth(k) return k.foo end").code ==
      0);
}

TEST_CASE("Modules that do not exist are found, but not those that the script provides") {
  const Ran top = CheckHealth(
      "local json = require(\"json\")\nfunction InterpretHealth(o) return json ~= nil end");
  CHECK(top.code == 1);
  CHECK_THAT(top.out, Contains("11:30: error:") && Contains("there is no module \"json\"") &&
                          Contains("1 error,"));
  CHECK_THAT(CheckHealth("function InterpretHealth(o)\n  return require('json').x\nend").out,
             Contains("12:26: error:") && Contains("there is no module") && Contains("1 error,"));
  for (const char* provided :
       {"package.preload.json = function() return {x = true} end\n",
        "package.preload['json'] = function() return {x = true} end\n",
        "local p = package.preload\np.json = function() return {x = true} end\n",
        "package.loaded.json = {x = true}\n"}) {
    const Ran ran = CheckHealth(
        absl::StrCat(provided, "function InterpretHealth(o) return require('json').x end"));
    INFO(ran.out);
    CHECK(ran.code == 0);
  }
  CHECK(CheckHealth("function InterpretHealth(o) return pcall(require, 'json') end").code == 0);
}

TEST_CASE("A script whose top level fails in every run is found") {
  const Ran ran = CheckHealth("local a = nil\nlocal b = a.b\nfunction InterpretHealth(o) end");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out,
             Contains("12:9: error:") && Contains("every run fails here: attempt to index"));
}

TEST_CASE("A target that no server can have is an error") {
  const auto with_target = [](const std::string& api_version, const std::string& kind) {
    return Check(absl::StrReplaceAll(
        tests::kWidgetHealth, {{"apiVersion: example.io/v1\n    kind: Widget",
                                absl::StrCat("apiVersion: ", api_version, "\n    kind: ", kind)}}));
  };
  const Ran group = with_target("apps", "Deployment");
  CHECK(group.code == 1);
  CHECK_THAT(group.out,
             Contains("6:5: error: spec.target.apiVersion: \"apps\" matches nothing: it is "
                      "\"v1\" or GROUP/VERSION, such as apps/v1\n"));
  CHECK(with_target("apps/", "Deployment").code == 1);
  CHECK(with_target("v2", "Pod").code == 1);
  CHECK(with_target("v1", "Pod").code == 0);
  CHECK(with_target("example.io/stable", "Widget").code == 0);
}

TEST_CASE("A name that a map has twice is an error, in lists where it stands") {
  const Ran ran = Check(absl::StrCat(
      "---\n",
      absl::StrReplaceAll(tests::kWidgetHealth,
                          {{"  customizations:", "  target: {kind: Other}\n  customizations:"}})));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("standard input:9:3: error: spec.target: is here twice, first in "
                               "line 6; only this one counts\n"));
  const Ran list = Check(
      R"({"kind":"List","apiVersion":"v1","items":[{"apiVersion":"config.karmada.io/v1alpha1",)"
      R"("kind":"ResourceInterpreterCustomization","metadata":{"name":"w","name":"v"},"spec":{)"
      R"("target":{"apiVersion":"a.io/v1","kind":"A"},"customizations":{}}}]})");
  CHECK_THAT(list.out, Contains("error: metadata.name: is here twice, first in line 1"));
}

TEST_CASE("Of a script in JSON its own line is shown, of a long line a part") {
  const std::string script = R"(function InterpretHealth(o)\n\treturn statu\nend)";
  const Ran ran = Check(absl::StrCat(
      R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization",)"
      R"("metadata":{"name":"w","annotations":{"a":")",
      std::string(5000, 'x'), R"("}},"spec":{"target":{"apiVersion":"a.io/v1","kind":"A"},)",
      R"("customizations":{"healthInterpretation":{"luaScript":")", script,
      R"("},"retentoin":{}}}})"));
  CHECK_THAT(ran.out, Contains("line 2 of the script: the global statu does not exist: it is nil\n"
                               "  2 | \treturn statu\n    | \t       ^\n"));
  CHECK_THAT(ran.out, Contains("unknown field\n  1 | ...") && Contains("\"retentoin\":{}}}}\n"));
  CHECK(ran.out.size() < 1200);
}
