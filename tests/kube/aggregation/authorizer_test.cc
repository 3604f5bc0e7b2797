#include "kube/aggregation/authorizer.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "kube/server/api_errors.h"
#include "tests/kube/aggregation/review_server.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube::aggregation {
namespace {

Attributes Get(const std::string& user, const std::string& resource,
               const std::string& name = "web") {
  return {.user = {.name = user},
          .verb = "get",
          .is_resource = true,
          .group = "apps",
          .version = "v1",
          .resource = resource,
          .ns = "a",
          .name = name};
}

Attributes GetPath(const std::string& user, const std::string& path) {
  return {.user = {.name = user}, .verb = "get", .path = path};
}

struct Fixture {
  std::shared_ptr<tests::ReviewServer> server = std::make_shared<tests::ReviewServer>();
  tests::FakeClock clock;
  ReviewClient reviews{{}, server, clock, nullptr};
  DelegatedAuthorizer::Options options;
  std::unique_ptr<DelegatedAuthorizer> authorizer;

  ~Fixture() { reviews.Stop(); }

  absl::StatusOr<Decision> Ask(const Attributes& attributes) {
    if (authorizer == nullptr) {
      authorizer = std::make_unique<DelegatedAuthorizer>(options, reviews, clock);
    }
    absl::Mutex mu;
    std::optional<absl::StatusOr<Decision>> decision;
    authorizer->Authorize(attributes, [&](absl::StatusOr<Decision> answer) {
      absl::MutexLock lock(&mu);
      decision = std::move(answer);
    });
    absl::MutexLock lock(&mu);
    const auto has = [&] { return decision.has_value(); };
    mu.Await(absl::Condition(&has));
    return *decision;
  }
  bool Allows(const Attributes& attributes) {
    const auto decision = Ask(attributes);
    REQUIRE(decision.ok());
    return decision->allowed;
  }
};

TEST_CASE("masters may do everything, and everybody may read the health checks") {
  Fixture f;
  Attributes master = Get("root", "deployments");
  master.user.groups = {"devs", "system:masters"};
  CHECK(f.Allows(master));
  CHECK(f.Allows(GetPath("system:anonymous", "/livez")));
  CHECK(f.server->count() == 0);
  CHECK_FALSE(f.Allows(GetPath("system:anonymous", "/livez/etcd")));
  CHECK_FALSE(f.Allows(GetPath("system:anonymous", "/metrics")));
  // A resource is not a path, whatever its path is.
  Attributes odd = Get("bob", "deployments");
  odd.path = "/livez";
  CHECK_FALSE(f.Allows(odd));
}

TEST_CASE("a path that ends with a star is a prefix") {
  Fixture f;
  f.options.always_allow_paths = {"/metrics", "/open/*"};
  CHECK(f.Allows(GetPath("x", "/open/a/b")));
  CHECK_FALSE(f.Allows(GetPath("x", "/openapi/v2")));
  CHECK_FALSE(f.Allows(GetPath("x", "/livez")));
}

TEST_CASE("the control plane is asked with everything that is known of the user") {
  Fixture f;
  Attributes attributes = Get("bob", "deployments");
  attributes.subresource = "status";
  attributes.user.uid = "7";
  attributes.user.groups = {"devs"};
  attributes.user.extra["scopes"] = {"a", "b"};
  CHECK_FALSE(f.Allows(attributes));
  CHECK(json::Write(f.server->last_spec()) ==
        R"({"extra":{"scopes":["a","b"]},"groups":["devs"],"resourceAttributes":{"group":"apps",)"
        R"("name":"web","namespace":"a","resource":"deployments","subresource":"status",)"
        R"("verb":"get","version":"v1"},"uid":"7","user":"bob"})");
}

// Returns the resourceAttributes that the control plane is asked with for this request.
std::string AskedFor(Fixture& f, const std::string& path,
                     std::vector<std::pair<std::string, std::string>> query,
                     const std::string& method = "GET") {
  const base::HttpRequest request{.method = method, .path = path, .query = std::move(query)};
  CHECK_FALSE(f.Allows(AttributesOf({.name = "bob"}, server::ReadRequest(request), request)));
  return json::Write(f.server->last_spec()["resourceAttributes"]);
}

constexpr char kPodsOfA[] = "/api/v1/namespaces/a/pods";

TEST_CASE("the control plane is asked for the selectors of lists, watches and deletecollections") {
  Fixture f;
  CHECK(AskedFor(f, kPodsOfA,
                 {{"labelSelector", "x in (b,a),!y,z>1,n!=m,e"},
                  {"fieldSelector", "spec.nodeName=n1,status.phase!=Failed"}}) ==
        R"({"fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In",)"
        R"("values":["n1"]},{"key":"status.phase","operator":"NotIn","values":["Failed"]}]},)"
        R"("labelSelector":{"requirements":[{"key":"e","operator":"Exists"},{"key":"n",)"
        R"("operator":"NotIn","values":["m"]},{"key":"x","operator":"In","values":["a","b"]},)"
        R"({"key":"y","operator":"DoesNotExist"}]},"namespace":"a","resource":"pods",)"
        R"("verb":"list","version":"v1"})");
  const std::string labels =
      R"({"labelSelector":{"requirements":[{"key":"x","operator":"In","values":["y"]}]},)"
      R"("namespace":"a","resource":"pods","verb":")";
  CHECK(AskedFor(f, kPodsOfA, {{"watch", "1"}, {"labelSelector", "x=y"}}) ==
        labels + R"(watch","version":"v1"})");
  CHECK(AskedFor(f, kPodsOfA, {{"labelSelector", "x=y"}}, "DELETE") ==
        labels + R"(deletecollection","version":"v1"})");
}

TEST_CASE("selectors that narrow nothing, or cannot be read, are not asked for") {
  Fixture f;
  const std::string plain = R"({"namespace":"a","resource":"pods","verb":"list","version":"v1"})";
  CHECK(AskedFor(f, kPodsOfA, {{"labelSelector", "x in ("}, {"fieldSelector", "x"}}) == plain);
  CHECK(AskedFor(f, kPodsOfA, {{"labelSelector", ""}, {"fieldSelector", ""}}) == plain);
  // Reviews have no such operator.
  CHECK(AskedFor(f, kPodsOfA, {{"labelSelector", "x>1"}}) == plain);
  // Other verbs have none, nor has the deprecated form of a watch.
  CHECK(AskedFor(f, absl::StrCat(kPodsOfA, "/web"), {{"labelSelector", "x=y"}}) ==
        R"({"name":"web","namespace":"a","resource":"pods","verb":"get","version":"v1"})");
  CHECK(AskedFor(f, "/api/v1/watch/namespaces/a/pods", {{"labelSelector", "x=y"}}) ==
        R"({"namespace":"a","resource":"pods","verb":"watch","version":"v1"})");
}

TEST_CASE("a list of one name is asked for with this name, so that a right to it suffices") {
  Fixture f;
  const auto asked = [&](const std::string& fields, const std::string& method) {
    AskedFor(f, kPodsOfA, {{"fieldSelector", fields}}, method);
    return f.server->last_spec()["resourceAttributes"]["name"].ToString();
  };
  CHECK(asked("metadata.name=web", "GET") == "web");
  CHECK(asked("a=b,metadata.name=web", "GET") == "web");
  CHECK(asked("metadata.name!=web", "GET").empty());
  CHECK(asked("metadata.name=a/b", "GET").empty());
  CHECK(asked("metadata.name=web", "DELETE").empty());
}

TEST_CASE("a decision about some objects does not count for others") {
  Fixture f;
  AskedFor(f, kPodsOfA, {{"labelSelector", "x=y"}});
  AskedFor(f, kPodsOfA, {{"labelSelector", "x=z"}});
  AskedFor(f, kPodsOfA, {});
  AskedFor(f, kPodsOfA, {{"labelSelector", "x=y"}});
  CHECK(f.server->count() == 3);
}

TEST_CASE("decisions of both kinds count for their time, for the same question only") {
  Fixture f;
  f.server->Allow("bob get deployments/web");
  CHECK(f.Allows(Get("bob", "deployments")));
  CHECK_FALSE(f.Allows(Get("eve", "deployments")));
  f.server->Deny("bob get deployments/web");
  f.server->Allow("eve get deployments/web");
  CHECK(f.Allows(Get("bob", "deployments")));
  CHECK_FALSE(f.Allows(Get("eve", "deployments")));
  CHECK(f.server->count() == 2);
  f.clock.Advance(absl::Seconds(10));
  CHECK_FALSE(f.Allows(Get("bob", "deployments")));
  CHECK(f.Allows(Get("eve", "deployments")));
  CHECK(f.server->count() == 4);
}

TEST_CASE("decisions about very long names are not kept") {
  Fixture f;
  const Attributes attributes = Get("bob", "deployments", std::string(10000, 'x'));
  CHECK_FALSE(f.Allows(attributes));
  CHECK_FALSE(f.Allows(attributes));
  CHECK(f.server->count() == 2);
}

TEST_CASE("without an answer there is no decision") {
  Fixture f;
  f.server->FailNext({400});
  CHECK_FALSE(f.Ask(Get("bob", "deployments")).ok());
  CHECK(f.Ask(Get("bob", "deployments")).ok());
}

std::string Denied(const Attributes& attributes, const std::string& reason = "") {
  const server::ApiError error = server::ErrorOf(ForbiddenError(attributes, reason));
  CHECK(error.code == 403);
  CHECK(error.reason == "Forbidden");
  return error.message;
}

TEST_CASE("denials have upstream's words") {
  Attributes proxying = Get("bob", "proxying", "karmada");
  proxying.group = "search.karmada.io";
  proxying.subresource = "proxy";
  proxying.ns = "";
  CHECK(Denied(proxying) ==
        R"(proxying.search.karmada.io "karmada" is forbidden: User "bob" cannot get resource )"
        R"("proxying/proxy" in API group "search.karmada.io" at the cluster scope)");
  CHECK(Denied(Get("b<o>b&", "deployments", ""), "because") ==
        R"(deployments.apps is forbidden: User "b&lt;o&gt;b&amp;" cannot get resource )"
        R"("deployments" in API group "apps" in the namespace "a": because)");
  CHECK(Denied(GetPath("system:anonymous", "/apis")) ==
        R"(forbidden: User "system:anonymous" cannot get path "/apis")");
}

}  // namespace
}  // namespace kube::aggregation
