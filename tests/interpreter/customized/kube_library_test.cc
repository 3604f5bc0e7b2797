// The library "kube", called as scripts call it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "interpreter/customized/kube_library.h"
#include "lua/script_runner.h"

namespace {

constexpr absl::string_view kTemplate = R"({"spec":{
  "serviceAccountName": "robot",
  "nodeSelector": {"disk": "ssd"},
  "containers": [{"resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
                  "envFrom": [{"configMapRef": {"name": "b"}}, {"configMapRef": {"name": "a"}}]}]}})";

// Returns the result of `kube.<call>` as JSON; "error: ..." when it raises. In the call, `template`
// is the template above.
std::string Call(absl::string_view call, absl::string_view given = kTemplate,
                 const interpreter::RequirementRules& rules = {}) {
  lua::ScriptRunner::Options options;
  options.libraries.push_back(interpreter::customized::KubeLibrary(rules));
  const lua::ScriptRunner runner(options);
  const auto script = lua::Script::Compile("test", absl::StrCat("local kube = require('kube')\n"
                                                                "function Test(template)\n"
                                                                "  local result = kube.",
                                                                call, "\n  return result\nend"))
                          .value();
  const auto outcome = runner.Run(*script, {"Test", {json::Parse(given).value()}});
  if (!outcome.ok()) return absl::StrCat("error: ", outcome.status().message());
  return json::Write(outcome->results[0].json);
}

}  // namespace

TEST_CASE("scripts add quantities") {
  const auto [call, sum] = GENERATE(table<std::string, std::string>({
      {"resourceAdd()", "\"0\""},
      {"resourceAdd(nil, nil)", "\"0\""},
      {"resourceAdd('1', '500m')", "\"1500m\""},
      {"resourceAdd(nil, '1Gi', '1G')", "\"2073741824\""},
      {"resourceAdd('1G', '1Gi')", "\"2073741824\""},
      {"resourceAdd('512Mi', '512Mi')", "\"1Gi\""},
  }));
  CHECK(Call(call) == sum);
}

TEST_CASE("scripts read quantities as numbers") {
  const auto [call, value] = GENERATE(table<std::string, std::string>({
      {"getResourceQuantity('384m')", "0.384"},
      {"getResourceQuantity('1Gi')", "1073741824"},
      {"getResourceQuantity(nil)", "0"},
  }));
  CHECK(Call(call) == value);
}

TEST_CASE("scripts get a template's priority class where it counts, with other requirements only") {
  const interpreter::RequirementRules rules{.priority_class = true};
  const std::string call = "accuratePodRequirements(template)";
  const char* selecting = R"({"spec":{"nodeSelector":{},"priorityClassName":"high"}})";
  CHECK(Call(call, selecting, rules) == R"({"nodeClaim":{},"priorityClassName":"high"})");
  CHECK(Call(call, selecting) == R"({"nodeClaim":{}})");
  CHECK(Call(call, R"({"spec":{"priorityClassName":"high"}})", rules) == "null");
  CHECK(Call(call, R"({"spec":{"nodeSelector":{}}})", rules) == R"({"nodeClaim":{}})");
}

TEST_CASE("scripts get the requirements of a pod template, or nil") {
  CHECK(Call("accuratePodRequirements(template)") ==
        R"({"nodeClaim":{"nodeSelector":{"disk":"ssd"}},)"
        R"("resourceRequest":{"cpu":"1","memory":"1Gi"}})");
  CHECK(Call("accuratePodRequirements(template)", R"({"spec":{"containers":[{}]}})") == "null");
  CHECK(Call("accuratePodRequirements({})") == "null");
}

TEST_CASE("pod templates with wrong types are errors") {
  const auto [call, error] = GENERATE(table<std::string, std::string>({
      {"accuratePodRequirements({spec={containers='x'}})", R"(spec.containers: "x" is not a list)"},
      {"accuratePodRequirements({spec={nodeSelector='x'}})",
       R"(spec.nodeSelector: "x" is not an object)"},
      {"accuratePodRequirements({spec={tolerations={{key=1}}}})",
       "spec.tolerations[0].key: 1 is not a string"},
      {"accuratePodRequirements({spec='x'})", R"(spec: "x" is not an object)"},
      {"getPodDependencies({spec={volumes='x'}}, 'n')", R"(spec.volumes: "x" is not a list)"},
      {"getPodDependencies({spec={containers={{env={{valueFrom=1}}}}}}, 'n')",
       "spec.containers[0].env[0].valueFrom: 1 is not an object"},
  }));
  CHECK_THAT(Call(call), Catch::Matchers::Contains(error));
}

// `{}` in a script may be an object or a list.
TEST_CASE("empty tables in a pod template are nothing") {
  CHECK(Call("accuratePodRequirements({spec={containers={{resources={requests={}}}},"
             " nodeSelector={}, tolerations={}, affinity={}}})") == "null");
  CHECK(Call("getPodDependencies({spec={volumes={}, imagePullSecrets={},"
             " containers={{env={}, envFrom={}}}}}, 'n')") == "[]");
  CHECK(Call("accuratePodRequirements(template)", R"({"spec":{"containers":{},"affinity":[]}})") ==
        "null");
}

TEST_CASE("quantities of scripts have no bound") {
  CHECK(Call("resourceAdd('1e30')") == "\"1e30\"");
  CHECK(Call("resourceAdd('1e30', '1')") == "\"1000000000000000000000000000001\"");
  CHECK(Call("getResourceQuantity('1e40')") == "1e+40");
  CHECK_THAT(Call("getResourceQuantity('1e400')"), Catch::Matchers::Contains("too large"));
}

TEST_CASE("scripts get the references of a pod template, or an empty list") {
  const auto references = [](absl::string_view ns) {
    std::string text = "[";
    for (const auto& [kind, name] : std::vector<std::pair<std::string, std::string>>{
             {"ConfigMap", "a"}, {"ConfigMap", "b"}, {"ServiceAccount", "robot"}}) {
      absl::StrAppend(&text, text.size() == 1 ? "" : ",", R"({"apiVersion":"v1","kind":")", kind,
                      R"(","name":")", name, "\"", ns, "}");
    }
    return text + "]";
  };
  CHECK(Call("getPodDependencies(template, 'shop')") == references(R"(,"namespace":"shop")"));
  CHECK(Call("getPodDependencies(template, 7)") == references(R"(,"namespace":"7")"));
  CHECK(Call("getPodDependencies(template, nil)") == references(R"(,"namespace":"default")"));
  CHECK(Call("getPodDependencies(template, '')") == references(""));
  CHECK(Call("getPodDependencies({}, 'shop')") == "[]");
}

TEST_CASE("wrong arguments raise an error") {
  const auto [call, message] = GENERATE(table<std::string, std::string>({
      {"resourceAdd('1', 2)", "bad argument #2 to resourceAdd (string expected, got number)"},
      {"resourceAdd('much')", "quantities must match the regular expression"},
      {"accuratePodRequirements()", "getPodRequirements only accepts one argument"},
      {"accuratePodRequirements({}, {})", "getPodRequirements only accepts one argument"},
      {"accuratePodRequirements(nil)",
       "bad argument #1 to accuratePodRequirements (table expected, got nil)"},
      {"accuratePodRequirements({spec = {containers = {{resources = {limits = {cpu = 'x'}}}}}})",
       "quantities must match the regular expression"},
      {"getPodDependencies({})", "getPodDependencies only accepts two argument"},
      {"getPodDependencies('x', 'y')",
       "bad argument #1 to getPodDependencies (table expected, got string)"},
      {"getPodDependencies({}, {})",
       "bad argument #2 to getPodDependencies (string expected, got table)"},
      {"getResourceQuantity()", "getResourceQuantity only accepts one argument"},
      {"getResourceQuantity(1)",
       "bad argument #1 to getResourceQuantity (string expected, got number)"},
      {"getResourceQuantity('-1')", "getResourceQuantity: -1 is negative or too large"},
  }));
  CHECK_THAT(Call(call), Catch::StartsWith("error: test:3: "));
  CHECK_THAT(Call(call), Catch::Contains(message));
}
