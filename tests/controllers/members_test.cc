#include <catch2/catch.hpp>
#include <string>

#include "api/reasons.h"
#include "controllers/members/member_reconciler.h"
#include "controllers/members/register.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/passes.h"

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
    const kube::ObjectPtr secret = cluster.Find(api::Secrets(), {"s", name});
    if (secret == nullptr) return absl::FailedPreconditionError("secret s/m1 not found");
    config.server = secret->Get({"data", "server"}).ToString();
    if (config.server.empty()) return absl::FailedPreconditionError("the secret names no server");
    return config;
  }
};

TEST_CASE_METHOD(Fixture, "a member whose secret changes is connected again") {
  const auto before = *members.Get("m1");
  PutSecret("second");
  REQUIRE(tests::Eventually([&] { return members.Find("m1") != before; }));
  REQUIRE((*members.Get("m1"))->client().raw().GetRaw("/readyz", {}).ok());
  CHECK_FALSE(second.Requests().empty());
  CHECK(first.Requests().empty());
}

TEST_CASE_METHOD(Fixture, "a secret that cannot be used leaves the connection as it is") {
  const auto before = *members.Get("m1");
  PutSecret("");
  const metrics::Counter& terminal =
      registry.GetCounter("controller_runtime_terminal_reconcile_errors_total", "",
                          {{"controller", api::kMemberController}});
  REQUIRE(tests::Eventually([&] { return terminal.Value() >= 1; }));
  CHECK(members.Find("m1") == before);
  PutSecret("second");
  CHECK(tests::Eventually([&] { return members.Find("m1") != before; }));
}

TEST_CASE_METHOD(Fixture, "a Secret that is deleted before its Cluster is no error") {
  const auto before = *members.Get("m1");
  REQUIRE(tests::Eventually(
      [&] { return tests::Passes(registry, api::kMemberController, "success") >= 1; }));
  const double passes = tests::Passes(registry, api::kMemberController, "success");
  server->Erase(api::Secrets(), {"s", "m1"});
  REQUIRE(tests::Eventually(
      [&] { return tests::Passes(registry, api::kMemberController, "success") > passes; }));
  CHECK(members.Find("m1") == before);
  const metrics::Counter& terminal =
      registry.GetCounter("controller_runtime_terminal_reconcile_errors_total", "",
                          {{"controller", api::kMemberController}});
  CHECK(terminal.Value() == 0);
}

TEST_CASE_METHOD(Fixture, "a member that leaves is forgotten") {
  REQUIRE(members.Get("m1").ok());
  REQUIRE(tests::Eventually(
      [&] { return tests::Passes(registry, api::kMemberController, "success") >= 1; }));
  server->Erase(api::Clusters(), {"", "m1"});
  CHECK(tests::Eventually([&] { return members.Names().empty(); }));
}

}  // namespace
