// The work-status loop as Karmada v1.19, where the execution loop alone writes to members.
#include <catch2/catch.hpp>

#include "tests/controllers/work_status_fixture.h"

namespace {

using tests::kConfigMaps;
using works::Repairs;

struct Status : tests::WorkStatusFixture {
  Status() : WorkStatusFixture(Repairs::kByWork) {}
};

TEST_CASE_METHOD(Status, "as v1.19 the work-status loop only reads") {
  PutApplied(kConfigMaps);
  ChangeThere(kConfigMaps, {"spec", "replicas"}, 7);
  ChangeThere(kConfigMaps, {"status"}, tests::Json(R"({"seen": true})"));
  const size_t calls = m1.Calls();
  REQUIRE(Reconcile(kConfigMaps).ok());
  CHECK(Written(kConfigMaps)["manifestStatuses"].At(0)["status"]["seen"].AsBool());
  DeleteThere(kConfigMaps);
  REQUIRE(ReconcileDeleted(kConfigMaps).ok());
  CHECK(m1.Find(kConfigMaps, tests::kApp).empty());
  CHECK(m1.Calls() == calls);
  CHECK(recorded->All().empty());
  CHECK(execution.size() == 0);
  CHECK_FALSE(Written(kConfigMaps).Has("conditions"));
}

}  // namespace
