#include "cmd/interpret/run.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

TEST_CASE("run prints the result as YAML, or as JSON") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  CHECK(RunTool({"run", "--operation", "InterpretReplica", "--desired", web}).out ==
        "replica: 3\nrequirements:\n  resourceRequest:\n    cpu: 250m\n");
  const Ran health =
      RunTool({"run", "--operation", "interprethealth", "--observed", web, "-o", "json"});
  CHECK(health.out == "false\n");
  CHECK(health.err == "message: 0 of 3 replicas are updated, 0 available\n");
}

TEST_CASE("run reads an object from standard input") {
  const Ran ran = RunTool(
      {"run", "--operation", "ReviseReplica", "--desired", "-", "--replicas", "7", "-o", "json"},
      tests::kDeployment);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("\"replicas\": 7"));
}

TEST_CASE("A trace reports who answers, who does not and why, and what it cost") {
  const tests::TempDirectory dir;
  const std::string widget = dir.Write("w.yaml", tests::kReadyWidget);
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetHealth);
  const Ran ran = RunTool(
      {"run", "--operation", "InterpretHealth", "--observed", widget, "-f", rules, "--trace"});
  CHECK(ran.out == "true\n");
  CHECK_THAT(ran.err, Contains("InterpretHealth of Widget shop/w (example.io/v1)"));
  CHECK_THAT(ran.err, Contains("customization answers   widgets"));
  CHECK_THAT(ran.err, Contains("webhook       skipped"));
  CHECK_THAT(ran.err, Contains("no customization for example.io/v1 Widget"));
  CHECK_THAT(ran.err, Contains("no built-in InterpretHealth for example.io/v1 Widget"));
  CHECK_THAT(ran.err, Contains("memory of scripts") && Contains("KiB"));

  const Ran other = RunTool({"run", "--operation", "InterpretStatus", "--observed", widget, "-f",
                             rules, "--trace", "--no-shipped"});
  CHECK_THAT(other.err, Contains("customizes only InterpretHealth of example.io/v1 Widget"));
  CHECK_THAT(other.err, Contains("left out by --no-shipped"));
  CHECK_THAT(other.err, Contains("native        answers   Widget"));
}

TEST_CASE("Names in a trace are one line and cannot steer the terminal") {
  const std::string widget =
      "apiVersion: example.io/v1\nkind: Widget\nmetadata: {name: \"w\\n\\e[2J\"}\n";
  const Ran ran =
      RunTool({"run", "--operation", "InterpretHealth", "--observed", "-", "--trace"}, widget);
  CHECK_THAT(ran.err, Contains("InterpretHealth of Widget w\\n\\x1b[2J (example.io/v1)\n"));
  CHECK(ran.err.find('\x1b') == std::string::npos);
}

TEST_CASE("What an operation changes is shown as a diff, in colours where they are wanted") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  const std::vector<std::string> arguments = {
      "run", "--operation", "ReviseReplica", "--desired", web, "--replicas", "5", "--diff"};
  const Ran plain = RunTool(arguments);
  CHECK_THAT(plain.out, Contains("-  replicas: 3\n+  replicas: 5\n"));
  const Ran coloured = RunTool(arguments, "", true);
  CHECK_THAT(coloured.out, Contains("\033[31m-  replicas: 3\033[0m\n") &&
                               Contains("\033[32m+  replicas: 5\033[0m\n"));
}

TEST_CASE("Items of an aggregation are documents, one list, or a binding's") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  const std::string item = "clusterName: m1\nstatus: {replicas: 2}\n";
  const std::string documents = dir.Write(
      "documents.yaml", absl::StrCat(item, "---\nclusterName: m2\nstatus: {replicas: 1}\n"));
  const std::string list = dir.Write(
      "list.yaml",
      "- {clusterName: m1, status: {replicas: 2}}\n- {clusterName: m2, status: {replicas: 1}}\n");
  const std::string binding = dir.Write(
      "binding.yaml",
      "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nstatus:\n  aggregatedStatus:\n"
      "  - {clusterName: m1, status: {replicas: 2}}\n  - {clusterName: m2, status: {replicas: "
      "1}}\n");
  for (const std::string& file : {documents, list, binding}) {
    const Ran ran = RunTool(
        {"run", "--operation", "AggregateStatus", "--desired", web, "--status", file, "--diff"});
    INFO(file << ": " << ran.err);
    CHECK_THAT(ran.out, Contains("+  replicas: 3\n"));
  }
}

TEST_CASE("Items of an aggregation are read as the daemon reads them") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetAggregation);
  const auto run = [&](const std::string& items) {
    return RunTool({"run", "--operation", "AggregateStatus", "--desired",
                    dir.Write("w.yaml", tests::kReadyWidget), "-f", rules, "--status",
                    dir.Write("items.yaml", items)});
  };
  CHECK_THAT(run("{clusterName: a, applied: false, zz: 1, health: Healthy}").out,
             Contains("seen: clusterName,health\n"));
  const Ran wrong = run("[{clusterName: a}, {clusterName: 7}]");
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, Contains("items.yaml: items: [1]: clusterName: expected a string, got a "
                                 "number"));
}

TEST_CASE("Flags that do not belong to the operation are refused by name") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", "--operation", "InterpretHealth", "--desired",
                                          web};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = RunTool(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK_THAT(error({"--replicas", "3"}), Contains("InterpretHealth takes no --replicas"));
  CHECK_THAT(error({"--status", "x"}), Contains("InterpretHealth takes no --status"));
  CHECK_THAT(error({"--diff"}), Contains("InterpretHealth takes no --diff"));
  CHECK_THAT(error({"--observed-context", "m1"}), Contains("--observed-context is about"));
}

TEST_CASE("A diff is not asked for as JSON") {
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod"})";
  const Ran ran =
      RunTool({"run", "--operation", "Prune", "--desired", "-", "--diff", "-o", "json"}, pod);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("--diff prints a diff"));
}

// The name is missing because `name: n` is a boolean in YAML.
TEST_CASE("A customization without a name is called by its file in a trace") {
  const tests::TempDirectory dir;
  std::string text = tests::kWidgetHealth;
  text.replace(text.find("name: widgets"), 13, "name: n");
  const std::string rules = dir.Write("rules.yaml", text);
  const Ran ran =
      RunTool({"run", "--operation", "InterpretHealth", "--observed", "-", "-f", rules, "--trace"},
              R"({"apiVersion":"example.io/v1","kind":"Widget"})");
  CHECK(ran.code == 0);
  CHECK(ran.out == "false\n");
  CHECK_THAT(ran.err, Contains("warning: " + rules + ": metadata.name: is required"));
  CHECK_THAT(ran.err, Contains("customization answers   " + rules));
}

TEST_CASE("Replicas are a number that an object can have") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  for (const char* replicas : {"99999999999", "2147483648", "-1", "2.5", "many"}) {
    const Ran ran =
        RunTool({"run", "--operation", "ReviseReplica", "--desired", web, "--replicas", replicas});
    CHECK(ran.code == 2);
    CHECK_THAT(ran.err, Contains("--replicas") && Contains(replicas));
    CHECK(RunTool({"bench", web, "--replicas", replicas}).code == 2);
  }
  CHECK_THAT(
      RunTool({"run", "--operation", "ReviseReplica", "--desired", web, "--replicas", "2147483647"})
          .out,
      Contains("replicas: 2147483647\n"));
}

TEST_CASE("An operation that fails is reported on standard error, with exit code 1") {
  const tests::TempDirectory dir;
  const std::string widget = dir.Write("w.yaml", tests::kReadyWidget);
  const Ran ran = RunTool({"run", "--operation", "InterpretHealth", "--observed", widget});
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("default InterpretHealth interpreter for \"example.io/v1, "
                               "Kind=Widget\" not found") &&
                          Contains("give a customization with -f or a webhook with --webhook"));
}

TEST_CASE("An error of a script is shown at its line in the customization's file") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write(
      "rules.yaml", absl::StrReplaceAll(tests::kWidgetHealth,
                                        {{"observedObj.status.ready", "observedObj.spec.ready"}}));
  const Ran ran = RunTool({"run", "--operation", "InterpretHealth", "--observed", "-", "-f", rules},
                          tests::kReadyWidget);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains(absl::StrCat(rules, ":12:11: error: ")) &&
                          Contains("  12 |           return observedObj.status ~= nil and"));
  const Ran failed = RunTool({"test", "-", "-f", rules},
                             "operation: InterpretHealth\nobservedObj: {apiVersion: example.io/v1, "
                             "kind: Widget, status: {}}\n");
  CHECK_THAT(failed.out, Contains(absl::StrCat("     at ", rules, ":12: return observedObj")));
}

TEST_CASE("An error is shown in the file of its customization, not of one whose name ends alike") {
  const tests::TempDirectory dir;
  std::string gadgets = tests::kWidgetHealth, widgets = tests::kWidgetHealth;
  gadgets = absl::StrReplaceAll(gadgets, {{"name: widgets", "name: dgets"}, {"Widget", "Gadget"}});
  widgets =
      absl::StrReplaceAll(widgets, {{"observedObj.status ~=", "observedObj.nothing.there ~="}});
  const std::string first = dir.Write("gadgets.yaml", gadgets);
  const std::string second = dir.Write("widgets.yaml", widgets);
  const Ran ran = RunTool(
      {"run", "--operation", "InterpretHealth", "--observed", "-", "-f", first, "-f", second},
      R"({"apiVersion":"example.io/v1","kind":"Widget"})");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains(second + ":") && !Contains(first));
}

TEST_CASE("Inputs that are missing, wrong or too many are reported, with exit code 2") {
  const tests::TempDirectory dir;
  const std::string web = dir.Write("web.yaml", tests::kDeployment);
  const std::string two =
      dir.Write("two.yaml", absl::StrCat(tests::kDeployment, "---\n", tests::kDeployment));
  const std::string none = dir.Write("none.yaml", "a: 1\n---\nb: 2\n");
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    const Ran ran = RunTool(arguments);
    CHECK(ran.code == 2);
    return ran.err;
  };
  CHECK_THAT(error({"--operation", "Retain", "--desired", web}),
             Contains("Retain needs --desired and --observed"));
  CHECK_THAT(error({}), Contains("Name an operation with --operation (InterpretReplica, ") &&
                            Contains("an object with --desired or --observed"));
  CHECK_THAT(error({"--operation", "InterpretHealth"}),
             Contains("InterpretHealth needs an object: --desired FILE, or --observed FILE"));
  CHECK_THAT(error({"--operation", "ReviseReplica", "--desired", web}), Contains("--replicas"));
  CHECK_THAT(error({"--operation", "InterpretHealth", "--desired", web, "--observed", web}),
             Contains("not both"));
  CHECK_THAT(error({"--operation", "Dance", "--desired", web}),
             Contains("operation \"Dance\" does not exist; there are InterpretReplica"));
  CHECK_THAT(error({"--operation", "InterpretHealth", "--desired", two}), Contains("2 objects"));
  CHECK_THAT(error({"--operation", "InterpretHealth", "--desired", none}),
             Contains("none.yaml, document 1, line 1: not a Kubernetes object"));
  CHECK_THAT(error({"--operation", "InterpretHealth", "--desired", "nowhere.yaml"}),
             Contains("neither a file that exists nor TYPE/NAME"));
  CHECK_THAT(error({"--operation", "InterpretHealth", "--desired", web, "-f", web}),
             Contains("not a ResourceInterpreterCustomization, got apps/v1, Kind=Deployment") &&
                 Contains("-f takes customizations only"));
}
