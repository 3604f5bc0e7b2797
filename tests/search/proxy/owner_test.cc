// To which member a request for one object goes.
#include "search/proxy/internal/owner.h"

#include <catch2/catch.hpp>

#include "tests/search/proxy/requests.h"

namespace search {
namespace {

TEST_CASE("the only member that has the object is its owner") {
  const InnerRequest inner = Inner("DELETE", "/api/v1/namespaces/ns/pods/same");
  CHECK(*OwnerOf(inner, {{{"member2"}, {}, 2}, ""}) == "member2");
  // Its object has moved since it was read, or is another one.
  CHECK(CodeOf(OwnerOf(inner, {{{"member2"}, {}, 2}, "member1"}).status()) == 409);
}

// A member whose objects are not known, and why not.
MissingCluster Unreadable(const std::string& name) {
  return {.cluster = name, .reason = "refused"};
}
MissingCluster BeingRead(const std::string& name, bool just_begun) {
  return {.cluster = name, .reason = "being read", .being_read = true, .just_begun = just_begun};
}

TEST_CASE("a member whose first list has just begun could be meant, too") {
  const InnerRequest inner = Inner("PATCH", "/api/v1/namespaces/ns/pods/same");
  const MissingCluster young = BeingRead("member1", true);
  const auto code = [&](const InnerRequest& request, std::vector<std::string> holders,
                        const std::string& origin) {
    return CodeOf(OwnerOf(request, {{std::move(holders), {young}, 3}, origin}).status());
  };
  CHECK(code(inner, {}, "") == 503);
  CHECK(code(inner, {"member2"}, "") == 503);
  CHECK(code(inner, {"member2"}, "member1") == 503);
  CHECK(code(inner, {"member2", "member3"}, "") == 503);
  CHECK(*OwnerOf(inner, {{{"member2"}, {young}, 3}, "member2"}) == "member2");
  const InnerRequest log = Inner("GET", "/api/v1/namespaces/ns/pods/same/log");
  CHECK(*OwnerOf(log, {{{"member2"}, {young}, 3}, ""}) == "member2");
  CHECK(code(log, {}, "") == 503);
  const InnerRequest exec = Inner("GET", "/api/v1/namespaces/ns/pods/same/exec");
  CHECK(code(exec, {"member2"}, "") == 503);
}

TEST_CASE("members that cannot be read, or not soon, do not stop what is for the only holder") {
  for (const MissingCluster& missing : {Unreadable("member1"), BeingRead("member1", false)}) {
    CAPTURE(missing.reason);
    for (const auto& [method, target] :
         {std::pair("DELETE", "same"), std::pair("PATCH", "same"), std::pair("PUT", "same/scale"),
          std::pair("POST", "same/exec"), std::pair("GET", "same/portforward")}) {
      CAPTURE(method, target);
      const InnerRequest inner = Inner(method, absl::StrCat("/api/v1/namespaces/ns/pods/", target));
      const auto owner = OwnerOf(inner, {{{"member2"}, {missing}, 2}, ""});
      REQUIRE(owner.ok());
      CHECK(*owner == "member2");
    }
    // What was read from the member that is not known now is not looked for in another one.
    const InnerRequest put = Inner("PUT", "/api/v1/namespaces/ns/pods/same");
    CHECK(CodeOf(OwnerOf(put, {{{"member2"}, {missing}, 2}, "member1"}).status()) == 503);
  }
}

TEST_CASE("nobody takes an object for deleted that a member may still show") {
  const InnerRequest inner = Inner("DELETE", "/api/v1/namespaces/ns/pods/same");
  const auto code = [&](const MissingCluster& missing, size_t asked) {
    return CodeOf(OwnerOf(inner, {{{}, {missing}, asked}, ""}).status());
  };
  CHECK(code(Unreadable("member1"), 2) == 404);
  CHECK(code(Unreadable("member1"), 1) == 503);
  CHECK(code(BeingRead("member1", false), 2) == 503);
}

TEST_CASE("an object that no member has is not found") {
  const InnerRequest inner = Inner("GET", "/apis/apps/v1/namespaces/ns/deployments/web/scale");
  const auto error = kube::server::ErrorOf(OwnerOf(inner, {}).status());
  CHECK(error.code == 404);
  CHECK(error.message == "deployments.apps \"web\" not found");
}

TEST_CASE("a name that several members have is ambiguous") {
  const InnerRequest inner = Inner("PUT", "/api/v1/namespaces/ns/pods/same");
  const auto error =
      kube::server::ErrorOf(OwnerOf(inner, {{{"member2", "member1"}, {}, 2}, ""}).status());
  CHECK(error.code == 409);
  CHECK(error.reason == "Conflict");
  CHECK(
      error.message ==
      "Operation cannot be fulfilled on pods \"same\": ambiguous objects in clusters [member1, "
      "member2]; choose one with the query parameter \"cluster\", the header X-Karmada-Cluster, or "
      "a server URL that ends in proxying/<cluster>/proxy");
  CHECK(error.details == json::Value::Object({{"name", "same"}, {"kind", "pods"}}));
  // Unless the body says from where its object was read.
  CHECK(*OwnerOf(inner, {{{"member2", "member1"}, {}, 2}, "member1"}) == "member1");
  CHECK_FALSE(OwnerOf(inner, {{{"member2", "member1"}, {}, 2}, "member3"}).ok());
}

TEST_CASE("the choice of the caller comes first") {
  const InnerRequest inner = Inner("GET", "/api/v1/namespaces/ns/pods/same/log?cluster=member2");
  CHECK(*OwnerOf(inner, {{{"member1", "member2"}, {}, 2}, "member1"}) == "member2");
  CHECK(*OwnerOf(inner, {}) == "member2");
}

TEST_CASE("an object that was read from one member does not replace another member's") {
  const InnerRequest put = Inner("PUT", "/api/v1/namespaces/ns/pods/same?cluster=member2");
  const auto error = kube::server::ErrorOf(OwnerOf(put, {{}, "member1"}).status());
  CHECK(error.code == 409);
  CHECK_THAT(error.message, Catch::Contains("was read from cluster member1, and cluster member2"));
  CHECK(*OwnerOf(put, {{}, "member2"}) == "member2");
  CHECK(*OwnerOf(put, {{}, ""}) == "member2");
  // A copy may be made.
  const InnerRequest post = Inner("POST", "/api/v1/namespaces/ns/pods?cluster=member2");
  CHECK(*OwnerOf(post, {{}, "member1"}) == "member2");
}

TEST_CASE("the name of what is proxied to may have a scheme and a port") {
  const auto name = [](const std::string& path) {
    const auto key = ObjectOf(Inner("GET", path).info);
    if (key.ok()) return key->ToString();
    const kube::server::ApiError error = kube::server::ErrorOf(key.status());
    return absl::StrCat(error.code, " ", error.message);
  };
  const std::string in_ns = "/api/v1/namespaces/ns/";
  for (const std::string part : {"web", "web:", "web:80", "web:http", "http:web:80",
                                 "https:web:443", "https:web:", ":web:80", ":web:"}) {
    CAPTURE(part);
    CHECK(name(absl::StrCat(in_ns, "services/", part, "/proxy/x:y")) == "ns/web");
    CHECK(name(absl::StrCat(in_ns, "pods/", part, "/proxy")) == "ns/web");
    CHECK(name(absl::StrCat("/api/v1/nodes/", part, "/proxy/metrics")) == "web");
  }
  for (const std::string part : {":80", "ftp:web:80", "HTTPS:web:443", "https::443", "a:b:c:d"}) {
    CAPTURE(part);
    CHECK(name(absl::StrCat(in_ns, "services/", part, "/proxy")) ==
          absl::StrCat("400 invalid service request \"", part, "\""));
  }
  // Elsewhere a colon is a part of the name.
  CHECK(name("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node:x") == "system:node:x");
  CHECK(name(in_ns + "pods/a:b/log") == "ns/a:b");
}

}  // namespace
}  // namespace search
