#include "api/resource_list.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/federated_resource_quota.h"

namespace {

json::Value Json(const char* text) { return *json::Parse(text); }

api::ResourceList List(const char* text) {
  auto list = api::ResourceList::FromJson(Json(text));
  REQUIRE(list.ok());
  return *std::move(list);
}

}  // namespace

TEST_CASE("resources are added, multiplied and selected exactly") {
  api::ResourceList sum = List(R"({"cpu": "100m", "memory": "1Gi"})");
  sum.Add(List(R"({"cpu": "333m", "gpu": 2})"), 1000000007);
  CHECK(sum.ToJson() == Json(R"({"cpu": "333000002431m", "gpu": "2000000014", "memory": "1Gi"})"));
  sum.Add(List(R"({"pods": "1"})"), 0);
  CHECK(sum.ToJson()["pods"].AsString() == "0");
  sum.DropZeros();
  sum.KeepOnly(Json(R"({"cpu": "1", "pods": "1"})"));
  CHECK(sum.ToJson() == Json(R"({"cpu": "333000002431m"})"));
  sum.KeepOnly(Json("{}"));
  CHECK(sum.ToJson().is_null());
}

TEST_CASE("an amount that is written in another way is no change") {
  const json::Value held = Json(R"({"cpu": "1000m", "memory": "1024Mi", "pods": 3})");
  CHECK(List(R"({"cpu": "1", "memory": "1Gi", "pods": "3"})").ToJson(held) == held);
  CHECK(List(R"({"cpu": "2000m"})").ToJson(held) == Json(R"({"cpu": "2"})"));
}

TEST_CASE("a quantity that cannot be read is named, and limits are not negative") {
  const auto bad = api::ResourceList::FromJson(Json(R"({"cpu": "1", "memory": "much"})"));
  CHECK(bad.status().message().find("memory: ") == 0);
  CHECK_FALSE(api::ResourceList::FromJson(Json(R"({"cpu": null})")).ok());
  CHECK_FALSE(api::ResourceList::FromJson(Json(R"({"cpu": {}})")).ok());
  CHECK(api::ResourceList::FromLimits(Json(R"({"cpu": "-1"})")).status().message() ==
        "cpu: -1 is negative");
  CHECK(api::ResourceList::FromLimits(Json(R"({"cpu": "0"})")).ok());
  CHECK(api::ResourceList::FromLimits({})->empty());
}

TEST_CASE("the first assignment that names a cluster counts, and absent clusters are named once") {
  const kube::Object quota(Json(R"({"spec": {"staticAssignments": [
      {"clusterName": "m1", "hard": {"cpu": "1"}}, {"clusterName": "m1", "hard": {"cpu": "2"}},
      {"clusterName": "m9", "hard": {}}, {"clusterName": "m9", "hard": {}}]}})"));
  const api::FederatedResourceQuotaView view(quota);
  CHECK(view.HardFor("m1") == Json(R"({"cpu": "1"})"));
  CHECK(view.HardFor("m2").is_null());
  CHECK(view.IsAssigned("m9"));
  CHECK_FALSE(view.IsAssigned("m2"));
  CHECK(view.AbsentClusters([](absl::string_view name) { return name == "m1"; }) ==
        std::vector<std::string>{
            "there is no cluster m9, which spec.staticAssignments[2].clusterName names"});
}
