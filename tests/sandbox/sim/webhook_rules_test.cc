// What karmada-webhook refuses of autoscalers and quotas.
#include "sandbox/sim/webhook_rules.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resources.h"
#include "base/yaml.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

constexpr char kWeb[] = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}";

kube::Object Make(const kube::Resource& resource, const std::string& spec) {
  kube::Object object = kube::Object::Make(resource.gvk, {"default", "x"});
  object.Set({"spec"}, yaml::Parse(spec).value());
  return object;
}

// Returns what the hook answers, without the words about the webhook.
std::string Refusal(const kube::Object& object) {
  AdmissionRequest request;
  request.verb = Verbs::kCreate;
  request.resource.gvk = object.gvk();
  kube::Object copy = object;
  const absl::Status status = WebhookRules()(request, copy);
  if (status.ok()) return "";
  CHECK(ErrorOf(status).code == 403);
  const std::string text = ErrorOf(status).message;
  const size_t at = text.find("denied the request: ");
  REQUIRE(at != std::string::npos);
  return text.substr(at + 20);
}

std::string RefusedRule(const std::string& rule) {
  return Refusal(
      Make(api::CronFederatedHpas(), absl::StrCat("{", kWeb, ", rules: [{name: a, ", rule, "}]}")));
}

std::string RefusedHpa(const std::string& spec) {
  return Refusal(Make(api::FederatedHpas(), absl::StrCat("{", kWeb, ", ", spec, "}")));
}

std::string RefusedQuota(const std::string& spec) {
  return Refusal(Make(api::FederatedResourceQuotas(), spec));
}

}  // namespace

TEST_CASE("schedules are those of the webhook's library, not of the controller's") {
  for (const char* good : {"* * * * *", "0 25 * * *", "*/5 9-17 * * MON-FRI", "0 0 L * *",
                           "0 0 12 * * *", "@daily", "@5minutes", "0 0 30 2 *", "0 0 1 1 * 2030"}) {
    INFO(good);
    const bool is_hour_25 = absl::StrContains(good, " 25 ");
    CHECK(RefusedRule(absl::StrCat("schedule: '", good, "', targetReplicas: 1")).empty() !=
          is_hour_25);
  }
  for (const char* bad : {"bogus", "* * * *", "@every 4s", "@midnight", "TZ=UTC * * * * *",
                          "60 * * * *", "* * * * * * * *"}) {
    INFO(bad);
    CHECK(
        RefusedRule(absl::StrCat("schedule: '", bad, "', targetReplicas: 1")) ==
        absl::StrCat("spec.rules[0].schedule: Invalid value: \"", bad, "\": invalid cron format"));
  }
}

TEST_CASE("rules of a CronFederatedHPA have a time zone, replicas and names of their own") {
  CHECK(RefusedRule("schedule: '* * * * *', timeZone: Mars/Olympus, targetReplicas: 1") ==
        "spec.rules[0].timeZone: Invalid value: \"Mars/Olympus\": unknown time zone Mars/Olympus");
  CHECK(RefusedRule("schedule: '* * * * *'") ==
        "spec.rules[0].targetReplicas: Invalid value: \"\": targetReplicas cannot be nil if you "
        "want to scale Deployment");
  CHECK(Refusal(Make(api::CronFederatedHpas(),
                     absl::StrCat("{", kWeb,
                                  ", rules: [{name: a, schedule: '@daily', targetReplicas: 1}, "
                                  "{name: a, schedule: '@daily', targetReplicas: -1}]}"))) ==
        "[spec.rules[1].name: Duplicate value: \"a\", spec.rules[1].targetReplicas: Invalid value: "
        "\"\": targetReplicas should be larger than or equal to 0]");
  const auto of_hpa = [](const std::string& kind, const std::string& rule) {
    return Refusal(Make(
        api::CronFederatedHpas(),
        absl::StrCat("{scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: ", kind,
                     ", name: h}, rules: [{name: a, schedule: '@daily', ", rule, "}]}")));
  };
  CHECK(of_hpa("FederatedHPA", "targetMaxReplicas: 3").empty());
  CHECK(absl::StrContains(of_hpa("FederatedHPA", "targetReplicas: 3"), "cannot be nil"));
  CHECK(absl::StrContains(of_hpa("FederatedHPA", "targetMinReplicas: 5, targetMaxReplicas: 3"),
                          "targetMaxReplicas should be larger than or equal to"));
  CHECK(absl::StrContains(of_hpa("Other", "targetMaxReplicas: 3"), "only support FederatedHPA"));
}

TEST_CASE("a FederatedHPA has replicas, metrics and rules that make sense") {
  const std::string cpu =
      "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
      "averageUtilization: 80}}}]";
  CHECK(RefusedHpa("minReplicas: 1, maxReplicas: 3, " + cpu).empty());
  CHECK(RefusedHpa("minReplicas: 5, maxReplicas: 3, " + cpu) ==
        "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`");
  CHECK(
      absl::StrContains(RefusedHpa("minReplicas: 0, maxReplicas: 3, " + cpu),
                        "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"));
  CHECK(
      absl::StrContains(RefusedHpa("maxReplicas: 3, metrics: [{type: External}]"),
                        "spec.metrics[0].type: Unsupported value: \"External\": supported values: "
                        "\"ContainerResource\", \"Object\", \"Pods\", \"Resource\""));
  CHECK(RefusedHpa("maxReplicas: 3, metrics: [{type: Pods}]") ==
        "spec.metrics[0].pods: Required value: must populate information for the given metric "
        "source");
  CHECK(absl::StrContains(RefusedHpa("maxReplicas: 3, metrics: [{type: Resource, resource: {name: "
                                     "cpu, target: {type: Utilization}}}]"),
                          "must set either a target raw value or a target utilization"));
  CHECK(RefusedHpa(absl::StrCat("maxReplicas: 3, ", cpu,
                                ", behavior: {scaleUp: {stabilizationWindowSeconds: 4000, "
                                "policies: [{type: Pods, value: 1, periodSeconds: 15}]}}")) ==
        "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than "
        "or equal to 3600");
}

TEST_CASE("a FederatedResourceQuota assigns no more than it has") {
  CHECK(RefusedQuota("{overall: {cpu: 4}, staticAssignments: [{clusterName: m1, hard: {cpu: 2}}]}")
            .empty());
  CHECK(RefusedQuota("{overall: {cpu: 1}, staticAssignments: [{clusterName: m1, hard: {cpu: "
                     "600m}}, {clusterName: m2, hard: {cpu: 600m}}]}") ==
        "spec.overall[cpu]: Invalid value: \"1\": overall is less than assignments");
  CHECK(RefusedQuota(
            "{overall: {cpu: 1}, staticAssignments: [{clusterName: m1, hard: {memory: 1Gi}}]}") ==
        "spec.staticAssignments[0].hard[memory]: Invalid value: \"memory\": assignment "
        "resourceName is not exist in overall");
  CHECK(absl::StrContains(
      RefusedQuota("{overall: {cpu: -1}}"),
      "spec.overall[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"));
}

}  // namespace sandbox
