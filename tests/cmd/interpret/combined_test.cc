// The flag --combined-customizations: additional targets, and several customizations that retain.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/cmd/interpret/live_fleet.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

constexpr char kGate[] = "--combined-customizations";

// Returns a customization of this name whose retention adds the name to spec.by.
std::string Retaining(const std::string& name, const std::string& target = "Widget") {
  return absl::StrReplaceAll(
      tests::WidgetCustomization("retention",
                                 absl::StrCat(R"(function Retain(desiredObj, observedObj)
  desiredObj.spec.by = (desiredObj.spec.by or "") .. ")",
                                              name, R"("
  return desiredObj
end)")),
      {{"{name: widgets}", absl::StrCat("{name: ", name, "}")},
       {"kind: Widget", absl::StrCat("kind: ", target)}});
}

// Adds an additional target.
std::string Also(const std::string& customization, const std::string& api_version,
                 const std::string& kind) {
  return absl::StrReplaceAll(
      customization, {{"spec:\n", absl::StrCat("spec:\n  additionalTargets:\n  - apiVersion: ",
                                               api_version, "\n    kind: \"", kind, "\"\n")}});
}

constexpr char kWidget[] = R"(apiVersion: example.io/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {size: 1}
)";

struct Files {
  tests::TempDirectory directory;
  std::string widget = directory.Write("widget.yaml", kWidget);
  std::string rules = directory.Write(
      "rules.yaml",
      absl::StrCat(Retaining("b"), "---\n", Also(Retaining("a", "Gadget"), "example.io/*", "*")));

  Ran Retain(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"run",  "--operation",     "Retain", "--desired-file",
                                          widget, "--observed-file", widget,   "-f",
                                          rules};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTool(arguments);
  }
};

}  // namespace

TEST_CASE("Combined: run lets all customizations of the kind retain with the flag only") {
  Files files;
  const Ran with = files.Retain({kGate});
  INFO(with.err);
  CHECK(with.code == 0);
  CHECK_THAT(with.out, Contains("by: ab\n"));
  CHECK_THAT(with.err, !Contains("warning"));
  const Ran without = files.Retain();
  CHECK(without.code == 0);
  CHECK_THAT(without.out, Contains("by: b\n"));
  CHECK_THAT(without.err,
             Contains("warning: a: spec.additionalTargets: has no effect without the feature gate "
                      "CombinedCustomizations"));
}

TEST_CASE("Combined: a trace names all that retain") {
  Files files;
  const Ran ran = files.Retain({kGate, "--trace"});
  INFO(ran.err);
  CHECK_THAT(absl::StrCat(ran.out, ran.err), Contains("a,b"));
}

TEST_CASE("Combined: check warns of additional targets unless the flag is given") {
  const std::string text = Also(Retaining("a"), "example.io/v1", "Gadget");
  const Ran without = RunTool({"check", "-"}, text);
  CHECK(without.code == 0);
  CHECK_THAT(without.out, Contains("standard input:5:3: warning: spec.additionalTargets: has no "
                                   "effect without the feature gate CombinedCustomizations"));
  const Ran with = RunTool({"check", "-", kGate}, text);
  CHECK(with.code == 0);
  CHECK_THAT(with.out, Contains("0 errors, 0 warnings"));
}

TEST_CASE("Combined: check looks at additional targets, each where it stands") {
  const auto check = [](const std::string& api_version, const std::string& kind) {
    return RunTool({"check", "-", kGate}, Also(Retaining("a"), api_version, kind));
  };
  CHECK_THAT(check("apps/v1", "deployment").out,
             Contains("standard input:7:5: warning: spec.additionalTargets[0].kind: did you mean "
                      "Deployment?"));
  CHECK_THAT(check("apps", "Deployment").out,
             Contains("error: spec.additionalTargets[0].apiVersion: \"apps\" matches nothing"));
  CHECK_THAT(check("apps/v1", "Deploy*").out,
             Contains("error: spec.additionalTargets[0]: a wildcard is the whole kind"));
  CHECK_THAT(check("apps/*", "*").out,
             Contains("warning: spec.additionalTargets[0]: includes kinds that Karmada knows, such "
                      "as apps/v1 DaemonSet: its own rules for the same operations are not asked"));
}

TEST_CASE("Combined: check knows which customizations stand beside each other") {
  const auto check = [](const std::vector<std::string>& texts) {
    return RunTool({"check", "-", kGate}, absl::StrJoin(texts, "---\n"));
  };
  const Ran refused = check({Retaining("a"), Retaining("b")});
  CHECK(refused.code == 0);
  CHECK_THAT(refused.out,
             Contains("warning: spec.customizations.retention: Retain of Widget is customized by a "
                      "(standard input") &&
                 Contains("already; both retain, but Karmada's admission refuses the second"));
  const Ran beside =
      check({Retaining("a"), Also(Retaining("b", "Gadget"), "example.io/v1", "Widget")});
  CHECK_THAT(beside.out, Contains("0 errors, 0 warnings"));
  const std::string health = absl::StrReplaceAll(
      tests::kWidgetHealth, {{"name: widgets", "name: b"}, {"kind: Widget", "kind: Gadget"}});
  const Ran rivals = check({tests::kWidgetHealth, Also(health, "example.io/v1", "Widget")});
  CHECK(rivals.code == 0);
  CHECK_THAT(rivals.out, Contains("warning: ") && Contains("of the two, the first name answers"));
}

TEST_CASE("Combined: check --against takes a kind of the additional targets") {
  Files files;
  const std::string text = Also(Retaining("a", "Gadget"), "example.io/*", "Widget");
  CHECK(RunTool({"check", "-", "--against", files.widget}, text).code == 2);
  const Ran ran = RunTool({"check", "-", "--against", files.widget, kGate}, text);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("a on Widget shop/w: Retain: "));
}

TEST_CASE("Combined: list shows rules for wildcards, of files and of a control plane") {
  Files files;
  const Ran ran = RunTool({"list", "-f", files.rules, kGate, "--no-shipped", "--no-native"});
  CHECK_THAT(ran.out, Contains("example.io/*") && Contains("a,b"));
  tests::LiveFleet live(0);
  live.Create("karmada", {Also(Retaining("a", "Gadget"), "example.io/*", "*")});
  const Ran with = live.Run({"list", "Widget", kGate});
  CHECK_THAT(with.out, Contains("example.io/v1 Gadget,example.io/* *"));
  const Ran without = live.Run({"list"});
  CHECK_THAT(without.out, Contains("example.io/v1 Gadget ") && !Contains("example.io/*"));
  CHECK_THAT(without.err, Contains("spec.additionalTargets: has no effect without"));
}
