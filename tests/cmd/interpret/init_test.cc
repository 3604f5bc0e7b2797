// init, list and bench: what an author sees besides check, run and test.
#include "cmd/interpret/init.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "interpreter/customized/customization.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

TEST_CASE("What init writes has no mistakes, and its cases pass") {
  const tests::TempDirectory dir;
  std::vector<std::string> arguments = {"init",          "Widget", "--api-version",
                                        "example.io/v1", "--dir",  dir.path() + "/new"};
  for (const auto& field : interpreter::customized::ScriptFields()) {
    arguments.push_back("--operation");
    arguments.emplace_back(interpreter::OperationName(field.operation));
  }
  CHECK(RunTool(arguments).code == 0);
  const std::string rules = dir.path() + "/new/widget.yaml";
  CHECK_THAT(RunTool({"check", rules}).out, Contains("1 customization, 0 errors, 0 warnings"));
  const Ran ran = RunTool({"test", dir.path() + "/new/widget-test.yaml", "-f", rules});
  INFO(ran.out);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("8 cases: 8 passed") && !Contains("not checked"));
}

TEST_CASE("init replaces nothing unless asked to") {
  const tests::TempDirectory dir;
  const std::vector<std::string> arguments = {"init", "Widget.v1.example.io", "--dir", dir.path()};
  CHECK(RunTool(arguments).code == 0);
  const Ran again = RunTool(arguments);
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Contains("widget.yaml exists already; --force replaces it"));
  CHECK(RunTool({"init", "Widget.v1.example.io", "--dir", dir.path(), "--force"}).code == 0);
}

TEST_CASE("A kind is named with its version, or known") {
  using cmd::interpret::KindNamed;
  CHECK(*KindNamed("Widget", "example.io/v1") == kube::Gvk{"example.io", "v1", "Widget"});
  CHECK(*KindNamed("Widget.v1.example.io", "") == kube::Gvk{"example.io", "v1", "Widget"});
  CHECK(*KindNamed("Pod.v1", "") == kube::Gvk{"", "v1", "Pod"});
  CHECK(*KindNamed("Deployment", "") == kube::Gvk{"apps", "v1", "Deployment"});
  CHECK_THAT(std::string(KindNamed("Widget", "").status().message()), Contains("--api-version"));
  CHECK_THAT(std::string(KindNamed("Service", "").status().message()),
             Contains("may be v1 or serving.knative.dev/v1: give it with --api-version"));
  CHECK_FALSE(KindNamed("widgets", "example.io/v1").ok());
  CHECK(KindNamed("Widget", "example.io").status().message() ==
        "--api-version example.io is a group without a version: write example.io/v1, for example");
}

TEST_CASE("list reports the rules, the answering ones apart from those behind them") {
  const tests::TempDirectory dir;
  const std::string rules =
      dir.Write("rules.yaml", absl::StrCat(tests::kWidgetHealth,
                                           "    statusReflection:\n      luaScript: |\n"
                                           "        function ReflectStatus(o) return {} end\n"));
  const Ran ran = RunTool({"list", "widget", "-f", rules});
  CHECK_THAT(ran.out, Contains("example.io/v1   Widget   customization   widgets   "
                               "InterpretStatus,InterpretHealth"));
  CHECK_THAT(ran.out, !Contains("native"));
  CHECK_THAT(RunTool({"list", "Deployment"}).out,
             Contains("apps/v1      Deployment   native   Deployment   InterpretReplica,"));
  const auto json =
      json::Parse(RunTool({"list", "Service", "--operation", "InterpretHealth", "-o", "json"}).out);
  REQUIRE(json.ok());
  CHECK(json::Write(json->At(0)) ==
        R"({"answers":true,"apiVersion":"v1","by":"Service","kind":"Service","layer":"native",)"
        R"("operation":"InterpretHealth"})");
}

TEST_CASE("bench measures every operation that has a rule") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  const Ran ran = RunTool({"bench", web, "--time", "1ms", "-o", "json"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const json::Value list = json::Parse(ran.out).value();
  REQUIRE(list.size() == 7);
  CHECK(list.At(0)["operation"].AsString() == "InterpretReplica");
  CHECK(list.At(0)["calls"].AsInt() > 0);
  CHECK(list.At(0)["operationsPerSecond"].AsDouble() > 1000);
  CHECK(RunTool({"bench", web, "--time", "1ms", "--operation", "InterpretHealth"}).code == 0);
  CHECK(RunTool({"bench", web, "--time", "soon"}).code == 2);
}
