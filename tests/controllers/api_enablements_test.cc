#include "controllers/cluster_status/api_enablements.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/support/members_fixture.h"

namespace controllers {
namespace {

kube::ApiResource Kind(const char* group, const char* kind, const char* plural) {
  return {.resource = {{group, "v1", kind}, plural, true}};
}

json::Value Before() {
  return tests::Json(
      R"([{"groupVersion": "metrics/v1", "resources": [{"kind": "Load", "name": "loads"}]},
          {"groupVersion": "gone/v1", "resources": [{"kind": "Gone", "name": "gones"}]}])");
}

TEST_CASE("the kinds of a member are listed in the order of their names") {
  ApiEnablementsCache cache;
  const auto found = std::make_shared<const kube::Discovery>(
      kube::Discovery{.resources = {Kind("", "Pod", "pods"), Kind("apps", "Set", "sets"),
                                    Kind("apps", "Deployment", "deployments")}});
  const json::Value expected = tests::Json(
      R"([{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"},
                                              {"kind": "Set", "name": "sets"}]},
          {"groupVersion": "v1", "resources": [{"kind": "Pod", "name": "pods"}]}])");
  CHECK(cache.Of(found, Before()) == expected);
  CHECK(cache.Of(found, {}) == expected);
}

TEST_CASE("each discovery has its own list, also when the one before is gone") {
  ApiEnablementsCache cache;
  for (const char* kind : {"A", "B", "C"}) {
    const auto found = std::make_shared<const kube::Discovery>(
        kube::Discovery{.resources = {Kind("", kind, "things")}});
    const json::Value list = cache.Of(found, {});
    REQUIRE(list.size() == 1);
    CHECK(list.items()[0]["resources"].items()[0]["kind"].AsString() == kind);
  }
}

TEST_CASE("groups that cannot be read keep the kinds that each member had") {
  ApiEnablementsCache cache;
  const auto found = std::make_shared<const kube::Discovery>(
      kube::Discovery{.resources = {Kind("", "Pod", "pods")}, .failed_groups = {"metrics/v1"}});
  const json::Value with = cache.Of(found, Before());
  REQUIRE(with.size() == 2);
  CHECK(with.items()[0] == Before().items()[0]);
  // Another member with the same kinds had none of that group before.
  CHECK(cache.Of(found, {}).size() == 1);
}

}  // namespace
}  // namespace controllers
