// The status of a template, of kinds with and without a status subresource.
#include "controllers/bindingstatus/binding_status_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using tests::Json;
using tests::kDeployments;
using Server = tests::FakeApiServer;
using Strings = std::vector<std::string>;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kBinding = {"ns", "web-deployment"};

struct Fixture : tests::MembersFixture {
  tests::ScriptedInterpreter scripted;
  std::optional<controllers::BindingStatusReconciler<api::scope::Namespaced>> reconciler;

  Fixture() {
    Sync({kDeployments, api::ResourceBindings(), api::Works()});
    informers.Get(api::Works())->AddIndex(api::kResourceBindingIdLabel, [](const kube::Object&) {
      return Strings();
    });
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBinding);
    binding.SetLabel(api::kResourceBindingIdLabel, "id");
    binding.Set({"spec", "resource"},
                api::ObjectReference::Of(kube::Object::Make(kDeployments.gvk, kWeb)).ToJson());
    PutCached(api::ResourceBindings(), binding);
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    reconciler.emplace(Make(), scripted);
    scripted.Enable(interpreter::Operation::kAggregateStatus);
    scripted.aggregated = Json(R"({"ready": 1})");
  }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = kBinding}, {}).status(); }
  json::Value Status() const { return server->Find(kDeployments, kWeb).status(); }
  // Returns all requests about the template so far.
  Strings Sent() const {
    Strings sent;
    for (const std::string& line : server->Requests()) {
      if (absl::StrContains(line, "/deployments/web"))
        sent.push_back(line.substr(0, line.find(' ')) +
                       (absl::EndsWith(line, "/status") ? " status" : " object"));
    }
    return sent;
  }
};

TEST_CASE_METHOD(Fixture, "the aggregated status goes to the subresource, once") {
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 1})"));
  REQUIRE(Reconcile().ok());
  CHECK(Sent() == Strings{"PATCH status"});
}

TEST_CASE_METHOD(Fixture,
                 "a kind without status subresource has its status patched on the object") {
  server->KeepStatus(kDeployments, Server::Status::kOnObject);
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 1})"));
  CHECK(Sent() == Strings{"PATCH status", "GET object", "PATCH object"});
  CHECK(server->last_body() == R"({"status":{"ready":1}})");
  CHECK(recorded->All().empty());
  REQUIRE(Reconcile().ok());
  CHECK(Sent().size() == 3);
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
  CHECK(Sent().size() == 4);  // The loop knows now where the kind keeps its status.
}

TEST_CASE_METHOD(Fixture, "a kind that gets the subresource later is written there from then on") {
  server->KeepStatus(kDeployments, Server::Status::kOnObject);
  REQUIRE(Reconcile().ok());
  server->KeepStatus(kDeployments, Server::Status::kSubresource);
  scripted.aggregated = Json(R"({"ready": 2})");
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"ready": 2})"));
  scripted.aggregated = Json(R"({"ready": 3})");
  REQUIRE(Reconcile().ok());
  CHECK(Sent().back() == "PATCH status");
  CHECK(Status() == Json(R"({"ready": 3})"));
}

TEST_CASE_METHOD(Fixture,
                 "a kind whose status the server does not keep is reported, without retries") {
  server->KeepStatus(kDeployments, Server::Status::kNone);
  CHECK(kube::IsTerminal(Reconcile()));
  CHECK(recorded->All() == Strings{"Warning AggregateStatusFailed Deployment: the server keeps no "
                                   "status of Deployment (apps/v1)"});
}

TEST_CASE_METHOD(Fixture, "an interpreter's error is never taken for a template that went") {
  // The chain does not return this code, but the loop does not rely on that.
  scripted.aggregated = absl::NotFoundError("not found function AggregateStatus");
  CHECK_FALSE(Reconcile().ok());
  CHECK(recorded->All() == Strings{"Warning AggregateStatusFailed Deployment: not found function "
                                   "AggregateStatus"});
}

TEST_CASE_METHOD(Fixture, "a template that went meanwhile is not a failure") {
  server->Erase(kDeployments, kWeb);  // The cache may still have it.
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().empty());
}

}  // namespace
