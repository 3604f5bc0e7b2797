// ClusterRole, CustomResourceDefinition, APIService, MutatingWebhookConfiguration,
// ValidatingWebhookConfiguration: what controllers of the member fill in. Upstream retains nothing
// of these kinds.

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "interpreter/native/handler_table.h"

namespace interpreter::native {

namespace {

constexpr absl::string_view kBundle = "caBundle";

// Others write into a ClusterRole in a member:
//   rules   the member's controller manager, where the role has an aggregationRule: it adds them up
//           and overwrites all others
// None are rules, too: those of the template would be rights that no role of the member gives.
absl::StatusOr<kube::Object> RetainAggregatedRules(const kube::Object& desired,
                                                   const kube::Object& observed) {
  if (desired.root()["aggregationRule"].is_null()) return desired;
  kube::Object retained = desired;
  if (observed.root()["rules"].is_null()) {
    retained.Erase({"rules"});
  } else {
    retained.Set({"rules"}, observed.root()["rules"]);
  }
  return retained;
}

// Copies the bundle of authorities that cert-manager, or the webhook itself, has put into the
// member's object. A bundle of the template stays.
void KeepBundle(const json::Value& observed, json::Value& config) {
  const json::Value& injected = observed[kBundle];
  if (!config.is_object() || !injected.is_string() || !config[kBundle].AsString().empty()) return;
  config.Set(kBundle, injected);
}

// Others write into the configuration of an admission webhook in a member:
//   webhooks[].clientConfig.caBundle   cert-manager's injector, or the webhook itself
absl::StatusOr<kube::Object> RetainBundlesOfWebhooks(const kube::Object& desired,
                                                     const kube::Object& observed) {
  if (!desired.root()["webhooks"].is_array()) return desired;
  const absl::Span<const json::Value> there = observed.root()["webhooks"].items();
  json::Value webhooks = desired.root()["webhooks"];
  for (size_t i = 0; i < webhooks.size(); ++i) {
    const json::Value name = webhooks.At(i)["name"];
    const auto same = std::find_if(there.begin(), there.end(),
                                   [&](const json::Value& hook) { return hook["name"] == name; });
    if (same == there.end() || !webhooks.At(i)["clientConfig"].is_object()) continue;
    KeepBundle((*same)["clientConfig"], webhooks.MutableAt(i).Mutable("clientConfig"));
  }
  kube::Object retained = desired;
  retained.Set({"webhooks"}, std::move(webhooks));
  return retained;
}

// Others write into a CustomResourceDefinition in a member:
//   spec.conversion.webhook.clientConfig.caBundle   cert-manager's injector, or the webhook itself
absl::StatusOr<kube::Object> RetainBundleOfConversion(const kube::Object& desired,
                                                      const kube::Object& observed) {
  const auto config_of = [](const kube::Object& definition) {
    return definition.Get({"spec", "conversion", "webhook", "clientConfig"});
  };
  json::Value config = config_of(desired);
  if (!config.is_object()) return desired;
  KeepBundle(config_of(observed), config);
  kube::Object retained = desired;
  retained.Set({"spec", "conversion", "webhook", "clientConfig"}, std::move(config));
  return retained;
}

// Others write into an APIService in a member:
//   spec.caBundle   cert-manager's injector, or the server itself
absl::StatusOr<kube::Object> RetainBundleOfService(const kube::Object& desired,
                                                   const kube::Object& observed) {
  json::Value spec = desired.spec();
  // One that is not verified cannot have a bundle.
  if (!spec.is_object() || spec["insecureSkipTLSVerify"].AsBool()) return desired;
  KeepBundle(observed.spec(), spec);
  kube::Object retained = desired;
  retained.Set({"spec"}, std::move(spec));
  return retained;
}

}  // namespace

void RegisterInjected(HandlerTable& table) {
  table.Add({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, {.retain = RetainAggregatedRules});
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    table.Add({"admissionregistration.k8s.io", "v1", kind}, {.retain = RetainBundlesOfWebhooks});
  }
  table.Add({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
            {.retain = RetainBundleOfConversion});
  table.Add({"apiregistration.k8s.io", "v1", "APIService"}, {.retain = RetainBundleOfService});
}

}  // namespace interpreter::native
