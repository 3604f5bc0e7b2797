#include "controllers/cluster_status/inventory_totals.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/support/members_fixture.h"
#include "tests/support/pods.h"

namespace {

using controllers::InventoryTotals;

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  controllers::MemberInventory inventory{members};
  InventoryTotals totals{inventory};

  Fixture() { PutPod("a"); }
  void PutPod(const char* name) {
    kube::Object pod = tests::Pod(name);
    pod.Set({"spec", "nodeName"}, "n1");
    m1.Put(api::Pods(), pod);
  }
  InventoryTotals::Followed Follow() {
    const auto followed = totals.Follow("m1");
    REQUIRE(followed.ok());
    for (const auto& informer : {followed->nodes, followed->pods}) {
      REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    }
    return *followed;
  }
  static std::string Pods(const InventoryTotals::Followed& followed) {
    return followed.totals->ResourceSummary({}).Get({"allocated", "pods"}).ToString();
  }
};

TEST_CASE_METHOD(Fixture, "totals of a member are kept and follow its pods") {
  const InventoryTotals::Followed first = Follow();
  CHECK(Pods(first) == "1");
  PutPod("b");
  CHECK(tests::Eventually([&] { return Pods(first) == "2"; }));
  CHECK(Follow().totals == first.totals);
}

TEST_CASE_METHOD(Fixture, "a member that reconnects has its totals built again") {
  std::weak_ptr<controllers::ResourceTotals> before = Follow().totals;
  members.Remove("m1");
  CHECK(tests::Eventually([&] { return before.expired(); }));  // Totals end with their informers.
  PutPod("b");
  CHECK(Pods(Follow()) == "2");
}

TEST_CASE_METHOD(Fixture, "totals of a member that is forgotten are kept up no more") {
  std::weak_ptr<controllers::ResourceTotals> before = Follow().totals;
  totals.Forget("m1");
  CHECK(before.expired());
  totals.Forget("stranger");
  CHECK(Pods(Follow()) == "1");
}

}  // namespace
