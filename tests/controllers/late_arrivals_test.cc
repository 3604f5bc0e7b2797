// What becomes of objects in a member that wait for their namespace or for their kind.
#include <catch2/catch.hpp>
#include <string>

#include "api/reasons.h"
#include "api/work.h"
#include "controllers/execution/execution_reconciler.h"
#include "controllers/execution/register.h"
#include "controllers/work_status/register.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/passes.h"
#include "works/work_writer.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::kConfigMaps;

const kube::Resource kGadgets{{"example.com", "v1", "Gadget"}, "gadgets", true};

struct Fixture : tests::LoopsFixture {
  tests::FakeApiServer& m1 = member("m1");

  Fixture() {
    Serve({kConfigMaps, api::Namespaces()});
    Sync({api::Works(), api::Clusters(), api::Secrets()});
    PutCluster("[]");
    Make();
  }
  void Serve(const std::vector<kube::Resource>& resources) {
    kube::Discovery discovery;
    for (const kube::Resource& r : resources) {
      discovery.resources.push_back({.resource = r, .verbs = {}, .preferred = true});
    }
    mapper.Update(discovery);
  }
  void PutCluster(const char* enablements) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"spec", "syncMode"}, "Push");
    c.Set({"status", "conditions"}, Json(R"([{"type": "Ready", "status": "True"}])"));
    c.Set({"status", "apiEnablements"}, Json(enablements));
    PutCached(api::Clusters(), c);
  }
  void PutWork(const kube::Object& manifest) {
    works::WantedWork wanted;
    wanted.key = {"karmada-es-m1", std::string(manifest.name())};
    wanted.manifest = manifest;
    PutCached(api::Works(), works::NewWork(wanted));
  }
};

// From the end of the failures on the clock stands still, so that no back-off ends.
TEST_CASE_METHOD(Fixture, "objects are applied at once when their namespace has been made") {
  REQUIRE(controllers::RegisterExecution(Context(), 2).ok());
  REQUIRE(controllers::RegisterWorkStatus(Context(), {2, 2}).ok());
  m1.FailNext("POST", 403, "Forbidden", 1000);
  PutWork(kube::Object::Make(kConfigMaps.gvk, {"shop", "app"}));
  Start();
  REQUIRE(Eventually([&] {
    clock.Advance(works::kSettledHold);
    const kube::ObjectPtr work = cluster.Find(api::Works(), {"karmada-es-m1", "app"});
    const json::Value* applied =
        kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
    return applied != nullptr && (*applied)["status"].AsString() == "False";
  }));
  m1.EndFailures();
  PutWork(kube::Object::Make(api::Namespaces().gvk, {"", "shop"}));
  CHECK(Eventually([&] { return !m1.Find(kConfigMaps, {"shop", "app"}).empty(); }));
}

TEST_CASE_METHOD(Fixture, "objects of a kind that a cluster begins to serve are watched at once") {
  REQUIRE(controllers::RegisterWorkStatus(Context(), {2, 2}).ok());
  PutWork(kube::Object::Make(kGadgets.gvk, {"shop", "app"}));
  Start();
  REQUIRE(Eventually(
      [&] { return tests::Passes(registry, api::kWorkStatusController, "error") >= 1; }));
  Serve({kGadgets});
  PutCluster(R"([{"groupVersion": "example.com/v1", "resources": [{"kind": "Gadget",
                                                                  "name": "gadgets"}]}])");
  CHECK(m1.AwaitRequests("WATCH", 1));
}

}  // namespace
