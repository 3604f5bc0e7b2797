// How case files are read, and when a case passes.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "interpreter/customized/case_file.h"
#include "tests/support/cost_growth.h"

namespace {

using interpreter::Operation;
using interpreter::customized::Case;
using interpreter::customized::CaseFile;
using interpreter::customized::CaseResult;
using interpreter::customized::ParseCaseFile;
using interpreter::customized::RunCase;

const interpreter::Backend& Native() {
  static const auto backend = interpreter::NewNativeBackend();
  return *backend;
}

// Runs the only case of a text with the built-in handlers.
CaseResult RunOne(absl::string_view text) {
  const CaseFile file = ParseCaseFile(text);
  for (const auto& problem : file.problems) FAIL(problem.message);
  REQUIRE(file.cases.size() == 1);
  return RunCase(file.cases[0], Native());
}

constexpr absl::string_view kDeployment = R"(
desiredObj:
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop, generation: 1}
  spec:
    replicas: 3
    template:
      spec:
        containers:
        - name: web
          resources: {limits: {cpu: 500m, memory: 1Gi}}
          envFrom:
          - configMapRef: {name: b}
          - secretRef: {name: a}
          - configMapRef: {name: a}
)";

std::string OnDeployment(absl::string_view rest) {
  return std::string(kDeployment) + std::string(rest);
}

}  // namespace

TEST_CASE("each document is a case with the line where it begins") {
  const CaseFile file = ParseCaseFile(R"(# A comment.
---

# Another.
name: first
description: |
  ---not a marker
operation: interpretHEALTH
observedObj: {apiVersion: v1, kind: Pod}
output: {healthy: false}
---
---
name: second
operation: ReviseReplica
desiredObj: {apiVersion: v1, kind: Pod}
inputReplicas: 4
--- {name: third, operation: AggregateStatus, statusItems: []}
)");
  CHECK(file.problems.empty());
  REQUIRE(file.cases.size() == 3);
  CHECK(file.cases[0].line == 5);
  CHECK(file.cases[0].name == "first");
  CHECK(file.cases[0].description == "---not a marker\n");
  CHECK(file.cases[0].input.operation == Operation::kInterpretHealth);
  CHECK(file.cases[0].input.object.empty());
  CHECK(file.cases[0].input.observed.kind() == "Pod");
  CHECK(file.cases[0].input.items.is_null());
  CHECK(file.cases[1].line == 13);
  CHECK(file.cases[1].input.replicas == 4);
  CHECK(file.cases[1].output.is_null());
  CHECK(file.cases[2].line == 17);
  CHECK(file.cases[2].input.items.is_array());
}

TEST_CASE("a document that is not a case is reported with its line, the others are kept") {
  struct Example {
    std::string document, message;
  };
  const Example example = GENERATE(
      Example{"[1]", "a case must be an object"},
      Example{"operation: Guess", "no operation is called \"Guess\""},
      Example{"name: x", "no operation is called \"\""},
      Example{"{operation: Retain, outputs: {}}", "unknown key outputs"},
      Example{"{operation: Retain, output: [1]}", "output must be an object"},
      Example{"{operation: Retain, output: {error: 5}}", "output.error must be a text"},
      Example{"{operation: Retain, output: {error: x, retained: {}}}", "output.error stands alone"},
      Example{"{operation: Retain, desiredObj: web}", "desiredObj must be an object"},
      Example{"{operation: Retain, name: 5}", "name must be a string"},
      Example{"{operation: Retain, statusItems: [{clusterName: 5}]}",
              "statusItems: [0]: clusterName: expected a string, got a number"},
      Example{"{operation: Retain, inputReplicas: many}",
              ".inputReplicas accessor error: many is of the type string, expected int64"},
      Example{"{operation: ]", "invalid YAML at line 3, column 13"});
  const CaseFile file =
      ParseCaseFile("operation: Retain\n---\n" + example.document + "\n---\noperation: Retain\n");
  CHECK(file.cases.size() == 2);
  REQUIRE(file.problems.size() == 1);
  CHECK(file.problems[0].line == 3);
  CHECK_THAT(file.problems[0].message, Catch::StartsWith(example.message));
}

TEST_CASE("what stands before the first case is none: a byte order mark, comments, directives") {
  const CaseFile file = ParseCaseFile(
      "\xef\xbb\xbf# Cases.\r\n---\r\nname: a\r\noperation: Retain\r\n...\r\n%YAML 1.2\r\n"
      "--- # second\r\nname: b\r\noperation: Retain\r\n");
  CHECK(file.problems.empty());
  REQUIRE(file.cases.size() == 2);
  CHECK(file.cases[0].line == 3);
  CHECK(file.cases[1].name == "b");
  CHECK(file.cases[1].line == 8);
  CHECK(ParseCaseFile("%YAML 1.2\n---\noperation: Retain\n").problems.empty());
}

// Guards against parsing each case with as many empty lines as the file has before it.
TEST_CASE("a file of many cases is read in linear time") {
  const auto read = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "---\noperation: Retain\n\n\n\n\n\n\n\n\n";
    REQUIRE(ParseCaseFile(text).cases.size() == static_cast<size_t>(n));
  };
  CHECK(tests::CostOfFourfold(1000, read) < tests::kBarelyLinear);
}

TEST_CASE("a case passes when every expected result comes") {
  const std::string rest =
      GENERATE("operation: InterpretReplica\noutput: {replica: 3}\n",
               "operation: InterpretReplica\noutput: {replica: 3, requires: {resourceRequest: "
               "{cpu: 0.5, memory: 1073741824}}}\n",
               "operation: InterpretHealth\noutput: {healthy: false}\n",
               "operation: InterpretStatus\noutput: {status: null}\n",
               // An expected error.
               "operation: InterpretComponent\noutput: {error: not enabled}\n",
               // Dependencies in another order.
               "operation: InterpretDependency\noutput:\n  dependencies:\n"
               "  - {apiVersion: v1, kind: Secret, namespace: shop, name: a}\n"
               "  - {apiVersion: v1, kind: ConfigMap, namespace: shop, name: b}\n"
               "  - {apiVersion: v1, kind: ConfigMap, namespace: shop, name: a}\n",
               // Only the status of an aggregated object counts.
               "operation: AggregateStatus\nstatusItems: []\noutput:\n  aggregatedStatus:\n"
               "    status: {observedGeneration: '{{EXCLUDE}}', missing: '{{EXCLUDE}}'}\n");
  const CaseResult result = RunOne(OnDeployment(rest));
  CHECK(result.report == "");
  CHECK(result.passed);
}

TEST_CASE("results without an expectation are named") {
  CHECK(RunOne(OnDeployment("operation: InterpretReplica\noutput: {replica: 3}\n")).unchecked ==
        std::vector<std::string>{"requires"});
  const CaseResult result = RunOne(OnDeployment("operation: InterpretReplica\n"));
  CHECK(result.passed);
  CHECK(result.unchecked == std::vector<std::string>{"replica", "requires"});
}

TEST_CASE("a case may expect a message of a health, and need not") {
  const auto health = [](absl::string_view output) {
    return RunOne(OnDeployment(absl::StrCat("operation: InterpretHealth\noutput: ", output, "\n")));
  };
  CHECK(health("{healthy: false}").unchecked.empty());
  CHECK(health("{healthy: false}").passed);
  CHECK(health("{healthy: false, message: its controller has not seen generation 1 yet}").passed);
  CHECK(health("{healthy: false, message: 0 of 3}").report ==
        "message (-want +got):\n-0 of 3\n+its controller has not seen generation 1 yet\n");
}

TEST_CASE("a case that fails says how") {
  struct Example {
    std::string rest, report;
  };
  const Example example = GENERATE(
      Example{"operation: InterpretHealth\noutput: {healthy: true}\n",
              "healthy (-want +got):\n-true\n+false\n"},
      Example{"operation: InterpretReplica\noutput: {replica: 3, replicas: 3}\n",
              "output.replicas: InterpretReplica has no such result\n"},
      Example{"operation: InterpretReplica\noutput: {replica: '3'}\n",
              "replica (-want +got):\n-\"3\"\n+3\n"},
      Example{"operation: InterpretReplica\noutput: {requires: {resourceRequest: {cpu: 1}}}\n",
              "requires (-want +got):\n resourceRequest:\n-  cpu: \"1\"\n+  cpu: 500m\n"
              "+  memory: 1Gi\n"},
      Example{"operation: InterpretReplica\noutput: {requires: [1]}\n",
              "output.requires: expected an object, got an array\n"},
      Example{"operation: InterpretHealth\noutput: {error: no spec}\n",
              "no error, but expected one: no spec\n"},
      Example{"operation: InterpretComponent\noutput: {error: no spec}\n",
              "error: rule is not enabled\nexpected one: no spec\n"},
      Example{"operation: Retain\noutput: {retained: {}}\n",
              "error: observed, observed-file options are not set\n"},
      Example{"operation: InterpretComponent\noutput: {components: []}\n",
              "error: rule is not enabled\n"},
      Example{"operation: ReviseReplica\ninputReplicas: 3\nobservedObj: {kind: Deployment}\n",
              "error: you can not specify both desired-file and observed-file options\n"});
  const CaseResult result = RunOne(OnDeployment(example.rest));
  CHECK_FALSE(result.passed);
  CHECK(result.report == example.report);
}

TEST_CASE("an excluded member of a list element is not compared, its neighbours are") {
  const auto run = [](absl::string_view reason) {
    return RunOne(std::string(R"(
operation: InterpretStatus
observedObj:
  apiVersion: batch/v1
  kind: CronJob
  status: {conditions: [{type: A, reason: Same, time: now}, {type: B, time: later}]}
output:
  status: {conditions: [{type: A, time: '{{EXCLUDE}}', reason: )") +
                  std::string(reason) + "}, {type: B, time: later}]}\n");
  };
  CHECK(run("Same").passed);
  CHECK_THAT(run("Other").report, Catch::Contains("-- reason: Other\n+- reason: Same"));
}

TEST_CASE("a case can be run against a whole interpreter") {
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(interpreter::NewNativeBackend());
  const auto chain = interpreter::NewChain(std::move(layers));
  const CaseFile file = ParseCaseFile(OnDeployment(
      "operation: ReviseReplica\ninputReplicas: 5\noutput: {revised: {kind: Other}}\n"));
  REQUIRE(file.cases.size() == 1);
  CHECK_THAT(RunCase(file.cases[0], *chain).report, Catch::Contains("+  replicas: 5"));
}
