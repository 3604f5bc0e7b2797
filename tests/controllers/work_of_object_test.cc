// Objects that were deleted in a member and whose Work has another name than they give it, as the
// Works of dispatched EndpointSlices have.
#include "controllers/work_status/work_of_object.h"

#include <catch2/catch.hpp>

#include "tests/controllers/work_status_fixture.h"

namespace {

using tests::Json;
using tests::kApp;
using tests::kConfigMaps;

const kube::ObjectKey kOther = {"karmada-es-m1", "by-hand"};

struct Fixture : tests::WorkStatusFixture {
  works::WantedWork Other() const {
    works::WantedWork wanted = tests::Template(kConfigMaps);
    wanted.key = kOther;
    return wanted;
  }
  // Stores the Work with this change.
  void Change(const kube::ObjectKey& key, json::Path path, json::Value value) {
    kube::Object work = server->Find(api::Works(), key);
    work.Set(path, std::move(value));
    PutCached(api::Works(), work);
  }
  // Deletes the object in the member; returns whether it is made again.
  bool ComesBack() {
    DeleteThere(kConfigMaps);
    CHECK(ReconcileDeleted(kConfigMaps).ok());
    return !m1.Find(kConfigMaps, kApp).empty();
  }
};

TEST_CASE_METHOD(Fixture, "an object whose Work has any other name is made again") {
  PutApplied(kConfigMaps, Other());
  SECTION("when no Work has the name that the object gives it") {}
  SECTION("when the Work of that name has something else") {
    works::WantedWork named = tests::Template(kConfigMaps);
    named.manifest.Set({"metadata", "name"}, "something-else");
    PutCached(api::Works(), works::NewWork(named));
  }
  SECTION("when the Work of that name is being deleted") {
    PutCached(api::Works(), works::NewWork(tests::Template(kConfigMaps)));
    Change(tests::Template(kConfigMaps).key, {"metadata", "deletionTimestamp"},
           "2024-01-01T00:00:00Z");
  }
  SECTION("when another such Work is suspended") {
    works::WantedWork suspended = Other();
    suspended.key.name = "another";
    suspended.suspend_dispatching = true;
    PutCached(api::Works(), works::NewWork(suspended));
  }
  CHECK(ComesBack());
}

TEST_CASE_METHOD(Fixture, "an object is not made again for a Work of another name that ends") {
  PutApplied(kConfigMaps, Other());
  SECTION("being deleted") {
    Change(kOther, {"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  }
  SECTION("suspended") { Change(kOther, {"spec", "suspendDispatching"}, true); }
  SECTION("gone") {
    server->Erase(api::Works(), kOther);
    REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), kOther) == nullptr; }));
  }
  SECTION("of another cluster") {
    kube::Object elsewhere = server->Find(api::Works(), kOther);
    server->Erase(api::Works(), kOther);
    REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), kOther) == nullptr; }));
    elsewhere.Set({"metadata", "namespace"}, "karmada-es-m2");
    elsewhere.Set({"metadata", "uid"}, "elsewhere");
    PutCached(api::Works(), elsewhere);
  }
  CHECK_FALSE(ComesBack());
}

TEST_CASE_METHOD(Fixture, "Works whose names follow from their objects take no room in the index") {
  CHECK(controllers::ObjectIndexValues(works::NewWork(tests::Template(kConfigMaps))).empty());
  CHECK(controllers::ObjectIndexValues(works::NewWork(Other())).size() == 1);
}

}  // namespace
