// Reading objects of running clusters: kubeconfig, namespace, TYPE/NAME.
#include "tool/live_objects.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/client/client.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/fleet.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

kube::ApiResource Served(const kube::Gvk& gvk, const std::string& plural,
                         std::vector<std::string> short_names, bool preferred) {
  kube::ApiResource resource;
  resource.resource = {gvk, plural, true};
  resource.verbs = {"get", "list"};
  resource.short_names = std::move(short_names);
  resource.preferred = preferred;
  return resource;
}

void CreateAll(const std::string& kubeconfig, const std::vector<std::string>& manifests) {
  const auto config = kube::LoadConnectionConfig({kubeconfig, ""});
  REQUIRE(config.ok());
  kube::Client client(kube::NewHttpTransport(*config).value(), {}, base::RealClock(), nullptr);
  const auto discovery = kube::Discover(client, {});
  REQUIRE(discovery.ok());
  for (const std::string& manifest : manifests) {
    const kube::Object object(yaml::Parse(manifest).value());
    const auto resource = tool::FindResource(*discovery, object.kind());
    REQUIRE(resource.ok());
    const auto created = client.Create(*resource, object, {}, {});
    INFO(created.status());
    REQUIRE(created.ok());
  }
}

constexpr char kWidgetHooks[] = R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: w.example.com
  rules:
  - {operations: [Retain], apiGroups: [example.io], apiVersions: [v1], kinds: [Widget]}
  clientConfig: {url: "https://127.0.0.1:1"}
  interpreterContextVersions: [v1alpha1]
)";

constexpr char kBadCustomization[] = R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: bad}
spec:
  target: {apiVersion: example.io/v1, kind: Lively}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          return conditon.x
        end
)";

}  // namespace

TEST_CASE("TYPE/NAME is taken apart, and paths are not mistaken for it") {
  CHECK(tool::ParseLiveReference("deploy/web")->name == "web");
  for (const char* text : {"web", "/web", "deploy/", "a/b/c", "./web"}) {
    CHECK_FALSE(tool::ParseLiveReference(text).ok());
  }
}

TEST_CASE("A type is a plural, a kind or a short name, with its group when that is needed") {
  kube::Discovery discovery;
  discovery.resources = {
      Served({"apps", "v1beta1", "Deployment"}, "deployments", {"deploy"}, false),
      Served({"apps", "v1", "Deployment"}, "deployments", {"deploy"}, true),
      Served({"example.io", "v1", "Deployment"}, "deployments", {}, true)};
  const auto found = [&](absl::string_view type) {
    const auto resource = tool::FindResource(discovery, type);
    return resource.ok() ? resource->gvr().ToString() : std::string(resource.status().message());
  };
  for (const char* type :
       {"deployments", "Deployment", "deployment", "deploy", "deployments.apps"}) {
    CHECK(found(type) == "apps/v1/deployments");
  }
  CHECK(found("deployments.v1beta1.apps") == "apps/v1beta1/deployments");
  CHECK(found("deployment.example.io") == "example.io/v1/deployments");
  CHECK(found("widget") == "the server doesn't have a resource type \"widget\"");
}

TEST_CASE("Objects, customizations and webhook configurations are read from a cluster") {
  sandbox::FleetOptions options;
  options.members = 0;
  const auto fleet = sandbox::Fleet::Start(options);
  REQUIRE(fleet.ok());
  const tests::TempDirectory dir;
  const std::string kubeconfig = dir.Write("kubeconfig", (*fleet)->Kubeconfig("karmada").value());
  CreateAll(kubeconfig,
            {"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", tests::kDeployment,
             tests::kWidgetHealth, kWidgetHooks, kBadCustomization});
  const std::vector<std::string> live = {"--kubeconfig", kubeconfig, "-n", "shop"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), live.begin(), live.end());
    return RunTool(arguments);
  };
  const Ran replicas =
      run({"run", "--operation", "InterpretReplica", "--desired", "deploy/web", "-o", "json"});
  INFO(replicas.err);
  CHECK(replicas.code == 0);
  CHECK_THAT(replicas.out, Contains("\"replica\": 3"));
  CHECK_THAT(run({"check", "ric/widgets"}).out, Contains("ok ric/widgets: widgets"));
  CHECK_THAT(
      run({"check", "ric/bad"}).out,
      Contains("ric/bad: error: spec.customizations.healthInterpretation.luaScript: line 2 of "
               "the script: the global conditon does not exist: it is nil\n"
               "  2 |   return conditon.x\n    |          ^\n"));
  const std::string lively =
      dir.Write("lively.yaml", "apiVersion: example.io/v1\nkind: Lively\nmetadata: {name: l}\n");
  const Ran failing =
      run({"run", "--operation", "InterpretHealth", "--observed", lively, "-f", "ric/bad"});
  CHECK_THAT(failing.err, Contains("  2 |   return conditon.x\n"));
  CHECK_THAT(run({"list", "--webhook", "resourceinterpreterwebhookconfiguration/hooks"}).out,
             Contains("hooks/w.example.com"));

  const Ran missing = run({"run", "--operation", "InterpretHealth", "--observed", "deploy/none"});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Contains("deploy/none: ") && Contains("not found"));
  CHECK_THAT(run({"run", "--operation", "InterpretHealth", "--observed", "ghost/web"}).err,
             Contains("the server doesn't have a resource type \"ghost\""));
}
