#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controllers/members/member_reconciler.h"
#include "tests/support/loops_fixture.h"

namespace {

// The members' servers are found by names that their Secrets contain.
struct Fixture : tests::LoopsFixture {
  tests::FakeApiServer& first = member("first");
  tests::FakeApiServer& second = member("second");

  Fixture() {
    Make();
    REQUIRE(controllers::RegisterMembers(Context(), 1).ok());
    Sync({api::Clusters(), api::Secrets()});
    PutSecret("first");
    kube::Object m1 = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    m1.Set({"spec"}, tests::Json(R"({"secretRef": {"namespace": "s", "name": "m1"}})"));
    PutCached(api::Clusters(), m1);
    Start();
  }
  ~Fixture() override {
    base::IgnoreError(Finish(), "ends the loop before what it uses goes");
    manager.reset();
  }

  void PutSecret(const char* server_name) {
    kube::Object secret = kube::Object::Make(api::Secrets().gvk, {"s", "m1"});
    secret.Set({"data", "server"}, server_name);
    PutCached(api::Secrets(), secret);
  }
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& name) override {
    if (cluster.Find(api::Clusters(), {"", name}) == nullptr) return absl::NotFoundError(name);
    kube::ConnectionConfig config;
    config.server = cluster.Find(api::Secrets(), {"s", name})->Get({"data", "server"}).ToString();
    if (config.server.empty()) return absl::FailedPreconditionError("the secret names no server");
    return config;
  }
};

TEST_CASE_METHOD(Fixture, "a member whose secret changes is connected anew") {
  const auto before = *members.Get("m1");
  PutSecret("second");
  REQUIRE(tests::Eventually([&] { return members.Find("m1") != before; }));
  REQUIRE((*members.Get("m1"))->client().raw().GetRaw("/readyz", {}).ok());
  CHECK(second.Requests().size() == 1);
  CHECK(first.Requests().empty());
}

TEST_CASE_METHOD(Fixture, "a secret that cannot be used leaves the connection as it is") {
  const auto before = *members.Get("m1");
  PutSecret("");
  // More than one pass may have looked at it.
  constexpr char kErrors[] =
      "controller_runtime_terminal_reconcile_errors_total{"
      "controller=\"member-cluster-controller\"} ";
  REQUIRE(tests::Eventually([&] {
    const std::string metrics = registry.Expose();
    return absl::StrContains(metrics, kErrors) &&
           !absl::StrContains(metrics, absl::StrCat(kErrors, "0"));
  }));
  CHECK(members.Find("m1") == before);
  PutSecret("second");
  CHECK(tests::Eventually([&] { return members.Find("m1") != before; }));
}

TEST_CASE_METHOD(Fixture, "a member that leaves is forgotten") {
  REQUIRE(members.Get("m1").ok());
  REQUIRE(tests::Eventually([&] {
    return absl::StrContains(registry.Expose(),
                             "controller_runtime_reconcile_total{"
                             "controller=\"member-cluster-controller\",result=\"success\"} 1");
  }));
  server->Erase(api::Clusters(), {"", "m1"});
  CHECK(tests::Eventually([&] { return members.Names().empty(); }));
}

}  // namespace
