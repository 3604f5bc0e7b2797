// The option --against of check, and results that look like mistakes.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;
using tests::WidgetCustomization;

struct Files {
  tests::TempDirectory directory;
  std::string widget = directory.Write("widget.yaml", tests::kReadyWidget);

  std::string Customization(const std::string& field, const std::string& script) const {
    return directory.Write("ric.yaml", WidgetCustomization(field, script));
  }
  Ran Against(const std::string& field, const std::string& script) const {
    return RunTool({"check", Customization(field, script), "--against", widget});
  }
};

constexpr char kMisspelt[] = R"(function GetReplicas(obj)
  return 1.5, {resourceRequst = {cpu = "1"}}
end)";

}  // namespace

TEST_CASE_METHOD(Files, "check --against calls every function and prints the result") {
  const Ran ran = Against("healthInterpretation", "function InterpretHealth(obj) return true end");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("widgets on Widget shop/w: InterpretHealth: true\n"));
}

TEST_CASE_METHOD(Files, "the message of a health is printed, too, and has to be a string") {
  const Ran ran = Against("healthInterpretation",
                          "function InterpretHealth(obj)\n  return false, 'not yet'\nend");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("Widget shop/w: InterpretHealth: false, \"not yet\"\n"));
  const Ran wrong =
      Against("healthInterpretation", "function InterpretHealth(obj)\n  return false, 1\nend");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, Contains("returned the number 1, not a message (a string, or nothing)"));
}

TEST_CASE_METHOD(Files, "a function that fails on the object is an error at its line") {
  const Ran ran = Against("healthInterpretation",
                          "function InterpretHealth(obj)\n  return obj.spec.x == 1\nend");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("ric.yaml:12") && Contains("error:") &&
                          Contains("1 customization, 1 error, 0 warnings"));
}

TEST_CASE_METHOD(Files, "a result of a wrong type is an error in Lua's words") {
  const Ran ran = Against("healthInterpretation", "function InterpretHealth(obj) return 'yes' end");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out,
             Contains("ric.yaml:11") && Contains("returned the string \"yes\", not a boolean"));
}

TEST_CASE_METHOD(Files, "probable mistakes in a result are warnings, with a suggestion") {
  const Ran ran = Against("replicaResource", kMisspelt);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("warning:") && Contains("returned 1.5 replicas, which count as 1"));
  CHECK_THAT(ran.out, Contains("resourceRequst; did you mean resourceRequest?"));
  CHECK_THAT(ran.out, Contains("1 customization, 0 errors, 2 warnings"));
}

TEST_CASE_METHOD(Files, "a Retain that gives another object, or loses the template, is found out") {
  widget = directory.Write("widget.yaml", absl::StrCat(tests::kReadyWidget, "\nspec: {size: 1}\n"));
  const Ran other = Against("retention", R"(function Retain(desiredObj, observedObj)
  desiredObj.metadata.name = "other"
  return desiredObj
end)");
  CHECK(other.code == 1);
  CHECK_THAT(other.out,
             Contains("the result is example.io/v1 Widget shop/other and not example.io/v1 "
                      "Widget shop/w"));
  const Ran lost = Against("retention", R"(function Retain(desiredObj, observedObj)
  return observedObj
end)");
  CHECK(lost.code == 0);
  CHECK_THAT(lost.out, Contains("warning:") && Contains("changes of the template would not reach"));
  const Ran fine = Against("retention", R"(function Retain(desiredObj, observedObj)
  desiredObj.spec.size = observedObj.spec.size
  return desiredObj
end)");
  CHECK_THAT(fine.out, Contains("0 errors, 0 warnings"));
}

TEST_CASE_METHOD(Files, "an object that no customization is about is refused") {
  const std::string web = directory.Write("web.yaml", tests::kDeployment);
  const Ran ran = RunTool(
      {"check",
       Customization("healthInterpretation", "function InterpretHealth(obj) return true end"),
       "--against", web});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Contains("none of the customizations is about Deployment (apps/v1)"));
}

TEST_CASE_METHOD(Files, "run warns of the same slips, and of negative replicas") {
  const Ran ran = RunTool({"run", "-f", Customization("replicaResource", kMisspelt), "--operation",
                           "InterpretReplica", "--desired", widget});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Contains("warning: widgets/replicaResource:1: in GetReplicas: returned a "
                               "field that does not exist and is left out: resourceRequst; did "
                               "you mean resourceRequest?"));
  const Ran negative = RunTool(
      {"run", "-f", Customization("replicaResource", "function GetReplicas(obj) return -1 end"),
       "--operation", "InterpretReplica", "--desired", widget});
  CHECK(negative.code == 0);
  CHECK_THAT(negative.err, Contains("returned -1 replicas"));
}

TEST_CASE_METHOD(Files,
                 "test warns of probable mistakes, and gives advice when no layer has a rule") {
  const std::string cases = directory.Write("cases.yaml", R"(name: one
operation: InterpretReplica
desiredObj: {apiVersion: example.io/v1, kind: Widget}
output: {replica: 1}
)");
  const Ran warned = RunTool({"test", cases, "-f", Customization("replicaResource", kMisspelt)});
  CHECK(warned.code == 0);
  CHECK_THAT(warned.out, Contains("warning:") && Contains("resourceRequst"));
  const Ran lost = RunTool({"test", cases});
  CHECK(lost.code == 1);
  CHECK_THAT(lost.out, Contains("no layer has a rule for InterpretReplica of Widget "
                                "(example.io/v1): name the customization with -f FILE"));
}

TEST_CASE("a name that kubectl would refuse is an error") {
  std::string text = tests::kWidgetHealth;
  const size_t name = text.find("widgets");
  const Ran ran = RunTool({"check", "-"}, text.replace(name, 7, "My_Widgets"));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("standard input:3:12: error: metadata.name"));
}

TEST_CASE("misspelt kinds, operations and flags get a suggestion") {
  const Ran kind = RunTool({"list", "Deploymnt"});
  CHECK(kind.code == 2);
  CHECK_THAT(kind.err, Contains("did you mean Deployment?"));
  const Ran operation = RunTool({"list", "--operation", "InterpretHelth"});
  CHECK(operation.code == 2);
  CHECK_THAT(operation.err, Contains("did you mean InterpretHealth? There are InterpretReplica"));
  const Ran flag = RunTool({"run", "--opration", "InterpretHealth"});
  CHECK(flag.code == 2);
  CHECK_THAT(flag.err, Contains("there is no flag --opration; did you mean --operation?"));
}
