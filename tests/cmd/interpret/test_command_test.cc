// The sub-command `test`.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "cmd/interpret/junit.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

constexpr char kCases[] = R"(# Cases of Widgets.
name: ready
operation: InterpretHealth
observedObj: {apiVersion: example.io/v1, kind: Widget, status: {ready: true}}
output: {healthy: true}
---
name: not <ready>
operation: interprethealth
observedObj: {apiVersion: example.io/v1, kind: Widget}
output: {healthy: true}
)";

}  // namespace

TEST_CASE("A line per case, a diff for a failure, and exit code 1") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetHealth);
  const std::string cases = dir.Write("cases.yaml", kCases);
  const Ran ran = RunTool({"test", "--customization", rules, cases});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains(absl::StrCat("ok   ", cases, ":2 InterpretHealth ready\n")));
  CHECK_THAT(ran.out, Contains(absl::StrCat("FAIL ", cases, ":7 InterpretHealth not <ready>\n")));
  CHECK_THAT(ran.out, Contains("     -true\n     +false\n"));
  CHECK_THAT(ran.out, Contains("2 cases: 1 passed, 1 failed"));
}

TEST_CASE("Quiet reports failures only") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetHealth);
  const Ran ran = RunTool({"test", "-", "-q", "-f", rules}, kCases);
  CHECK_THAT(ran.out, !Contains("ok  ") && Contains("FAIL standard input:7"));
}

TEST_CASE("Directories are searched recursively, and manifests in them are not cases") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("v1/Widget/customizations.yaml", tests::kWidgetHealth);
  dir.Write("v1/Widget/testdata/health-test.yaml", std::string(kCases).substr(0, 150));
  dir.Write("v1/Widget/testdata/health-test.yaml",
            "name: ready\noperation: InterpretHealth\n"
            "observedObj: {apiVersion: example.io/v1, kind: Widget, status: {ready: true}}\n"
            "output: {healthy: true}\n");
  const Ran ran = RunTool({"test", dir.path(), "-f", rules});
  INFO(ran.out);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("1 case: 1 passed, 0 failed"));
}

TEST_CASE("A document that is not a case fails where it stands") {
  const Ran ran = RunTool({"test", "-"}, "name: a\noperation: Dance\n---\nname: [\n");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("FAIL standard input:1 not a case") && Contains("Dance"));
  CHECK_THAT(ran.out, Contains("2 cases: 0 passed, 2 failed"));
}

TEST_CASE("The outcome is written as JUnit XML") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetHealth);
  const std::string report = dir.path() + "/report.xml";
  CHECK(RunTool({"test", "-", "-f", rules, "--junit", report}, kCases).code == 1);
  const std::string xml = base::ReadFile(report).value();
  CHECK_THAT(xml, Contains("<testsuite name=\"standard input\" tests=\"2\" failures=\"1\""));
  CHECK_THAT(xml, Contains("<testcase name=\"ready\" classname=\"InterpretHealth\"") &&
                      Contains("name=\"not &lt;ready&gt;\"") &&
                      Contains("<failure message=\"healthy (-want +got):\">"));
}

TEST_CASE("A suite for each file") {
  const std::string xml = cmd::interpret::JUnitXml({{.file = "a", .passed = true},
                                                    {.file = "b", .report = "x\x01\n"},
                                                    {.file = "b", .passed = true}});
  CHECK_THAT(xml, Contains("<testsuite name=\"a\" tests=\"1\" failures=\"0\"") &&
                      Contains("<testsuite name=\"b\" tests=\"2\" failures=\"1\"") &&
                      Contains("<failure message=\"x?\">"));
}

TEST_CASE("What is not UTF-8, or no character of XML, is replaced in a report") {
  const std::string xml = cmd::interpret::JUnitXml(
      {{.file = "a\xff<", .name = "\xc3\xa9", .report = "b\xed\xa0\x80 \xef\xbf\xbf"}});
  CHECK_THAT(xml, Contains("<testsuite name=\"a\xef\xbf\xbd&lt;\"") &&
                      Contains("name=\"\xc3\xa9\"") && Contains(" \xef\xbf\xbd</failure>"));
  CHECK_THAT(xml, !Contains("\xed\xa0\x80"));
}

TEST_CASE("Nothing to run is not a success") {
  const tests::TempDirectory dir;
  CHECK(RunTool({"test", dir.path()}).code == 2);
  CHECK(RunTool({"test", dir.path() + "/none"}).code == 2);
  CHECK(RunTool({"test"}).code == 2);
}
