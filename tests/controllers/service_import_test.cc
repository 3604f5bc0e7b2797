#include "controllers/service_import/register.h"
#include "controllers/service_import/service_import_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/service_import.h"
#include "controllers/service_import/derived_service.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;

const kube::ObjectKey kDb = {"shop", "db"};
const kube::ObjectKey kDerived = {"shop", "derived-db"};

kube::Object Import(const std::string& spec = R"("ports": [{"port": 80}])",
                    const std::string& type = "ClusterSetIP") {
  kube::Object import = kube::Object::Make(api::ServiceImports().gvk, kDb);
  import.Set({"spec"}, Json(absl::StrCat("{", spec, R"(, "type": ")", type, "\"}")));
  return import;
}

// As upstream leaves it, completed by the server.
kube::Object UpstreamsService() {
  kube::Object service = kube::Object::Make(api::Services().gvk, kDerived);
  service.Set({"spec"}, Json(R"({"type": "ClusterIP", "clusterIP": "10.9.8.7",
      "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]})"));
  return service;
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::ServiceImportReconciler> reconciler;

  Fixture() {
    Sync({api::ServiceImports(), api::Services()});
    reconciler.emplace(Make());
  }
  void Put(const kube::Object& import) { PutCached(api::ServiceImports(), import); }
  void EraseImport() {
    server->Erase(api::ServiceImports(), kDb);
    REQUIRE(Eventually(
        [&] { return informers.Get(api::ServiceImports())->store().Find(kDb) == nullptr; }));
  }
  absl::Status Reconcile(kube::Reason reason = {}) {
    return reconciler->Reconcile({.key = kDb, .reason = reason}, {}).status();
  }
  kube::Object Derived() const { return server->Find(api::Services(), kDerived); }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an import gets its Service, which is written once") {
  Put(Import(R"("ports": [{"port": 80, "name": "http"}], "ips": ["10.0.0.1"])"));
  REQUIRE(Reconcile().ok());
  const kube::Object service = Derived();
  CHECK(service.spec() == Json(R"({"type": "ClusterIP",
      "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}]})"));
  CHECK(service.status() == Json(R"({"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}})"));
  CHECK(api::ServiceImportOf(service) == kDb);
  CHECK(service.OwnerRefs().size() == 1);
  CHECK_FALSE(service.OwnerRefs()[0].controller);
  CHECK(Writes() == 2);            // Upstream needs as many.
  CHECK(recorded->All().empty());  // The Service shows it.

  reconciler.emplace(*manager);  // Forgets everything, as a restart does.
  REQUIRE(Shows(api::Services(), service));
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 2);
}

TEST_CASE_METHOD(Fixture, "with upstream's events a derived Service is one, once per change") {
  recorded->WantRoutine();
  Put(Import());
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal SyncDerivedServiceSucceed ServiceImport: Sync derived "
                                 "service for serviceImport(db) succeed."});
}

TEST_CASE_METHOD(Fixture, "what others have put on the derived Service stays") {
  kube::Object before = UpstreamsService();
  before.SetLabel("team", "a");
  PutCached(api::Services(), before);
  Put(Import(R"("ports": [{"port": 81}])"));
  REQUIRE(Reconcile().ok());
  CHECK(Derived().Label("team") == "a");
  CHECK(Derived().spec() == Json(R"({"type": "ClusterIP", "clusterIP": "10.9.8.7",
      "ports": [{"port": 81, "protocol": "TCP", "targetPort": 81}]})"));
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "a Service that upstream has made gets an owner and nothing else") {
  const kube::Object before = UpstreamsService();
  PutCached(api::Services(), before);
  Put(Import());
  REQUIRE(Reconcile().ok());
  CHECK(Derived().spec() == before.spec());
  CHECK(api::ServiceImportOf(Derived()) == kDb);
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "somebody's own Service of that name stays, and is made way for") {
  kube::Object own = UpstreamsService();
  own.Set({"spec", "selector"}, Json(R"({"app": "mine"})"));
  const kube::Object stored = PutCached(api::Services(), own);
  Put(Import());
  CHECK(Reconcile().code() == absl::StatusCode::kAlreadyExists);
  CHECK(Derived() == stored);
  CHECK(Writes() == 0);
  EraseImport();
  CHECK(Reconcile(controllers::ServiceImportReconciler::kWasDeleted).ok());
  CHECK(Derived() == stored);
  CHECK(api::ServiceImportNamedBy(kDerived) == kDb);
  CHECK(api::ServiceImportNamedBy({"shop", "web"}).name.empty());
}

TEST_CASE_METHOD(Fixture, "a Service of an earlier import of that name is taken over") {
  Put(Import());
  REQUIRE(Reconcile().ok());
  const std::string first = Derived().OwnerRefs().at(0).uid;
  EraseImport();
  Put(Import());
  REQUIRE(Shows(api::Services(), Derived()));
  REQUIRE(Reconcile().ok());
  REQUIRE(Derived().OwnerRefs().size() == 1);
  CHECK(Derived().OwnerRefs()[0].uid != first);
}

TEST_CASE_METHOD(Fixture, "other types of imports are left alone") {
  Put(Import(R"("ports": [])", "Headless"));
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "addresses that go are taken out of the status") {
  Put(Import(R"("ports": [{"port": 80}], "ips": ["10.0.0.1"])"));
  REQUIRE(Reconcile().ok());
  REQUIRE(Shows(api::Services(), Derived()));
  Put(Import());
  REQUIRE(Reconcile().ok());
  CHECK(Derived().status()["loadBalancer"]["ingress"].is_null());
  CHECK(Writes() == 3);
}

TEST_CASE_METHOD(Fixture, "what the server refuses is reported and not tried again") {
  Put(Import(R"("ports": [])"));
  server->FailNext("POST", 422, "Invalid");
  const absl::Status failed = Reconcile();
  CHECK(base::IsTerminal(failed));
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0], "Warning SyncDerivedServiceFailed ServiceImport: "));
  Put(Import());
  CHECK(Reconcile().ok());
  CHECK(recorded->All().size() == 2);  // The success that ends the failure.
}

TEST_CASE_METHOD(Fixture, "addresses that the server does not take in a status are no failure") {
  Put(Import(R"("ports": [{"port": 80}], "ips": ["10.0.0.1"])"));
  SECTION("as new servers do") {
    server->FailNext("PATCH", 422,
                     "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "
                     "'LoadBalancer'");
    CHECK(Reconcile().ok());
    CHECK(recorded->All().empty());
  }
  SECTION("what is wrong with them is one") {
    server->FailNext("PATCH", 422, "status.loadBalancer.ingress[0].ip: Invalid value");
    CHECK(base::IsTerminal(Reconcile()));
    CHECK(recorded->All().size() == 1);
  }
  CHECK_FALSE(Derived().spec()["ports"].empty());
}

TEST_CASE_METHOD(Fixture, "the Service goes with its import, and no other Service does") {
  SECTION("a derived one, whenever the import went") {
    Put(Import());
    REQUIRE(Reconcile().ok());
    REQUIRE(Shows(api::Services(), Derived()));
    EraseImport();
    REQUIRE(Reconcile().ok());
    CHECK(Derived().empty());
  }
  SECTION("upstream's, when the import goes now") {
    PutCached(api::Services(), UpstreamsService());
    REQUIRE(Reconcile().ok());
    CHECK_FALSE(Derived().empty());  // It might be anybody's.
    REQUIRE(Reconcile(controllers::ServiceImportReconciler::kWasDeleted).ok());
    CHECK(Derived().empty());
  }
  SECTION("somebody else's") {
    kube::Object service = UpstreamsService();
    service.Set({"spec", "selector", "app"}, "mine");
    PutCached(api::Services(), service);
    REQUIRE(Reconcile(controllers::ServiceImportReconciler::kWasDeleted).ok());
    CHECK_FALSE(Derived().empty());
  }
}

TEST_CASE_METHOD(Fixture, "the registered import loop follows imports and their Services") {
  REQUIRE(controllers::RegisterServiceImport(Context(), 1).ok());
  kube::Object foreign = kube::Object::Make(api::Services().gvk, {"shop", "derived-mine"});
  PutCached(api::Services(), foreign);
  Put(Import());
  Start();
  REQUIRE(Eventually([&] { return !Derived().empty(); }));
  SECTION("a Service that somebody deletes is made again") {
    server->Erase(api::Services(), kDerived);
    CHECK(Eventually([&] { return !Derived().empty(); }));
  }
  SECTION("ports that somebody edits are put back") {
    kube::Object edited = Derived();
    edited.Set({"spec", "ports"}, Json(R"([{"port": 1}])"));
    server->Put(api::Services(), edited);
    CHECK(Eventually([&] { return Derived().spec()["ports"].At(0)["port"].AsInt() == 80; }));
  }
  SECTION("the Service goes with the import") {
    server->Erase(api::ServiceImports(), kDb);
    CHECK(Eventually([&] { return Derived().empty(); }));
  }
  CHECK_FALSE(server->Find(api::Services(), foreign.key()).empty());
}
