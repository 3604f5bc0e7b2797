// Results of scripts and webhooks that must have the shape of a typed struct.
#include <catch2/catch.hpp>
#include <string>

#include "interpreter/typed_results.h"

namespace {

using Reader = absl::StatusOr<json::Value> (*)(const json::Value&);

// Returns the text of the result, or "error: ...".
std::string Read(Reader reader, absl::string_view text) {
  const absl::StatusOr<json::Value> read = reader(json::Parse(text).value());
  return read.ok() ? json::Write(*read) : "error: " + std::string(read.status().message());
}

struct Example {
  Reader reader;
  std::string given, read;
};

}  // namespace

using interpreter::ReadAggregatedItems;
using interpreter::ReadComponents;
using interpreter::ReadDependencies;
using interpreter::ReadRequirements;

TEST_CASE("typed results keep what the struct knows and leave out the rest") {
  const Example example = GENERATE(
      Example{ReadRequirements, "{}", "{}"},
      Example{ReadRequirements, R"({"foo":1,"namespace":"","priorityClassName":"high"})",
              R"({"priorityClassName":"high"})"},
      Example{ReadRequirements, R"({"Namespace":"a"})", R"({"namespace":"a"})"},
      Example{ReadRequirements, R"({"namespace":"a","NAMESPACE":"b"})", R"({"namespace":"a"})"},
      Example{ReadRequirements, R"({"nodeClaim":{}})", R"({"nodeClaim":{}})"},
      Example{ReadRequirements, R"({"nodeClaim":{"hardNodeAffinity":{},"nodeSelector":{}}})",
              R"({"nodeClaim":{"hardNodeAffinity":{"nodeSelectorTerms":null}}})"},
      Example{ReadRequirements,
              R"({"nodeClaim":{"tolerations":[{"key":"a","tolerationSeconds":0,"x":1}]}})",
              R"({"nodeClaim":{"tolerations":[{"key":"a","tolerationSeconds":0}]}})"},
      Example{ReadComponents, "[]", "[]"},
      Example{ReadComponents, "[{}]", R"([{"name":"","replicas":0}])"},
      Example{ReadComponents,
              R"([{"name":"a","replicas":2,"replicaRequirements":{"namespace":"n"}}])",
              R"([{"name":"a","replicaRequirements":{},"replicas":2}])"},
      Example{ReadDependencies, R"([{"kind":"Secret","labelSelector":{"matchLabels":{}}}])",
              R"([{"apiVersion":"","kind":"Secret","labelSelector":{}}])"},
      Example{ReadAggregatedItems, "null", "null"}, Example{ReadAggregatedItems, "[]", "[]"},
      Example{ReadAggregatedItems,
              R"([{"applied":false,"clusterName":"m1","kind":"X","status":{"a":{}}}])",
              R"([{"clusterName":"m1","status":{"a":{}}}])"});
  CHECK(Read(example.reader, example.given) == example.read);
}

TEST_CASE("what has the shape of the struct already is not copied") {
  const std::string text = GENERATE(
      as<std::string>(), "[]",
      R"([{"apiVersion":"v1","kind":"Secret","name":"a","namespace":"b"}])",
      R"([{"apiVersion":"","kind":"Pod","labelSelector":{"matchExpressions":[{"key":"a","operator":)"
      R"("In","values":["b"]}],"matchLabels":{"a":"b"}}}])");
  const json::Value given = json::Parse(text).value();
  const json::Value read = ReadDependencies(given).value();
  CHECK(json::Write(read) == text);
  if (!given.empty()) CHECK(read.At(0).SharesWith(given.At(0)));
}

TEST_CASE("one member that is not as the struct would write it is mended") {
  const auto [given, read] = GENERATE(table<std::string, std::string>({
      {R"({"apiVersion":"v1","kind":"Secret","name":null})",
       R"({"apiVersion":"v1","kind":"Secret"})"},
      {R"({"apiVersion":"v1","kind":"Secret","name":""})",
       R"({"apiVersion":"v1","kind":"Secret"})"},
      {R"({"apiVersion":"v1","kind":null})", R"({"apiVersion":"v1","kind":""})"},
      {R"({"apiVersion":"v1","name":"a"})", R"({"apiVersion":"v1","kind":"","name":"a"})"},
      {R"({"apiVersion":"v1","kind":"A","x":1})", R"({"apiVersion":"v1","kind":"A"})"},
      {R"({"apiVersion":"v1","kind":"A","labelSelector":null})",
       R"({"apiVersion":"v1","kind":"A"})"},
      {R"({"apiVersion":"v1","kind":"A","labelSelector":{"matchExpressions":[{"key":"a"}]}})",
       R"({"apiVersion":"v1","kind":"A","labelSelector":{"matchExpressions":[{"key":"a","operator":""}]}})"},
  }));
  CHECK(Read(ReadDependencies, "[" + given + "]") == "[" + read + "]");
}

TEST_CASE("quantities may be numbers or strings and come out in canonical form") {
  const auto [given, read] = GENERATE(table<std::string, std::string>({
      {"0.5", "500m"},
      {"1e3", "1k"},
      {"2", "2"},
      {"\"1408.000000Mi\"", "1408Mi"},
      {"\"9448928051200m\"", "9448928051200m"},
      {"0", "0"},
  }));
  CHECK(Read(ReadRequirements, R"({"resourceRequest":{"cpu":)" + given + "}}") ==
        R"({"resourceRequest":{"cpu":")" + read + "\"}}");
}

TEST_CASE("a wrong type names the member") {
  const Example example = GENERATE(
      Example{ReadRequirements, "[1]", "expected an object, got an array"},
      Example{ReadRequirements, R"({"resourceRequest":{"cpu":"much"}})",
              "resourceRequest: cpu: quantities must match the regular expression"},
      Example{ReadRequirements, R"({"resourceRequest":{"cpu":true}})",
              "resourceRequest: cpu: expected a quantity, got a boolean"},
      Example{ReadRequirements, R"({"nodeClaim":{"nodeSelector":{"a":1}}})",
              "nodeClaim: nodeSelector: a: expected a string, got a number"},
      Example{ReadComponents, R"({"name":"a"})", "expected an array, got an object"},
      Example{ReadComponents, R"([{"replicas":1},{"replicas":1.5}])",
              "[1]: replicas: 1.5 is not a whole number"},
      Example{ReadComponents, R"([{"replicas":3000000000}])",
              "[0]: replicas: 3000000000 does not fit in 32 bits"},
      Example{ReadDependencies, R"([{"name":7}])", "[0]: name: expected a string, got a number"},
      Example{ReadAggregatedItems, R"([{"applied":"yes"}])",
              "[0]: applied: expected a boolean, got a string"});
  CHECK_THAT(Read(example.reader, example.given), Catch::StartsWith("error: " + example.read));
}

TEST_CASE("null stands for the zero value") {
  const Example example = GENERATE(
      Example{ReadRequirements, R"({"nodeClaim":{"nodeSelector":{"a":null}}})",
              R"({"nodeClaim":{"nodeSelector":{"a":""}}})"},
      Example{ReadRequirements, R"({"resourceRequest":{"cpu":null}})",
              R"({"resourceRequest":{"cpu":"0"}})"},
      Example{ReadRequirements, R"({"nodeClaim":{"tolerations":[null]}})",
              R"({"nodeClaim":{"tolerations":[{}]}})"},
      Example{ReadComponents, "[null]", R"([{"name":"","replicas":0}])"},
      Example{
          ReadDependencies,
          R"([{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":[null]}]}}])",
          R"([{"apiVersion":"","kind":"","labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":[""]}]}}])"});
  CHECK(Read(example.reader, example.given) == example.read);
}

TEST_CASE("upstream's Lua knows no nulls") {
  const auto [given, without] = GENERATE(table<std::string, std::string>({
      {R"({"a":null,"b":{"c":null,"d":[null,1,null,{"e":null}]}})", R"({"b":{"d":[1,{}]}})"},
      {"[null]", "[]"},
      {R"({"a":[1]})", R"({"a":[1]})"},
  }));
  const json::Value value = json::Parse(given).value();
  CHECK(json::Write(interpreter::WithoutNulls(value)) == without);
}

TEST_CASE("members that no struct has are found, with where they are and what there is") {
  const auto unknown = interpreter::UnknownInComponents(
      json::Parse(R"([{"Name":"a"},{"replicaRequirements":{"resourceRequst":{"cpu":1},)"
                  R"("nodeClaim":{"tolerations":[{"kee":"a"}]}}}])")
          .value());
  REQUIRE(unknown.size() == 2);
  CHECK(unknown[0].path == "[1].replicaRequirements.nodeClaim.tolerations[0].kee");
  CHECK(unknown[1].path == "[1].replicaRequirements.resourceRequst");
  CHECK(unknown[1].name == "resourceRequst");
  CHECK(unknown[1].known ==
        std::vector<absl::string_view>{"nodeClaim", "priorityClassName", "resourceRequest"});
  CHECK(interpreter::UnknownInRequirements(json::Value::Object({{"namespace", "a"}})).empty());
  CHECK(interpreter::UnknownInDependencies(json::Parse(R"([{"nam":"a"}])").value()).size() == 1);
}
