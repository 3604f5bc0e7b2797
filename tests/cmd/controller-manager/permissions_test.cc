// The table of rights fits the table of controllers, rules are merged without losing a right, and
// manifests and pages that are made from it are not stale.
#include "cmd/controller-manager/permissions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/yaml.h"
#include "cmd/controller-manager/controller_table.h"
#include "config/command_line.h"
#include "config/support.h"
#include "controllers/permissions/member_needs.h"

namespace cmd {
namespace {

using permissions::Grant;
using permissions::kDiscovery;
using permissions::kTemplates;
using permissions::Need;
using permissions::Server;
using Strings = std::vector<std::string>;

TEST_CASE("who lacks rights is told which command prints them") {
  const std::string refused =
      "starting cluster-controller: Cluster could not be listed in time: "
      "clusters.cluster.karmada.io is forbidden: User \"blue\" cannot list resource \"clusters\"";
  CHECK(CommandForRights(refused, /*is_shadow=*/false) ==
        "karmada-controller-manager permissions --subject=blue");
  CHECK(CommandForRights(refused, /*is_shadow=*/true) ==
        "karmada-controller-manager permissions --shadow --subject=blue");
  CHECK(CommandForRights("pods \"a\" is forbidden: exceeded quota: few", false).empty());
  CHECK(CommandForRights("a is forbidden: User \"blue", false).empty());
}

std::string Read(const std::string& path) { return base::ReadFile(path).value_or(""); }

// Compares a file with what it should be, or writes it.
void CheckFile(const std::string& path, const std::string& wanted) {
  const std::string found = Read(path);
  if (std::getenv("UPDATE_DOCS") != nullptr) std::ofstream(path) << wanted;
  INFO(path << ": UPDATE_DOCS=1 build/release/bin/cmd_controller-manager_test writes it again");
  CHECK(found == wanted);
}

struct Printed {
  config::Parsed parsed;
  std::string text;
  json::Value role;
};

// Returns what `karmada-controller-manager permissions` prints with these flags.
Printed Print(const Strings& flags) {
  std::vector<const char*> argv = {"karmada-controller-manager", "permissions"};
  for (const std::string& flag : flags) argv.push_back(flag.c_str());
  config::AdmissionFlags admission;
  config::PermissionFlags permissions;
  Printed printed;
  printed.parsed =
      config::ParseCommandLine(static_cast<int>(argv.size()), argv.data(), admission, permissions);
  if (printed.parsed.outcome == config::Parsed::Outcome::kExit) return printed;
  CHECK(permissions.asked);
  printed.text = Permissions(printed.parsed.options, permissions);
  const auto documents = yaml::ParseAll(printed.text);
  INFO(printed.text);
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  printed.role = documents->front();
  return printed;
}

bool Lists(const json::Value& list, const std::string& word) {
  for (const json::Value& item : list.items()) {
    if (item.AsString() == word || item.AsString() == "*") return true;
  }
  return false;
}

// Decides as RBAC does.
bool Allows(const json::Value& role, const std::string& verb, const std::string& group,
            const std::string& resource, const std::string& name = "") {
  const size_t slash = resource.find('/');
  const std::string any = slash == std::string::npos ? "*" : "*" + resource.substr(slash);
  for (const json::Value& rule : role["rules"].items()) {
    const json::Value& names = rule["resourceNames"];
    if (Lists(rule["verbs"], verb) && Lists(rule["apiGroups"], group) &&
        (Lists(rule["resources"], resource) || Lists(rule["resources"], any)) &&
        (names.items().empty() || Lists(names, name))) {
      return true;
    }
  }
  return false;
}

// Checks that the role allows all that is granted, with these kinds for templates.
void CheckAllowed(const json::Value& role, const Grant& grant, const std::string& group,
                  const std::string& plural) {
  for (std::string resource : grant.resources) {
    const bool is_template = absl::StrReplaceAll({{kTemplates, plural}}, &resource) > 0;
    for (const std::string& verb : grant.verbs) {
      INFO(verb << " " << resource << " of " << grant.group);
      const std::string name = grant.names.empty() ? "" : grant.names.front();
      CHECK(Allows(role, verb, is_template ? group : grant.group, resource, name));
    }
  }
}

TEST_CASE("a well-known kind in the wrong group is warned of") {
  const auto warnings = [](std::vector<std::string> kinds) {
    return config::WarningsOf({.template_kinds = std::move(kinds)});
  };
  CHECK(warnings({"deployments.apps", "configmaps", "widgets.example.io", "nodes",
                  "roles.rbac.authorization.k8s.io", "services.serving.knative.dev"})
            .empty());
  const auto found = warnings({"deployments", "configmaps.apps", "ingresses.extensions"});
  REQUIRE(found.size() == 3);
  CHECK_THAT(found[0], Catch::Contains("--template-kinds deployments ") &&
                           Catch::Contains("deployments.apps is probably meant"));
  CHECK_THAT(found[1], Catch::Contains(": configmaps is probably meant"));
  CHECK_THAT(found[2], Catch::Contains("ingresses.networking.k8s.io"));
}

TEST_CASE("a name that is not a resource of Kubernetes is warned of") {
  const std::vector<std::string> found = config::WarningsOf(
      {.template_kinds = {"deployment", "configmap", "deployment.apps", "ingress", "widgets"}});
  REQUIRE(found.size() == 5);
  CHECK_THAT(found[0], Catch::EndsWith(": deployments.apps is probably meant"));
  CHECK_THAT(found[1], Catch::EndsWith(": configmaps is probably meant"));
  CHECK_THAT(found[2], Catch::EndsWith(": deployments.apps is probably meant"));
  CHECK_THAT(found[3], Catch::EndsWith(": ingresses.networking.k8s.io is probably meant"));
  CHECK_THAT(found[4], Catch::EndsWith("such as widgets.example.io"));
}

TEST_CASE("Every controller has a line in the table of rights, and nothing else has one") {
  std::set<std::string> known = {kElection, kEvents, kLeader, kDiscovery, kInterpreter};
  for (const config::ControllerSupport& c : config::Controllers()) known.emplace(c.name);
  for (const config::Support& loop : config::LoopsWithoutSwitch()) known.emplace(loop.name);
  std::set<std::string> lines;
  for (const Need& need : Needs()) {
    lines.insert(need.loop);
    INFO(need.loop);
    CHECK((known.contains(need.loop) || need.loop == "member clusters"));
    CHECK_FALSE(need.grants.empty());
  }
  for (const ControllerEntry& entry : ControllerTable()) {
    INFO(entry.name);
    CHECK(lines.contains(entry.name));
  }
  for (const config::ControllerSupport& c : config::Controllers()) {
    INFO(c.name);
    CHECK(lines.contains(std::string(c.name)));
  }
}

TEST_CASE("Merged rules allow all that the loops need") {
  for (const bool narrow : {false, true}) {
    for (const bool member : {false, true}) {
      Strings flags = {"--controllers=*,deploymentReplicasSyncer,hpaScaleTargetMarker",
                       "--feature-gates=AllAlpha=true,AllBeta=true"};
      if (member) flags.emplace_back("--member");
      if (narrow) flags.emplace_back("--template-kinds=widgets.example.io,configmaps");
      const Printed printed = Print(flags);
      INFO(printed.text);
      const Server server = member ? Server::kMember : Server::kControlPlane;
      for (const Need& need : NeedsOf(printed.parsed.options)) {
        if (need.server != server) continue;
        INFO(need.loop);
        for (const Grant& grant : need.grants) {
          CheckAllowed(printed.role, grant, "example.io", "widgets");
          CheckAllowed(printed.role, grant, "", "configmaps");
        }
      }
    }
  }
}

TEST_CASE("Named kinds are the only ones that may be written") {
  const json::Value role = Print({"--template-kinds=deployments.apps,configmaps"}).role;
  CHECK(Allows(role, "patch", "apps", "deployments"));
  CHECK(Allows(role, "patch", "apps", "deployments/status"));
  CHECK(Allows(role, "list", "", "configmaps"));
  CHECK_FALSE(Allows(role, "patch", "apps", "statefulsets"));
  CHECK_FALSE(Allows(role, "patch", "", "secrets"));
  CHECK_FALSE(Allows(role, "delete", "apps", "deployments"));
  CHECK_FALSE(Allows(role, "escalate", "rbac.authorization.k8s.io", "clusterroles"));
  const json::Value roles = Print({"--template-kinds=roles.rbac.authorization.k8s.io"}).role;
  CHECK(Allows(roles, "escalate", "rbac.authorization.k8s.io", "roles"));
  CHECK_FALSE(Allows(roles, "escalate", "rbac.authorization.k8s.io", "clusterroles"));
  CHECK_FALSE(Allows(roles, "bind", "rbac.authorization.k8s.io", "clusterroles"));
  const json::Value bindings =
      Print({"--template-kinds=rolebindings.rbac.authorization.k8s.io"}).role;
  CHECK(Allows(bindings, "bind", "rbac.authorization.k8s.io", "clusterroles"));
}

TEST_CASE(
    "A member grants neither impersonation nor Karmada's own kinds, and secrets only by name of "
    "the kind") {
  const json::Value role =
      Print({"--member", "--template-kinds=deployments.apps", "--controllers=*,-unifiedAuth"}).role;
  CHECK(Allows(role, "create", "apps", "deployments"));
  CHECK(Allows(role, "create", "", "namespaces"));
  CHECK(Allows(role, "list", "", "nodes"));
  CHECK_FALSE(Allows(role, "get", "", "secrets"));
  CHECK_FALSE(Allows(role, "update", "apps", "deployments"));
  CHECK_FALSE(Allows(role, "escalate", "rbac.authorization.k8s.io", "clusterroles"));
  const json::Value any = Print({"--member"}).role;
  CHECK(Allows(any, "get", "", "secrets"));
  CHECK_FALSE(Allows(any, "impersonate", "", "users"));
  CHECK_FALSE(Allows(any, "deletecollection", "", "pods"));
}

TEST_CASE("Controllers, gates and flags that are off need nothing") {
  const std::string narrow = "--template-kinds=configmaps";
  const std::string policies = "--controllers=*,-workloadRebalancer,-agentcsrapproving";
  const json::Value role = Print({narrow, policies, "--leader-elect=false"}).role;
  CHECK_FALSE(Allows(role, "delete", "apps.karmada.io", "workloadrebalancers"));
  CHECK_FALSE(Allows(role, "approve", "certificates.k8s.io", "signers",
                     "kubernetes.io/kube-apiserver-client"));
  CHECK_FALSE(Allows(role, "create", "coordination.k8s.io", "leases"));
  const json::Value all = Print({narrow}).role;
  CHECK(Allows(all, "delete", "apps.karmada.io", "workloadrebalancers"));
  CHECK(Allows(all, "update", "coordination.k8s.io", "leases", "karmada-controller-manager"));
  CHECK_FALSE(Allows(all, "update", "coordination.k8s.io", "leases", "another"));
  CHECK_FALSE(Allows(all, "get", "policy.karmada.io", "clustertaintpolicies"));
  CHECK(Allows(Print({narrow, "--feature-gates=Failover=true"}).role, "get", "policy.karmada.io",
               "clustertaintpolicies"));
  const json::Value blind =
      Print({"--member", narrow, "--enable-cluster-resource-modeling=false"}).role;
  CHECK_FALSE(Allows(blind, "list", "", "nodes"));
}

TEST_CASE("A shadow may read everything that it would write, and change nothing") {
  config::Options options;
  const std::vector<Need> writing = NeedsOf(options);
  options.shadow = true;
  bool reads_leader = false;
  std::set<std::string> read;
  for (const Need& need : NeedsOf(options)) {
    INFO(need.loop);
    CHECK(need.loop != kElection);
    CHECK(need.loop != kEvents);
    reads_leader = reads_leader || need.loop == kLeader;
    for (const Grant& grant : need.grants) {
      if (absl::StrContains(grant.group, ".k8s.io") &&
          absl::EndsWith(grant.resources[0], "reviews"))
        continue;
      for (const std::string& verb : grant.verbs) {
        INFO(absl::StrJoin(grant.resources, ", "));
        CHECK(std::set<std::string>{"get", "list", "watch"}.contains(verb));
        if (verb != "get") continue;
        for (const std::string& resource : grant.resources) {
          read.insert(absl::StrCat(grant.group, "/", resource));
        }
      }
    }
  }
  CHECK(reads_leader);
  for (const Need& need : writing) {
    if (need.loop == kElection || need.loop == kEvents) continue;
    for (const Grant& grant : need.grants) {
      for (const std::string& resource : grant.resources) {
        INFO(grant.group << "/" << resource);
        CHECK((read.contains(absl::StrCat(grant.group, "/", resource)) ||
               absl::EndsWith(resource, "reviews")));
      }
    }
  }
}

TEST_CASE("The binding is for the subject that is given") {
  CHECK(absl::StrContains(Print({"--subject=somebody"}).text, "  kind: User\n  name: somebody\n"));
  CHECK(absl::StrContains(Print({"--subject=yes"}).text, "name: \"yes\"\n"));
  CHECK(absl::StrContains(Print({"--member", "--subject=ns/account"}).text,
                          "- kind: ServiceAccount\n  namespace: ns\n  name: account\n"));
  for (const Strings& flags :
       {Strings{"--member", "--subject=nobody"}, Strings{"--template-kinds=Deployment"},
        Strings{"--template-kinds=pods."}}) {
    const Printed refused = Print(flags);
    INFO(absl::StrJoin(flags, " ") << ": " << refused.parsed.output);
    CHECK(refused.parsed.exit_code == config::kUsageExitCode);
  }
  // What the process ignores is no part of its rights either.
  CHECK(Print({"--controllers=execution,bindng"}).text == Print({"--controllers=execution"}).text);
}

// ---- config/rbac and docs/permissions.md ------------------------------------------------------

// Returns the names of what is granted; those that only one group has stand without the group.
Strings NamesOf(const Grant& grant) {
  Strings names = grant.urls;
  const bool is_clear = grant.group.empty() || absl::EndsWith(grant.group, "karmada.io");
  for (const std::string& resource : grant.resources) {
    const bool is_template = absl::StartsWith(resource, kTemplates);
    std::string name = absl::StrReplaceAll(resource, {{kTemplates, "any kind"}, {"*", "all"}});
    if (!is_clear && !is_template) absl::StrAppend(&name, " of ", grant.group);
    if (!grant.names.empty()) {
      absl::StrAppend(&name, " named ", absl::StrJoin(grant.names, ", "));
    }
    names.push_back(name);
  }
  return names;
}

void AddOnce(Strings& list, const Strings& more) {
  for (const std::string& one : more) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  }
}

// Returns the cells with what is changed and how, what is only read, and why.
std::string Cells(const std::vector<Need>& needs) {
  Strings order, reads, writes, whys;
  std::map<std::string, Strings> by_verbs;
  for (const Need& need : needs) {
    for (const Grant& grant : need.grants) {
      Strings changing;
      for (const std::string& verb : grant.verbs) {
        if (verb != "get" && verb != "list" && verb != "watch") changing.push_back(verb);
      }
      if (changing.empty()) {
        AddOnce(reads, NamesOf(grant));
        continue;
      }
      const std::string verbs = absl::StrJoin(changing, ", ");
      AddOnce(order, {verbs});
      AddOnce(by_verbs[verbs], NamesOf(grant));
    }
    if (!need.why.empty()) whys.push_back(need.why);
  }
  for (const std::string& verbs : order) {
    writes.push_back(absl::StrCat(verbs, ": ", absl::StrJoin(by_verbs[verbs], ", ")));
  }
  return absl::StrCat(absl::StrJoin(writes, "; "), " | ", absl::StrJoin(reads, ", "), " | ",
                      absl::StrJoin(whys, " "));
}

std::string Table(Server server) {
  Strings order;
  std::map<std::string, std::vector<Need>> by_loop;
  for (const Need& need : Needs()) {
    if (need.server != server) continue;
    if (!by_loop.contains(need.loop)) order.push_back(need.loop);
    by_loop[need.loop].push_back(need);
  }
  std::string out = "| loop | writes | reads besides that | reason |\n|---|---|---|---|\n";
  for (const std::string& loop : order) {
    absl::StrAppend(&out, "| ", loop, " | ", Cells(by_loop[loop]), " |\n");
  }
  return out;
}

TEST_CASE("docs/permissions.md has the table of rights") {
  const std::string path = "docs/permissions.md";
  std::string page = Read(path);
  const std::map<std::string, Server> tables = {{"control plane", Server::kControlPlane},
                                                {"members", Server::kMember}};
  for (const auto& [mark, server] : tables) {
    const std::string begin = absl::StrCat("<!-- ", mark, " -->\n");
    const size_t from = page.find(begin);
    INFO(mark);
    REQUIRE(from != std::string::npos);
    const size_t to = page.find("<!-- end -->", from);
    REQUIRE(to != std::string::npos);
    page.replace(from, to - from, begin + Table(server));
  }
  CheckFile(path, page);
}

TEST_CASE("config/rbac has what every controller, gate and flag together need") {
  const auto manifest = [](Server server) {
    return permissions::RoleManifest(permissions::MergedRules(Needs(), {server, {}}),
                                     RoleFor(server, ""));
  };
  CheckFile("config/rbac/karmada-controller-manager.yaml", manifest(Server::kControlPlane));
  CheckFile("config/rbac/karmada-member.yaml", manifest(Server::kMember));
}

}  // namespace
}  // namespace cmd
