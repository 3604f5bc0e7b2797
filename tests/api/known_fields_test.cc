#include "api/known_fields.h"

#include <catch2/catch.hpp>

#include "api/cluster.h"
#include "api/federated_hpa.h"
#include "api/federated_resource_quota.h"
#include "api/object_reference.h"
#include "api/workload_rebalancer.h"

namespace {

json::Value Json(const char* text) { return json::Parse(text).value(); }

const api::KnownField& Tasks() {
  static const auto& field = *new api::KnownField{
      "tasks", {{"name"}, {"to", {{"kind"}}}, {"map"}, {"count"}}, {"name", "to.kind"}};
  return field;
}

}  // namespace

TEST_CASE("unknown members of objects are kept, and known ones are not") {
  const json::Value held = Json(R"({"name": "a", "count": 3, "later": 1,
      "to": {"kind": "K", "later": [2]}, "map": {"x": "1", "y": "2"}})");
  CHECK(api::WithUnknown(Json(R"({"name": "b", "to": {"kind": "L"}, "map": {"z": "3"}})"), held,
                         Tasks()) ==
        Json(R"({"name": "b", "later": 1, "to": {"kind": "L", "later": [2]}, "map": {"z": "3"}})"));
  // What is written wins, and an object that is not written is not made.
  CHECK(api::WithUnknown(Json(R"({"name": "b", "later": 5})"), held, Tasks()) ==
        Json(R"({"name": "b", "later": 5})"));
}

TEST_CASE("unknown members stay with their items of a list, wherever these are") {
  const json::Value held = Json(R"([{"name": "a", "to": {"kind": "K"}, "later": 1},
      {"name": "b", "later": 2}, {"name": "b", "later": 3}, {"name": "gone", "later": 4}])");
  CHECK(
      api::WithUnknown(Json(R"([{"name": "b"}, {"name": "a", "to": {"kind": "K"}, "count": 1},
                                  {"name": "b", "count": 2}, {"name": "b"}, {"name": "a"}])"),
                       held, Tasks()) ==
      Json(
          R"([{"name": "b", "later": 2}, {"name": "a", "to": {"kind": "K"}, "count": 1, "later": 1},
                 {"name": "b", "count": 2, "later": 3}, {"name": "b"}, {"name": "a"}])"));
}

TEST_CASE("what does not have its form is neither kept nor written to") {
  const json::Value list = Json(R"([{"name": "a", "later": 1}])");
  for (const char* written : {"null", "1", R"("text")", R"({"name": "a"})", "[]", "[1, [2]]"}) {
    INFO(written);
    CHECK(api::WithUnknown(Json(written), list, Tasks()) == Json(written));
  }
  CHECK(api::WithUnknown(list, Json(R"({"later": 1})"), Tasks()) == list);
  CHECK(api::WithUnknown(list, Json(R"([1, {"later": 2}])"), Tasks()) == list);
}

TEST_CASE("without an unknown member nothing is copied") {
  const json::Value held = Json(R"([{"name": "a", "map": {"any": 1}}])");
  const json::Value written = Json(R"([{"name": "a", "count": 2}])");
  CHECK(api::WithUnknown(written, held, Tasks()).SharesWith(written));
}

TEST_CASE("the members of an object that are not known are told apart") {
  CHECK(api::UnknownMembers(Json(R"({"name": "a", "replicas": 1, "components": [1]})"),
                            {"name", "replicas"}) == Json(R"({"components": [1]})"));
  CHECK(api::UnknownMembers(Json(R"({"name": "a"})"), {"name", "replicas"}).is_null());
  CHECK(api::UnknownMembers(Json("[1]"), {"name"}).is_null());
}

TEST_CASE("setters of Karmada's objects keep what they do not know") {
  kube::Object cluster(Json(R"({"spec": {"taints": [
      {"key": "a", "effect": "NoSchedule", "later": 1}, {"key": "b", "effect": "NoExecute"}]}})"));
  api::SetTaints(cluster,
                 {api::Taint{"c", "", "NoSchedule", ""}, api::Taint{"a", "v", "NoSchedule", ""}});
  CHECK(cluster.spec()["taints"].At(1) ==
        Json(R"({"key": "a", "value": "v", "effect": "NoSchedule", "later": 1})"));

  kube::Object rebalancer(Json(R"({"status": {"observedWorkloads": [
      {"workload": {"apiVersion": "v1", "kind": "Pod", "name": "p", "later": 1}, "later": 2}]}})"));
  api::SetObservedWorkloads(
      rebalancer, {api::ObservedWorkload{{"v1", "Pod", "", "p", "", ""}, "Failed", "why"}});
  CHECK(rebalancer.status()["observedWorkloads"] ==
        Json(R"([{"workload": {"apiVersion": "v1", "kind": "Pod", "name": "p", "later": 1},
                  "result": "Failed", "reason": "why", "later": 2}])"));

  kube::Object quota(Json(R"({"status": {"aggregatedStatus": [
      {"clusterName": "m1", "later": 1, "used": {"cpu": "1"}}]}})"));
  api::SetAggregatedStatus(quota, {api::ClusterQuotaStatus{"m2"}, api::ClusterQuotaStatus{"m1"}});
  CHECK(quota.status()["aggregatedStatus"].At(1)["later"].AsInt() == 1);

  kube::Object hpa(Json(R"({"status": {"currentMetrics": [{"type": "Resource", "later": 1,
      "resource": {"name": "cpu", "later": 2, "current": {"value": "1", "later": 3}}}]}})"));
  api::MetricStatus cpu;
  cpu.spec.type = api::kResourceMetric;
  cpu.spec.resource = "cpu";
  cpu.average_milli = 100;
  api::SetScalingStatus(hpa, {.metrics = std::vector<api::MetricStatus>{cpu}});
  CHECK(hpa.status()["currentMetrics"] ==
        Json(R"([{"type": "Resource", "later": 1, "resource": {"name": "cpu", "later": 2,
                  "current": {"averageValue": "100m", "later": 3}}}])"));

  const api::ObjectReference reference = {"v1", "Pod", "", "p", "", ""};
  CHECK(reference.ToJson(Json(R"({"kind": "Old", "uid": "gone", "later": 1})")) ==
        Json(R"({"apiVersion": "v1", "kind": "Pod", "name": "p", "later": 1})"));
}
