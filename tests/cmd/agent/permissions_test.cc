// The role of an agent in its cluster has what its loops and its registration need, and no more;
// the manifests and the page that are made from the table are not stale.
#include "cmd/agent/permissions.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/yaml.h"
#include "config/command_line.h"

namespace cmd {
namespace {

std::string Printed(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"karmada-agent", "permissions"});
  std::vector<const char*> argv;
  for (const std::string& flag : flags) argv.push_back(flag.c_str());
  config::PermissionFlags permissions;
  const config::ParsedAgent parsed =
      config::ParseAgentCommandLine(static_cast<int>(argv.size()), argv.data(), permissions);
  INFO(parsed.output);
  REQUIRE(parsed.outcome == config::Parsed::Outcome::kRun);
  CHECK(permissions.asked);
  return AgentPermissions(parsed.options, permissions);
}

// "verb resource.group" of each right of the role, those on one name with "=name" behind.
std::set<std::string> Rights(const std::string& manifest) {
  const auto documents = yaml::ParseAll(manifest);
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  std::set<std::string> rights;
  for (const json::Value& rule : documents->front()["rules"].items()) {
    for (const json::Value& verb : rule["verbs"].items()) {
      for (const json::Value& resource : rule["resources"].items()) {
        const std::string right = absl::StrCat(verb.AsString(), " ", resource.AsString(), ".",
                                               rule["apiGroups"].At(0).AsString());
        if (rule["resourceNames"].items().empty()) rights.insert(right);
        for (const json::Value& name : rule["resourceNames"].items()) {
          rights.insert(absl::StrCat(right, "=", name.AsString()));
        }
      }
    }
  }
  return rights;
}

const std::string kRbac = "rbac.authorization.k8s.io";

TEST_CASE("An agent with named kinds may write these, and what the control plane's loops send") {
  const auto rights =
      Rights(Printed({"--cluster-name=edge1", "--template-kinds=deployments.apps"}));
  for (const char* right :
       {"create deployments.apps", "delete deployments.apps", "create namespaces.", "list nodes.",
        "patch resourcequotas.", "get serviceexports.multicluster.x-k8s.io",
        "get secrets.=karmada-edge1", "get secrets.=karmada-impersonator", "create secrets."}) {
    INFO(right);
    CHECK(rights.contains(right));
  }
  CHECK(
      rights.contains("bind clusterroles." + kRbac + "=karmada-controller-manager:karmada-edge1"));
  for (const char* right : {"get secrets.", "patch secrets.", "create statefulsets.apps",
                            "update deployments.apps", "get secrets.=karmada-kubeconfig"}) {
    INFO(right);
    CHECK_FALSE(rights.contains(right));
  }
}

TEST_CASE("An agent that reports no credentials can grant nothing") {
  const auto rights = Rights(
      Printed({"--cluster-name=edge1", "--template-kinds=configmaps", "--report-secrets=None"}));
  for (const std::string& right : rights) {
    INFO(right);
    CHECK_FALSE(absl::StrContains(right, kRbac));
    CHECK_FALSE(absl::StrContains(right, "secrets."));
  }
  CHECK(rights.contains("create configmaps."));
}

TEST_CASE("Loops of an agent that are off need nothing, and certRotation its Secret") {
  const std::vector<std::string> flags = {"--cluster-name=edge1", "--template-kinds=configmaps"};
  auto more = flags;
  more.emplace_back("--controllers=*,certRotation,-serviceExport");
  const auto rights = Rights(Printed(more));
  CHECK(rights.contains("patch secrets.=karmada-kubeconfig"));
  CHECK_FALSE(rights.contains("get serviceexports.multicluster.x-k8s.io"));
}

TEST_CASE("The role of an agent is bound to the account of karmadactl register, or another one") {
  CHECK(absl::StrContains(Printed({"--cluster-name=edge1"}),
                          "  namespace: karmada-system\n  name: karmada-agent-sa\n"));
  CHECK(absl::StrContains(Printed({"--cluster-name=edge1", "--subject=ns/account"}),
                          "  namespace: ns\n  name: account\n"));
}

void CheckFile(const std::string& path, const std::string& wanted) {
  const std::string found = base::ReadFile(path).value_or("");
  if (std::getenv("UPDATE_DOCS") != nullptr) std::ofstream(path) << wanted;
  INFO(path << ": UPDATE_DOCS=1 build/release/bin/cmd_agent_test writes it again");
  CHECK(found == wanted);
}

TEST_CASE("config/rbac has the role of an agent, for any kind and for kinds that are named") {
  const std::string everything = "--controllers=*,certRotation";
  const std::string gates = "--feature-gates=AllAlpha=true,AllBeta=true";
  CheckFile("config/rbac/karmada-agent.yaml",
            Printed({"--cluster-name=cluster", everything, gates}));
  // The chart puts the kinds in the place of this one.
  CheckFile(
      "config/rbac/karmada-agent-named-kinds.yaml",
      Printed({"--cluster-name=cluster", everything, gates, "--template-kinds=templates.example"}));
}

}  // namespace
}  // namespace cmd
