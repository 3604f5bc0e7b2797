#include "kube/aggregation/impersonation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/server/api_errors.h"
#include "tests/kube/aggregation/aggregated_server.h"

namespace kube::aggregation {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

base::HttpRequest RequestWith(const Fields& fields) {
  base::HttpRequest request;
  request.fields = fields;
  for (const auto& [name, value] : fields) {
    std::string& joined = request.headers[absl::AsciiStrToLower(name)];
    absl::StrAppend(&joined, joined.empty() ? "" : ", ", value);
  }
  return request;
}

// Returns the mode without constraints: it is the last one.
const ImpersonationMode& Plain(const absl::StatusOr<std::optional<Impersonation>>& read) {
  REQUIRE(read.ok());
  REQUIRE(read->has_value());
  CHECK((*read)->modes.back().verb == "impersonate");
  return (*read)->modes.back();
}

// Returns "serviceaccounts a/robot", "userextras/scopes authentication.k8s.io one", ...
std::vector<std::string> RightsOf(const ImpersonationMode& mode) {
  std::vector<std::string> rights;
  for (const auto& [right, covers, refusal] : mode.rights) {
    CHECK(right.user.name == "bob");
    CHECK(right.verb == mode.verb);
    CHECK(right.is_resource);
    rights.push_back(absl::StrCat(
        right.resource, right.subresource.empty() ? "" : "/", right.subresource, " ", right.group,
        right.group.empty() ? "" : " ", right.ns, right.ns.empty() ? "" : "/", right.name));
  }
  return rights;
}

absl::StatusOr<std::optional<Impersonation>> Read(const Fields& fields) {
  return ImpersonationOf(RequestWith(fields), {.name = "bob", .groups = {"devs"}}, nullptr);
}

TEST_CASE("each part of the wanted user is a right of its own") {
  const auto read = Read({{"Impersonate-User", "alice"},
                          {"impersonate-group", "admins"},
                          {"Impersonate-Group", "a, system:masters"},
                          {"IMPERSONATE-UID", "42"},
                          {"Impersonate-Extra-acme.com%2Fscopes", "one"},
                          {"Impersonate-Extra-Acme.com%2fScopes", "two"}});
  CHECK((*read)->modes.size() == 1);
  CHECK(RightsOf(Plain(read)) ==
        std::vector<std::string>{"users alice", "groups admins", "groups a, system:masters",
                                 "userextras/acme.com/scopes authentication.k8s.io one",
                                 "userextras/acme.com/scopes authentication.k8s.io two",
                                 "uids authentication.k8s.io 42"});
  const UserInfo& user = Plain(read).user;
  CHECK(user.name == "alice");
  CHECK(user.uid == "42");
  CHECK(user.groups ==
        std::vector<std::string>{"admins", "a, system:masters", "system:authenticated"});
  CHECK(user.extra.at("acme.com/scopes") == std::vector<std::string>{"one", "two"});
}

TEST_CASE("service accounts have their groups, unless groups are named") {
  const auto robot = Read({{"Impersonate-User", "system:serviceaccount:a:robot"}});
  CHECK(RightsOf(Plain(robot)) == std::vector<std::string>{"serviceaccounts a/robot"});
  CHECK(Plain(robot).user.groups == std::vector<std::string>{"system:serviceaccounts",
                                                             "system:serviceaccounts:a",
                                                             "system:authenticated"});
  const auto named = Read(
      {{"Impersonate-User", "system:serviceaccount:a:robot"}, {"Impersonate-Group", "robots"}});
  CHECK(Plain(named).user.groups == std::vector<std::string>{"robots", "system:authenticated"});
  const auto odd = Read({{"Impersonate-User", "system:serviceaccount:a:b:c"}});
  CHECK(RightsOf(Plain(odd)) == std::vector<std::string>{"users system:serviceaccount:a:b:c"});
}

TEST_CASE("anonymous users get the group of those") {
  const auto read = Read({{"Impersonate-User", "system:anonymous"}});
  CHECK(Plain(read).user.groups == std::vector<std::string>{"system:unauthenticated"});
}

TEST_CASE("requests without these fields are nobody's impersonation") {
  const auto none = Read({{"X-Impersonate-User", "alice"}});
  REQUIRE(none.ok());
  CHECK_FALSE(none->has_value());
  const auto empty = Read({{"Impersonate-User", ""}});
  REQUIRE(empty.ok());
  CHECK_FALSE(empty->has_value());
}

TEST_CASE("half sets, repeated users and floods are refused") {
  const auto refused = [](const Fields& fields) {
    const auto read = Read(fields);
    return !read.ok() && server::ErrorOf(read.status()).code == 400;
  };
  CHECK(refused({{"Impersonate-Group", "system:masters"}}));
  CHECK(refused({{"Impersonate-Group", ""}}));
  CHECK(refused({{"Impersonate-Uid", "1"}}));
  CHECK(refused({{"Impersonate-Extra-a", "b"}}));
  CHECK(refused({{"Impersonate-User", ""}, {"Impersonate-Group", "admins"}}));
  CHECK(refused({{"Impersonate-User", "alice"}, {"Impersonate-User", "carol"}}));
  CHECK(refused({{"Impersonate-User", "alice"}, {"impersonate-user", "alice"}}));
  CHECK(
      refused({{"Impersonate-User", "alice"}, {"Impersonate-Uid", "1"}, {"Impersonate-Uid", "2"}}));
  Fields flood = {{"Impersonate-User", "alice"}};
  for (int i = 0; i < 100; ++i) flood.emplace_back("Impersonate-Group", absl::StrCat("g", i));
  CHECK(refused(flood));
}

TEST_CASE("on the wire: rights are checked one by one, and the fields are gone") {
  tests::AggregatedServer server;
  server.reviews->Allow("bob impersonate users/alice");
  server.reviews->Allow("bob impersonate groups/admins");
  server.reviews->Allow("alice get pods/web");
  server.Start();
  const auto client = server.Connect(server.ClientPair("bob"));
  const tests::Answer answer = tests::AggregatedServer::Ask(
      *client, "Impersonate-User: alice\r\nImpersonate-Group: admins\r\n");
  REQUIRE(answer.code == 200);
  CHECK(answer.user() == "alice");
  CHECK(answer.groups() == R"(["admins","system:authenticated"])");
  CHECK(json::Write(answer.body["fields"]) == R"({"field Host":"localhost","host":"localhost"})");

  const tests::Answer denied = tests::AggregatedServer::Ask(
      *client, "Impersonate-User: alice\r\nImpersonate-Group: system:masters\r\n");
  CHECK(denied.code == 403);
  CHECK(denied.message() ==
        R"(groups "system:masters" is forbidden: User "bob" cannot impersonate resource "groups" )"
        R"(in API group "" at the cluster scope: no rule allows it)");
  // Bob himself may not read the pod.
  CHECK(tests::AggregatedServer::Ask(*client).code == 403);
  CHECK(
      tests::AggregatedServer::Ask(*client, "Impersonate-User: alice\r\nImpersonate-User: root\r\n")
          .code == 400);
}

}  // namespace
}  // namespace kube::aggregation
