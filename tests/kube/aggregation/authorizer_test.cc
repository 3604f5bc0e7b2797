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
