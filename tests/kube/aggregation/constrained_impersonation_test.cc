// The modes of impersonation that Kubernetes 1.36 has beside the right `impersonate`.

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "kube/aggregation/audit_log.h"
#include "kube/aggregation/impersonation.h"
#include "tests/kube/aggregation/aggregated_server.h"
#include "tests/support/temp_directory.h"

namespace kube::aggregation {
namespace {

using tests::AggregatedServer;
using Fields = std::vector<std::pair<std::string, std::string>>;

// What Ask() requests, by `requestor`.
Attributes GetPod(UserInfo requestor) {
  return {.user = std::move(requestor),
          .verb = "get",
          .is_resource = true,
          .version = "v1",
          .resource = "pods",
          .ns = "default",
          .name = "web"};
}

std::string TextOf(const ImpersonationRight& right) {
  const Attributes& what = right.what;
  return absl::StrCat(what.verb, " ", what.resource, what.subresource.empty() ? "" : "/",
                      what.subresource, what.group.empty() ? "" : ".", what.group, " ", what.ns,
                      what.ns.empty() ? "" : "/", what.name,
                      right.covers > 0 ? absl::StrCat(" covers ", right.covers) : "",
                      right.refusal.empty() ? "" : " refused");
}

// Returns "impersonate-on:user-info:get pods default/web", ... of all modes, one after the other.
std::vector<std::string> RightsFor(const Fields& fields, UserInfo requestor = {.name = "bob"}) {
  base::HttpRequest request;
  request.fields = fields;
  const Attributes wanted = GetPod(std::move(requestor));
  const auto read = ImpersonationOf(request, wanted.user, &wanted);
  REQUIRE(read.ok());
  REQUIRE(read->has_value());
  std::vector<std::string> out;
  for (const ImpersonationMode& mode : (*read)->modes) {
    for (const ImpersonationRight& right : mode.rights) out.push_back(TextOf(right));
  }
  return out;
}

AggregatedServer::Options Constrained() {
  AggregatedServer::Options options;
  options.constrained_impersonation = true;
  return options;
}

}  // namespace

TEST_CASE("a user is impersonated by the mode user-info or without constraint") {
  CHECK(RightsFor({{"Impersonate-User", "alice"},
                   {"Impersonate-Group", "devs"},
                   {"Impersonate-Uid", "7"},
                   {"Impersonate-Extra-acme.io%2Fteam", "a"}}) ==
        std::vector<std::string>{
            "impersonate-on:user-info:get pods default/web",
            "impersonate:user-info users.authentication.k8s.io alice",
            "impersonate:user-info uids.authentication.k8s.io 7",
            "impersonate:user-info groups.authentication.k8s.io devs",
            "impersonate:user-info userextras/acme.io/team.authentication.k8s.io a",
            "impersonate users alice", "impersonate uids.authentication.k8s.io 7",
            "impersonate groups devs",
            "impersonate userextras/acme.io/team.authentication.k8s.io a"});
}

TEST_CASE("service accounts and nodes have modes of their own") {
  CHECK(RightsFor({{"Impersonate-User", "system:serviceaccount:a:robot"}}) ==
        std::vector<std::string>{
            "impersonate-on:serviceaccount:get pods default/web",
            "impersonate:serviceaccount serviceaccounts.authentication.k8s.io a/robot",
            "impersonate serviceaccounts a/robot"});
  // A service account whose groups are chosen is none of these.
  CHECK(RightsFor(
            {{"Impersonate-User", "system:serviceaccount:a:robot"}, {"Impersonate-Group", "g"}}) ==
        std::vector<std::string>{"impersonate serviceaccounts a/robot", "impersonate groups g"});
  const std::vector<std::string> node = {
      "impersonate-on:arbitrary-node:get pods default/web",
      "impersonate:arbitrary-node nodes.authentication.k8s.io n1",
      "impersonate users system:node:n1"};
  CHECK(RightsFor({{"Impersonate-User", "system:node:n1"}}) == node);
  const std::string key = "authentication.kubernetes.io/node-name";
  const auto pod_on = [&key](const std::string& name) {
    return UserInfo{.name = "system:serviceaccount:a:agent", .extra = {{key, {name}}}};
  };
  std::vector<std::string> own = {"impersonate-on:associated-node:get pods default/web",
                                  "impersonate:associated-node nodes.authentication.k8s.io *"};
  own.insert(own.end(), node.begin(), node.end());
  CHECK(RightsFor({{"Impersonate-User", "system:node:n1"}}, pod_on("n1")) == own);
  CHECK(RightsFor({{"Impersonate-User", "system:node:n1"}}, pod_on("n2")) == node);
}

TEST_CASE("the question about the own node is the same for all pods of a service account") {
  base::HttpRequest request;
  request.fields = {{"Impersonate-User", "system:node:n1"}};
  const Attributes wanted = GetPod({.name = "system:serviceaccount:a:agent",
                                    .extra = {{"authentication.kubernetes.io/node-name", {"n1"}},
                                              {"authentication.kubernetes.io/pod-name", {"p"}}}});
  const auto read = ImpersonationOf(request, wanted.user, &wanted);
  REQUIRE(read.ok());
  const ImpersonationMode& own = (*read)->modes.front();
  CHECK(own.user.groups == std::vector<std::string>{"system:nodes", "system:authenticated"});
  for (const ImpersonationRight& right : own.rights) {
    CHECK(right.what.user.extra == std::map<std::string, std::vector<std::string>>{
                                       {"authentication.kubernetes.io/associated-node-keys",
                                        {"authentication.kubernetes.io/node-name",
                                         "authentication.kubernetes.io/pod-name"}}});
  }
}

TEST_CASE("constrained modes refuse what no right should give, and ask once for many groups") {
  CHECK(RightsFor({{"Impersonate-User", "a"}, {"Impersonate-Group", "system:masters"}})[2] ==
        "impersonate:user-info groups.authentication.k8s.io system:masters refused");
  CHECK(RightsFor({{"Impersonate-User", "a"}, {"Impersonate-Group", ""}})[2] ==
        "impersonate:user-info groups.authentication.k8s.io  refused");
  CHECK(RightsFor({{"Impersonate-User", "a"}, {"Impersonate-Extra-scopes", "v"}})[2] ==
        "impersonate:user-info userextras.authentication.k8s.io  refused");
  const auto many = RightsFor({{"Impersonate-User", "a"},
                               {"Impersonate-Group", "1"},
                               {"Impersonate-Group", "2"},
                               {"Impersonate-Group", "3"},
                               {"Impersonate-Group", "4"}});
  CHECK(many[2] == "impersonate:user-info groups.authentication.k8s.io * covers 4");
  CHECK(many[3] == "impersonate:user-info groups.authentication.k8s.io 1");
}

TEST_CASE("on the wire: the constrained right alone is enough, and neither is a 403") {
  AggregatedServer server;
  const tests::TempDirectory dir;
  auto log = AuditLog::Open({.path = dir.path() + "/audit.log"}, nullptr);
  REQUIRE(log.ok());
  server.audit = log->get();
  server.reviews->Allow("bob impersonate-on:user-info:get pods/web");
  server.reviews->Allow("bob impersonate:user-info users/alice");
  server.reviews->Allow("carol impersonate users/alice");
  server.reviews->Allow("alice get pods/web");
  server.Start(Constrained());
  const auto bob = server.Connect(server.ClientPair("bob"));
  const tests::Answer answer = AggregatedServer::Ask(*bob, "Impersonate-User: alice\r\n");
  REQUIRE(answer.code == 200);
  CHECK(answer.user() == "alice");
  CHECK(answer.groups() == R"(["system:authenticated"])");
  const tests::Answer others = AggregatedServer::Ask(*bob, "Impersonate-User: root\r\n");
  CHECK(others.code == 403);
  CHECK(others.message() ==
        R"(users.authentication.k8s.io "root" is forbidden: User "bob" cannot )"
        R"(impersonate:user-info resource "users" in API group "authentication.k8s.io" )"
        R"(at the cluster scope: no rule allows it)");

  const auto carol = server.Connect(server.ClientPair("carol"));
  CHECK(AggregatedServer::Ask(*carol, "Impersonate-User: alice\r\n").code == 200);
  const auto dave = server.Connect(server.ClientPair("dave"));
  const tests::Answer denied = AggregatedServer::Ask(*dave, "Impersonate-User: alice\r\n");
  CHECK(denied.code == 403);
  CHECK(denied.message() ==
        R"(pods "web" is forbidden: User "dave" cannot impersonate-on:user-info:get resource )"
        R"("pods" in API group "" in the namespace "a": no rule allows it)");
  server.Stop();
  log->reset();  // Writes what waits.
  const std::string written = base::ReadFile(dir.path() + "/audit.log").value_or("");
  CHECK(absl::StrContains(written, R"("authenticationMetadata":{"impersonationConstraint":)"
                                   R"("impersonate:user-info"})"));
}

TEST_CASE("on the wire: the constraint limits what is done as the other user") {
  AggregatedServer server;
  server.reviews->Allow("bob impersonate:user-info users/alice");
  server.reviews->Allow("bob impersonate-on:user-info:list pods");
  server.reviews->Allow("alice get pods/web");
  server.Start(Constrained());
  const auto bob = server.Connect(server.ClientPair("bob"));
  CHECK(AggregatedServer::Ask(*bob, "Impersonate-User: alice\r\n").code == 403);
}

TEST_CASE("whoever has been permitted without constraint is asked nothing more the next time") {
  AggregatedServer server;
  server.reviews->Allow("carol impersonate users/alice");
  server.reviews->Allow("carol impersonate users/anna");
  server.reviews->Allow("alice get pods/web");
  server.reviews->Allow("anna get pods/web");
  server.Start(Constrained());
  const auto carol = server.Connect(server.ClientPair("carol"));
  CHECK(AggregatedServer::Ask(*carol, "Impersonate-User: alice\r\n").code == 200);
  CHECK(server.reviews->reviews().front() == "carol impersonate-on:user-info:get pods/web");
  const size_t before = server.reviews->count();
  CHECK(AggregatedServer::Ask(*carol, "Impersonate-User: anna\r\n").code == 200);
  CHECK(server.reviews->reviews().at(before) == "carol impersonate users/anna");
}

TEST_CASE("before 1.36 the constrained right is none") {
  AggregatedServer server;
  server.reviews->Allow("bob impersonate-on:user-info:get pods/web");
  server.reviews->Allow("bob impersonate:user-info users/alice");
  server.reviews->Allow("alice get pods/web");
  server.Start();
  const auto bob = server.Connect(server.ClientPair("bob"));
  const tests::Answer denied = AggregatedServer::Ask(*bob, "Impersonate-User: alice\r\n");
  CHECK(denied.code == 403);
  CHECK(absl::StrContains(denied.message(), "cannot impersonate resource"));
}

}  // namespace kube::aggregation
