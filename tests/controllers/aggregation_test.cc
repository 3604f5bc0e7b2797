#include "controllers/binding_status/aggregation.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"

namespace {

api::ObjectReference Web() {
  api::ObjectReference reference;
  reference.api_version = "apps/v1";
  reference.kind = "Deployment";
  reference.ns = "ns";
  reference.name = "web";
  return reference;
}

kube::ObjectPtr Work(const std::string& cluster, const std::string& status) {
  return kube::Share(kube::Object(
      json::Parse(absl::StrCat(R"({"apiVersion":"work.karmada.io/v1alpha1","kind":"Work",
        "metadata":{"name":"web-1","namespace":"karmada-es-)",
                               cluster, R"("},
        "spec":{"workload":{"manifests":[{"apiVersion":"apps/v1","kind":"Deployment",
          "metadata":{"name":"web","namespace":"ns"}}]}},
        "status":)",
                               status, "}"))
          .value()));
}

const char kHealthy[] = R"({"conditions":[{"type":"Applied","status":"True"}],
  "manifestStatuses":[{"identifier":{"ordinal":0,"group":"apps","version":"v1","kind":"Deployment",
    "resource":"","namespace":"ns","name":"web"},"status":{"replicas":1},"health":"Healthy"}]})";
const char kRefused[] = R"({"conditions":[{"type":"Applied","status":"False","message":"quota"}]})";

}  // namespace

TEST_CASE("items keep what the items of their clusters had besides") {
  const std::vector<api::AggregatedStatusItem> items = {{"m1", {}, true, "", "Healthy"},
                                                        {"m2", {}, false, "refused", "Unknown"}};
  const json::Value held = json::Parse(R"([{"clusterName":"m2","applied":true,"later":1},
      {"clusterName":"m3","later":2}])")
                               .value();
  CHECK(controllers::ItemsToJson(items, held) ==
        json::Parse(R"([{"clusterName":"m1","applied":true,"health":"Healthy"},
            {"clusterName":"m2","appliedMessage":"refused","health":"Unknown","later":1}])")
            .value());
}

TEST_CASE("Items are sorted by cluster and carry status and health of applied works") {
  const auto items =
      controllers::AggregateWorks(Web(), {Work("m2", kHealthy), Work("m1", kRefused)}).value();
  REQUIRE(items.size() == 2);
  CHECK(items[0].cluster_name == "m1");
  CHECK_FALSE(items[0].applied);
  CHECK(items[0].applied_message == "quota");
  CHECK(items[0].health == "Unknown");
  CHECK(items[1].applied);
  CHECK(items[1].health == "Healthy");
  CHECK(items[1].status["replicas"].AsInt() == 1);
}

TEST_CASE("The status of an object stays when a change of it cannot be applied") {
  const std::string refused =
      absl::StrReplaceAll(kHealthy, {{R"("True"})", R"("False","message":"quota"})"}});
  const auto items = controllers::AggregateWorks(Web(), {Work("m1", refused)}).value();
  REQUIRE(items.size() == 1);
  CHECK_FALSE(items[0].applied);
  CHECK(items[0].applied_message == "quota");
  CHECK(items[0].health == "Healthy");
  CHECK(items[0].status["replicas"].AsInt() == 1);
}

TEST_CASE("FullyApplied needs every expected cluster and no other") {
  const auto items = controllers::AggregateWorks(Web(), {Work("m1", kHealthy)}).value();
  CHECK(controllers::FullyApplied({"m1"}, items).status == "True");
  CHECK(controllers::FullyApplied({"m1", "m2"}, items).status == "False");
  CHECK(controllers::FullyApplied({"m2"}, items).status == "False");
  CHECK(controllers::FullyApplied({}, {}).status == "False");
}

TEST_CASE("A binding is settled when all its targets are healthy or have failed") {
  const auto settled = [](std::vector<kube::ObjectPtr> works) {
    const std::vector<api::TargetCluster> targets = {{"m1"}, {"m2"}};
    return controllers::IsSettled(targets, controllers::AggregateWorks(Web(), works).value());
  };
  CHECK(settled({Work("m1", kHealthy), Work("m2", kRefused)}));
  // A cluster that is being evicted does not count.
  CHECK(settled({Work("m1", kHealthy), Work("m2", kRefused), Work("m3", "{}")}));
  CHECK_FALSE(settled({Work("m1", kHealthy)}));
  CHECK_FALSE(settled({Work("m1", kHealthy), Work("m2", "{}")}));
}

TEST_CASE("A work without the template is an error") {
  api::ObjectReference other = Web();
  other.name = "db";
  CHECK(controllers::AggregateWorks(other, {Work("m1", kHealthy)}).status().code() ==
        absl::StatusCode::kNotFound);
}
