// What upstream's webhook adds to FederatedHPAs (SetDefaultsFederatedHPA). As with upstream, a
// tolerance of a direction is lost; and nothing is checked here.

#include "sandbox/kinds/default_to.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

json::Value Policy(const char* type, int64_t value) {
  return json::Value::Object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

json::Value DefaultMetric() {
  json::Value metric = json::Value::Object({{"type", "Resource"}});
  metric.Set({"resource", "name"}, "cpu");
  metric.Set({"resource", "target", "type"}, "Utilization");
  metric.Set({"resource", "target", "averageUtilization"}, 80);
  return metric;
}

// Completes the rules of a direction by their defaults.
void Complete(json::Value& rules, json::Value defaults) {
  for (const char* name : {"stabilizationWindowSeconds", "selectPolicy", "policies"}) {
    if (!rules[name].is_null()) defaults.Set(name, rules[name]);
  }
  rules = std::move(defaults);
}

}  // namespace

void AdmitFederatedHpa(kube::Object& hpa) {
  json::Value& spec = hpa.mutable_root().Mutable("spec");
  DefaultTo(spec, "minReplicas", 1);
  if (spec["metrics"].empty()) spec.Set("metrics", json::Value::Array({DefaultMetric()}));
  if (!spec["behavior"].is_object()) return;
  json::Value& behavior = spec.Mutable("behavior");
  const json::Value percent = Policy("Percent", 100);
  Complete(behavior.Mutable("scaleUp"),
           json::Value::Object({{"stabilizationWindowSeconds", 0},
                                {"selectPolicy", "Max"},
                                {"policies", json::Value::Array({Policy("Pods", 4), percent})}}));
  Complete(
      behavior.Mutable("scaleDown"),
      json::Value::Object({{"selectPolicy", "Max"}, {"policies", json::Value::Array({percent})}}));
}

}  // namespace sandbox
