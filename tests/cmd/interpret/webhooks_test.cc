// karmada-interpret with webhooks: whole command lines against the example on a real TLS socket.
#include "cmd/interpret/webhooks.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/tls.h"
#include "examples/webhook/server.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

constexpr char kWorkload[] = R"(apiVersion: workload.example.io/v1alpha1
kind: Workload
metadata:
  name: nginx
  namespace: default
  annotations: {workload.example.io/notes: n}
spec:
  replicas: 4
  template: {spec: {containers: [{resources: {requests: {cpu: 100m}}}]}}
)";

constexpr char kHealthRule[] = R"(  rules:
  - operations: [InterpretHealth]
    apiGroups: [workload.example.io]
    apiVersions: ["*"]
    kinds: [Workload]
)";

// The example's server, files for it, and functions that run command lines.
struct Fixture {
  example::RunningServer running = example::StartServer({.address = "127.0.0.1:0"}).value();
  tests::TempDirectory dir;
  // Both configurations and the definition of Workloads, as the example prints them.
  std::string hooks = Write("hooks.yaml", Manifests());
  std::string workload = dir.Write("workload.yaml", kWorkload);

  Fixture() { tls::DisableSystemBundlePerConnection(); }

  std::string Manifests() {
    return example::FilledManifests("examples/webhook/manifests", running).value();
  }
  std::string Write(const std::string& name, const std::string& text) {
    return dir.Write(name, text);
  }
  // Writes a configuration with one webhook, which is asked for the health of Workloads.
  std::string HealthHook(const std::string& name, const std::string& client_config) {
    return absl::StrCat("apiVersion: config.karmada.io/v1alpha1\n",
                        "kind: ResourceInterpreterWebhookConfiguration\nmetadata: {name: ", name,
                        "}\nwebhooks:\n- name: h.example.com\n", kHealthRule,
                        "  interpreterContextVersions: [v1alpha1]\n  timeoutSeconds: 1\n",
                        "  clientConfig: ", client_config, "\n");
  }
  Ran Run(const std::string& operation, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"run",     "--webhook", hooks,   "--operation",
                                          operation, "--desired", workload};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTool(arguments);
  }
  // The servers of `hooks` are gone.
  void StopServer() { running.server.reset(); }
};

std::string Request(int id, const std::string& operation) {
  return absl::StrCat(R"({"id":)", id, R"(,"operation":")", operation,
                      R"(","object":{"apiVersion":"workload.example.io/v1alpha1",)",
                      R"("kind":"Workload","metadata":{"name":"w"},"spec":{"replicas":2},)",
                      R"("status":{"readyReplicas":2}}})", "\n");
}

}  // namespace

TEST_CASE_METHOD(Fixture, "Webhooks of both dialects answer, and the trace reports which and why") {
  const Ran replicas = Run("InterpretReplica", {"--trace"});
  INFO(replicas.err);
  CHECK(replicas.code == 0);
  CHECK(replicas.out == "replica: 4\nrequirements:\n  resourceRequest:\n    cpu: 100m\n");
  CHECK_THAT(replicas.err,
             Contains("  webhook       answers   examples/workloads.example.com in ") &&
                 Contains("examples/packing.example.com: it is asked for ExplorePacking only") &&
                 Contains("  shipped       skipped   no customization"));

  const Ran pruned = Run("Prune", {"--trace"});
  CHECK(pruned.code == 0);
  CHECK_THAT(pruned.out, !Contains("notes"));
  CHECK_THAT(pruned.err,
             Contains("  webhook       answers   examples/packing.example.com in ") &&
                 Contains("examples/workloads.example.com: webhooks of a "
                          "ResourceInterpreterWebhookConfiguration are never asked for Prune"));
}

TEST_CASE_METHOD(Fixture, "A trace reports rules that do not match") {
  const std::string web = Write("web.yaml", tests::kDeployment);
  const Ran ran = RunTool(
      {"run", "--webhook", hooks, "--operation", "InterpretHealth", "--observed", web, "--trace"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Contains("  webhook       skipped   no rule for InterpretHealth of apps/v1 "
                               "Deployment") &&
                          Contains("examples/workloads.example.com: no rule matches: it is asked "
                                   "for InterpretHealth of workload.example.io/v1alpha1 Workload"));
  CHECK_THAT(RunTool({"run", "--operation", "InterpretHealth", "--observed", web, "--trace"}).err,
             Contains("  webhook       skipped   none given (--webhook)"));
}

TEST_CASE_METHOD(Fixture, "Webhooks come after customizations and before the other layers") {
  const std::string rules = Write(
      "rules.yaml",
      absl::StrReplaceAll(tests::kWidgetHealth, {{"example.io/v1", "workload.example.io/v1alpha1"},
                                                 {"kind: Widget", "kind: Workload"}}));
  const Ran ran = Run("InterpretHealth", {"-f", rules, "--trace"});
  CHECK_THAT(ran.err, Contains("customization answers   widgets") &&
                          Contains("examples/workloads.example.com has a rule, but customization "
                                   "comes first"));
  const std::string deployments =
      Write("deployments.yaml",
            absl::StrReplaceAll(Manifests(), {{"[workload.example.io]", "[apps]"},
                                              {"[Workload]", "[Deployment]"},
                                              {"[v1alpha1]\n    kinds", "[v1]\n    kinds"}}));
  const Ran native = RunTool({"run", "--webhook", deployments, "--operation", "InterpretReplica",
                              "--desired", Write("web.yaml", tests::kDeployment), "--trace"});
  CHECK(native.code == 1);
  CHECK_THAT(native.err, Contains("webhook       fails     examples/workloads.example.com") &&
                             Contains("native        skipped   Deployment has a rule, but webhook "
                                      "comes first"));
}

TEST_CASE_METHOD(Fixture, "batch reports that a webhook answered, and which") {
  const Ran ran =
      RunTool({"batch", "--webhook", hooks}, Request(1, "InterpretHealth") + Request(2, "Prune"));
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out,
             Contains(R"({"by":"examples/workloads.example.com","id":1,"layer":"webhook",)"
                      R"("result":true})") &&
                 Contains(R"({"by":"examples/packing.example.com","id":2,"layer":"webhook",)"));
  CHECK(RunTool({"batch", "--webhook", "-"}, hooks).code == 2);
}

TEST_CASE_METHOD(Fixture, "Cases are run against webhooks") {
  const std::string cases = Write("cases.yaml", R"(name: two of two are healthy
operation: InterpretHealth
observedObj: {apiVersion: workload.example.io/v1alpha1, kind: Workload, metadata: {name: w},
              spec: {replicas: 2}, status: {readyReplicas: 2}}
output: {healthy: true}
---
name: notes stay at home
operation: Prune
desiredObj: {apiVersion: workload.example.io/v1alpha1, kind: Workload,
             metadata: {name: w, annotations: {workload.example.io/notes: n, keep: k}}}
output:
  pruned: {apiVersion: workload.example.io/v1alpha1, kind: Workload,
           metadata: {name: w, annotations: {keep: k}}}
)");
  const Ran ran = RunTool({"test", cases, "--webhook", hooks});
  CHECK_THAT(ran.out, Contains("2 cases: 2 passed, 0 failed"));
  StopServer();
  const Ran down = RunTool({"test", cases, "--webhook", hooks});
  CHECK(down.code == 1);
  CHECK_THAT(down.out, Contains("failed calling webhook \"examples/workloads.example.com\""));
}

TEST_CASE_METHOD(Fixture, "Webhooks are measured by bench") {
  const Ran ran = RunTool({"bench", workload, "--webhook", hooks, "--operation", "InterpretHealth",
                           "--time", "1ms", "-o", "json"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("\"layer\": \"webhook\"") &&
                          Contains("\"by\": \"examples/workloads.example.com\""));
}

TEST_CASE_METHOD(Fixture, "list shows the rules of webhooks without calling them") {
  StopServer();
  const Ran ran = RunTool({"list", "Workload", "--webhook", hooks});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("workload.example.io/v1alpha1") &&
                          Contains("examples/workloads.example.com   InterpretReplica,") &&
                          Contains("examples/packing.example.com     Prune"));
  const std::string open = Write("open.yaml", HealthHook("open", "{url: https://127.0.0.1:1}"));
  CHECK_THAT(RunTool({"list", "--webhook", open}).out,
             Contains("workload.example.io/*") && Contains("open/h.example.com"));
}

TEST_CASE_METHOD(Fixture, "A webhook that cannot be reached is an error that names it") {
  StopServer();
  const Ran ran = Run("InterpretReplica", {"--trace"});
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err,
             Contains("webhook       fails     examples/workloads.example.com after ") &&
                 Contains("error: InterpretReplica of Workload default/nginx by the webhook "
                          "interpreter: Internal error occurred: failed calling webhook "
                          "\"examples/workloads.example.com\": ") &&
                 Contains(running.url));
  const Ran batch = RunTool({"batch", "--webhook", hooks}, Request(7, "InterpretHealth"));
  CHECK_THAT(batch.out, Contains(R"({"error":"InterpretHealth of Workload w by the webhook)"));
}

TEST_CASE_METHOD(Fixture, "A failure that its failurePolicy ignores leaves the answer to others") {
  StopServer();
  const Ran ran = Run("Prune");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Contains("notes"));
  CHECK_THAT(ran.err, Contains("warning: examples/packing.example.com failed after ") &&
                          Contains("which its failurePolicy ignores: "));
  CHECK_THAT(Run("Prune", {"--trace"}).err,
             Contains("webhook       skipped   examples/packing.example.com failed after "));
  const Ran batch = RunTool({"batch", "--webhook", hooks}, Request(1, "Prune"));
  CHECK_THAT(batch.out, Contains(R"("by":"Workload","id":1,"layer":"native")"));
}

TEST_CASE_METHOD(Fixture, "A webhook is called again however often it failed") {
  StopServer();
  std::string requests;
  for (int id = 0; id < 8; ++id) requests += Request(id, "InterpretHealth");
  const Ran ran = RunTool({"batch", "--webhook", hooks}, requests);
  CHECK_THAT(ran.out, Contains(R"("id":7})") && !Contains("suspended"));
}

TEST_CASE_METHOD(Fixture, "A certificate that the caBundle does not vouch for is refused") {
  const auto other = tls::CertificateAuthority::Create("another");
  REQUIRE(other.ok());
  hooks = Write(
      "untrusted.yaml",
      HealthHook("c", absl::StrCat("{url: \"", running.url, "/interpreter-workload\", ",
                                   "caBundle: ", absl::Base64Escape((*other)->cert_pem()), "}")));
  const Ran ran = Run("InterpretHealth");
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err,
             Contains("failed calling webhook \"c/h.example.com\"") && Contains("certificate"));
}

TEST_CASE_METHOD(Fixture, "A webhook behind a Service is refused with file, object and hook") {
  const std::string file = Write(
      "many.yaml", absl::StrCat(HealthHook("a", "{url: https://127.0.0.1:1}"), "---\n",
                                HealthHook("b", "{service: {namespace: shop, name: hooks}}")));
  for (const char* command : {"list", "batch"}) {
    const Ran ran = RunTool({command, "--webhook", file});
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err,
               Contains(absl::StrCat(file, ", document 2, line ")) &&
                   Contains("ResourceInterpreterWebhookConfiguration \"b\": webhook "
                            "\"h.example.com\": the service shop/hooks can be reached in a "
                            "control plane only; give clientConfig a url"));
  }
}

TEST_CASE_METHOD(Fixture, "Files that hold something else, or the same twice, are refused") {
  const std::string web = Write("web.yaml", tests::kDeployment);
  const auto error = [](std::vector<std::string> files) {
    std::vector<std::string> arguments = {"list"};
    for (const std::string& file : files) {
      arguments.push_back("--webhook");
      arguments.push_back(file);
    }
    const Ran ran = RunTool(arguments);
    CHECK(ran.code == 2);
    return ran.err;
  };
  CHECK_THAT(error({web}), Contains("web.yaml: not a configuration of webhooks, got apps/v1, "
                                    "Kind=Deployment"));
  CHECK_THAT(error({hooks, hooks}),
             Contains("ResourceInterpreterWebhookConfiguration \"examples\" is given twice, first "
                      "in "));
  CHECK_THAT(error({dir.path() + "/none.yaml"}), Contains("none.yaml"));
  // Other objects in the directory are ignored.
  CHECK(RunTool({"list", "--webhook", dir.path()}).code == 0);
}

TEST_CASE_METHOD(Fixture, "Mistakes in configurations are warnings, and the rest works") {
  const std::string file = Write(
      "hooks.yaml",
      absl::StrReplaceAll(Manifests(), {{"timeoutSeconds: 3\n---", "timeoutSeconds: 77\n---"}}));
  const Ran ran = Run("InterpretReplica");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Contains("warning: " + file) &&
                          Contains("ResourceInterpreterWebhookConfiguration \"examples\": "
                                   "webhooks[0].timeoutSeconds: Invalid value: 77"));
}

TEST_CASE_METHOD(Fixture, "Rules by resource need to know how the kind is served") {
  const std::string exploring = Manifests().substr(Manifests().rfind("apiVersion: config."));
  hooks = Write("exploring.yaml", exploring);
  const Ran unknown = Run("Prune", {"--trace"});
  CHECK_THAT(unknown.out, Contains("notes"));
  CHECK_THAT(unknown.err,
             Contains("warning: ") &&
                 Contains("webhook \"packing.example.com\": no kind is known for "
                          "workload.example.io/* workloads (scope Namespaced); give the "
                          "CustomResourceDefinition with --webhook, too") &&
                 Contains("how workload.example.io/v1alpha1 Workload is served is not known"));
  const Ran known = Run("Prune", {"--webhook", "examples/webhook/manifests/1-workload-crd.yaml"});
  CHECK_THAT(known.out, !Contains("notes"));
  CHECK(known.err.empty());
  // Kubernetes' own kinds are known without definitions.
  hooks =
      Write("deployments.yaml", absl::StrReplaceAll(exploring, {{"workload.example.io", "apps"},
                                                                {"[workloads]", "[deployments]"}}));
  CHECK_THAT(RunTool({"list", "Deployment", "--webhook", hooks}).out,
             Contains("examples/packing.example.com   Prune"));
}
