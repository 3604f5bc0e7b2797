#include "api/federated_hpa.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/json.h"

namespace api {
namespace {

kube::Object HpaOf(const std::string& spec) {
  kube::Object hpa =
      kube::Object::Make({"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"}, {"ns", "web"});
  const auto parsed = json::Parse(spec);
  REQUIRE(parsed.ok());
  hpa.Set({"spec"}, *parsed);
  return hpa;
}

}  // namespace

TEST_CASE("what a FederatedHPA leaves out is what the webhook would add") {
  const kube::Object hpa = HpaOf(R"({"maxReplicas": 7})");
  const FederatedHpaView view(hpa);
  CHECK(view.MinReplicas() == 1);
  CHECK(view.MaxReplicas() == 7);
  CHECK_FALSE(view.Behavior().has_value());
  const std::vector<MetricSpec> metrics = view.Metrics();
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].type == kResourceMetric);
  CHECK(metrics[0].resource == "cpu");
  CHECK(metrics[0].target.average_utilization == 80);
}

TEST_CASE("a behavior is completed for both directions") {
  const kube::Object hpa = HpaOf(R"({"maxReplicas": 7, "behavior": {"scaleDown": {
      "stabilizationWindowSeconds": 60, "selectPolicy": "Min", "tolerance": "50m",
      "policies": [{"type": "Pods", "value": 2, "periodSeconds": 90}]}}})");
  const auto behavior = FederatedHpaView(hpa).Behavior();
  REQUIRE(behavior.has_value());
  CHECK(behavior->up.stabilization_window == absl::ZeroDuration());
  CHECK(behavior->up.select_policy == kSelectMax);
  REQUIRE(behavior->up.policies.size() == 2);
  CHECK(behavior->up.policies[0].type == kPodsPolicy);
  CHECK(behavior->up.policies[0].value == 4);
  CHECK(behavior->up.policies[1].type == kPercentPolicy);
  CHECK(behavior->up.policies[1].value == 100);
  CHECK(behavior->up.policies[1].period == absl::Seconds(15));
  CHECK_FALSE(behavior->up.tolerance.has_value());
  CHECK(behavior->down.stabilization_window == absl::Seconds(60));
  CHECK(behavior->down.select_policy == kSelectMin);
  REQUIRE(behavior->down.policies.size() == 1);
  CHECK(behavior->down.policies[0].value == 2);
  CHECK(behavior->down.policies[0].period == absl::Seconds(90));
  CHECK(behavior->down.tolerance == 0.05);
  // Without a window in the object that of the flag counts.
  const kube::Object plain = HpaOf(R"({"behavior": {}})");
  CHECK_FALSE(FederatedHpaView(plain).Behavior()->down.stabilization_window.has_value());
}

TEST_CASE("a target that is no quantity is no target") {
  const auto target = [](const std::string& json) {
    return MetricTarget::FromJson(*json::Parse(json));
  };
  CHECK(target(R"({"value": "1500m"})").value->MilliValue() == 1500);
  CHECK(target(R"({"averageValue": 3})").average_value->MilliValue() == 3000);
  CHECK_FALSE(target(R"({"value": "much"})").value.has_value());
  CHECK_FALSE(target(R"({"value": true})").value.has_value());
  CHECK_FALSE(target(R"({"averageUtilization": "80"})").average_utilization.has_value());
}

TEST_CASE("a status keeps what a pass does not know, and has what the definition requires") {
  kube::Object hpa = HpaOf(R"({"maxReplicas": 7})");
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  SetScalingCondition(hpa, {.type = kAbleToScale, .status = "False", .reason = "FailedGetScale"},
                      now);
  CHECK(hpa.status()["desiredReplicas"] == json::Value(0));
  MetricStatus metric;
  metric.spec.type = kResourceMetric;
  metric.spec.resource = "cpu";
  metric.average_utilization = 42;
  SetScalingStatus(
      hpa,
      {.current_replicas = 3, .desired_replicas = 4, .metrics = std::vector<MetricStatus>{metric}});
  SetLastScaleTime(hpa, now);
  const json::Value before = hpa.status();
  CHECK(before["currentReplicas"].AsInt() == 3);
  CHECK(before["lastScaleTime"].AsString() == "2023-11-14T22:13:20Z");
  CHECK(before["currentMetrics"].At(0)["resource"]["current"]["averageUtilization"].AsInt() == 42);
  SetScalingStatus(hpa, {.current_replicas = 3});
  SetScalingCondition(hpa, {.type = kAbleToScale, .status = "False", .reason = "FailedGetScale"},
                      now + absl::Hours(1));
  CHECK(hpa.status() == before);
  SetScalingStatus(hpa, {.current_replicas = 3, .metrics = std::vector<MetricStatus>{}});
  CHECK(hpa.status()["currentMetrics"].empty());
}

}  // namespace api
