// How customizations are read.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/yaml.h"
#include "interpreter/customized/customization.h"

namespace {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::ParseCustomization;
using interpreter::customized::ParseCustomizations;
using interpreter::customized::Problem;

Customization Parse(absl::string_view text) {
  return ParseCustomization(kube::Object(yaml::Parse(text).value()));
}

std::string Problems(const Customization& customization) {
  return absl::StrJoin(customization.problems, "; ", [](std::string* out, const Problem& problem) {
    out->append(problem.ToString());
  });
}

// Returns a customization with this spec, in flow style.
Customization ParseSpec(absl::string_view spec) {
  return Parse(absl::StrCat(
      "{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, "
      "metadata: {name: my-ric}, spec: ",
      spec, "}"));
}

constexpr absl::string_view kTarget = "target: {apiVersion: apps/v1, kind: Deployment}";

}  // namespace

TEST_CASE("a customization gives its target and a named script per operation") {
  const Customization read = Parse(R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata:
  name: my-ric
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    retention: {luaScript: "function Retain(d, o) return d end"}
    replicaResource: {luaScript: "function GetReplicas(o) return 1 end"}
    componentResource: {luaScript: "function GetComponents(o) return {} end"}
    replicaRevision: {luaScript: "function ReviseReplica(o, n) return o end"}
    statusReflection: {luaScript: "function ReflectStatus(o) return o.status end"}
    statusAggregation: {luaScript: "function AggregateStatus(o, i) return o end"}
    healthInterpretation: {luaScript: "function InterpretHealth(o) return true end"}
    dependencyInterpretation: {luaScript: "function GetDependencies(o) return {} end"}
)");
  CHECK(Problems(read) == "");
  CHECK(read.name == "my-ric");
  CHECK(read.target == kube::Gvk{"apps", "v1", "Deployment"});
  REQUIRE(read.scripts.size() == interpreter::customized::ScriptFields().size());
  for (const auto& field : interpreter::customized::ScriptFields()) {
    INFO(field.name);
    const auto& script = *read.scripts.at(field.operation);
    CHECK(script->name() == absl::StrCat("my-ric/", field.name));
    CHECK_THAT(script->text(), Catch::StartsWith(absl::StrCat("function ", field.function, "(")));
  }
}

TEST_CASE("operations without a script, or with an empty one, are left alone") {
  const Customization read = ParseSpec(absl::StrCat(
      "{", kTarget, ", customizations: {retention: {luaScript: ''}, replicaRevision: null}}"));
  CHECK(Problems(read) == "");
  CHECK(read.scripts.empty());
  CHECK(interpreter::customized::ScriptFieldOf(Operation::kPrune) == nullptr);
}

TEST_CASE("a script that does not compile keeps its place and spoils no other") {
  const Customization read = ParseSpec(absl::StrCat(
      "{", kTarget,
      ", customizations: {retention: {luaScript: 'function Retain('}, "
      "healthInterpretation: {luaScript: 'function InterpretHealth(o) return true end'}}}"));
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].field == "spec.customizations.retention.luaScript");
  CHECK_THAT(read.problems[0].message, Catch::StartsWith("my-ric/retention:1: "));
  REQUIRE(read.scripts.size() == 2);
  CHECK(read.scripts.at(Operation::kRetain).status().message() == read.problems[0].message);
  CHECK(read.scripts.at(Operation::kInterpretHealth).ok());
}

TEST_CASE("what is wrong is reported with its field") {
  const auto [spec, problems] = GENERATE(table<std::string, std::string>({
      {"null", "spec: is required"},
      {"5", "spec: must be an object"},
      {"{}", "spec.target: is required; spec.customizations: is required"},
      {"{target: x, customizations: []}",
       "spec.target: must be an object; spec.customizations: must be an object"},
      {"{target: {kind: ''}, customizations: {}}",
       "spec.target.apiVersion: is required; spec.target.kind: is required"},
      {"{target: {apiVersion: 1, kind: A}, customizations: {}}",
       "spec.target.apiVersion: must be a string"},
      {"{target: {apiVersion: v1, kind: A, name: b}, customizations: {}, x: 1}",
       "spec.x: unknown field; spec.target.name: unknown field"},
      {"{target: {apiVersion: v1, kind: A}, customizations: {retain: {}}}",
       "spec.customizations.retain: unknown field"},
      {"{target: {apiVersion: v1, kind: A}, customizations: {retention: {}}}",
       "spec.customizations.retention.luaScript: is required"},
      {"{target: {apiVersion: v1, kind: A}, customizations: {retention: {luaScript: 5}}}",
       "spec.customizations.retention.luaScript: must be a string"},
      {"{target: {apiVersion: v1, kind: A}, customizations: {retention: {luaScript: '', lua: ''}}}",
       "spec.customizations.retention.lua: unknown field"},
      {"{target: {apiVersion: v1, kind: A}, additionalTargets: {}, customizations: {}}",
       "spec.additionalTargets: must be a list"},
      {"{target: {apiVersion: v1, kind: A}, additionalTargets: [1, {kind: B}], customizations: {}}",
       "spec.additionalTargets[0]: must be an object; "
       "spec.additionalTargets[1].apiVersion: is required"},
  }));
  CHECK(Problems(ParseSpec(spec)) == problems);
}

TEST_CASE("an apiVersion that is none leaves no target") {
  const Customization read =
      ParseSpec("{target: {apiVersion: a/b/c, kind: D}, customizations: {}}");
  CHECK(read.target.empty());
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].field == "spec.target.apiVersion");
}

TEST_CASE("additional targets may have a whole version or kind as wildcard, and no other") {
  const auto read = [](const std::string& targets) {
    return ParseSpec(absl::StrCat("{target: {apiVersion: v1, kind: A}, customizations: {}, ",
                                  "additionalTargets: [", targets, "]}"));
  };
  const Customization good = read(
      "{apiVersion: apps/v1, kind: B}, {apiVersion: apps/*, kind: B}, {apiVersion: v1, kind: '*'}, "
      "{apiVersion: apps/*, kind: '*'}");
  CHECK(Problems(good) == "");
  CHECK(good.additional_targets ==
        std::vector<kube::Gvk>{
            {"apps", "v1", "B"}, {"apps", "*", "B"}, {"", "v1", "*"}, {"apps", "*", "*"}});
  for (const char* bad : {"{apiVersion: apps/v1, kind: B*}", "{apiVersion: apps/v*, kind: B}",
                          "{apiVersion: '*', kind: B}", "{apiVersion: '*/v1', kind: B}"}) {
    const Customization refused = read(bad);
    CHECK_THAT(Problems(refused), Catch::StartsWith("spec.additionalTargets[0]: a wildcard is "));
    CHECK(refused.additional_targets.empty());
  }
}

TEST_CASE("additional targets beyond the 64th are reported and left out") {
  std::string many;
  for (int i = 0; i < 65; ++i) absl::StrAppend(&many, "{apiVersion: v1, kind: K", i, "},");
  const Customization read =
      ParseSpec(absl::StrCat("{target: {apiVersion: v1, kind: A}, customizations: {}, ",
                             "additionalTargets: [", many, "]}"));
  CHECK(Problems(read) == "spec.additionalTargets: has 65 entries, of which the first 64 are used");
  CHECK(read.additional_targets.size() == 64);
}

TEST_CASE("another kind of object is not a customization") {
  const Customization read = Parse("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}");
  CHECK(Problems(read) == "not a ResourceInterpreterCustomization, got /v1, Kind=Pod");
  CHECK(read.target.empty());
}

TEST_CASE("a text may hold several customizations, and one that is not YAML is reported") {
  const std::string one = absl::StrCat(
      "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\n"
      "metadata: {name: a}\nspec: {",
      kTarget, ", customizations: {}}\n");
  const std::vector<Customization> both = ParseCustomizations("f.yaml", one + "---\n" + one);
  REQUIRE(both.size() == 2);
  CHECK(Problems(both[1]) == "");
  const std::vector<Customization> broken = ParseCustomizations("f.yaml", "a: [");
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].name == "f.yaml");
  CHECK_THAT(Problems(broken[0]), Catch::StartsWith("invalid YAML at line "));
}
