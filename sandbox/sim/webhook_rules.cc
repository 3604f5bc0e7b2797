#include "sandbox/sim/webhook_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "kube/meta/names.h"
#include "kube/meta/quantity.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

constexpr size_t kLongestQuotaName = 63;
constexpr size_t kLongestClusterName = 48;

using Messages = std::vector<std::string>;

kube::Quantity QuantityOf(const json::Value& value) {
  return kube::Quantity::FromJson(value).value_or(kube::Quantity());
}

std::string InvalidText(absl::string_view path, absl::string_view shown, absl::string_view why) {
  return absl::StrCat(path, ": Invalid value: ", json::Write(json::Value(shown)), ": ", why);
}

void CheckResources(const json::Value& resources, absl::string_view path, Messages& out) {
  for (const json::Member& resource : resources.members()) {
    const kube::Quantity quantity = QuantityOf(resource.value);
    if (quantity.Sign() >= 0) continue;
    out.push_back(InvalidText(absl::StrCat(path, "[", resource.name(), "]"), quantity.ToString(),
                              "must be greater than or equal to 0"));
  }
}

// As upstream's ValidateClusterName.
std::string WrongClusterName(absl::string_view name) {
  if (name.size() > kLongestClusterName) {
    return absl::StrCat("must be no more than ", kLongestClusterName, " characters");
  }
  return std::string(kube::ValidateDns1123Label(name).message());
}

void CheckAssignments(const json::Value& spec, Messages& out) {
  const auto assignments = spec["staticAssignments"].items();
  for (size_t i = 0; i < assignments.size(); ++i) {
    const std::string path = absl::StrCat("spec.staticAssignments[", i, "]");
    const absl::string_view cluster = assignments[i]["clusterName"].AsString();
    if (const std::string why = WrongClusterName(cluster); !why.empty()) {
      out.push_back(InvalidText(path + ".clusterName", cluster, why));
    }
    CheckResources(assignments[i]["hard"], path + ".hard", out);
  }
  for (const json::Member& resource : spec["overall"].members()) {
    kube::Quantity assigned;
    for (const json::Value& assignment : assignments) {
      const json::Value& hard = assignment["hard"][resource.name()];
      if (!hard.is_null()) assigned.Add(QuantityOf(hard));
    }
    const kube::Quantity overall = QuantityOf(resource.value);
    if (!(overall < assigned)) continue;
    out.push_back(InvalidText(absl::StrCat("spec.overall[", resource.name(), "]"),
                              overall.ToString(), "overall is less than assignments"));
  }
  for (size_t i = 0; i < assignments.size(); ++i) {
    for (const json::Member& resource : assignments[i]["hard"].members()) {
      if (!spec["overall"][resource.name()].is_null()) continue;
      out.push_back(
          InvalidText(absl::StrCat("spec.staticAssignments[", i, "].hard[", resource.name(), "]"),
                      resource.name(), "assignment resourceName is not exist in overall"));
    }
  }
}

}  // namespace

// Follows validateFederatedResourceQuota; names of resources are not checked.
absl::Status CheckFederatedResourceQuota(const kube::Object& quota) {
  Messages messages;
  if (quota.name().size() > kLongestQuotaName) {
    messages.push_back(
        InvalidText("metadata.name", quota.name(),
                    absl::StrCat("must be no more than ", kLongestQuotaName, " characters")));
  }
  CheckResources(quota.spec()["overall"], "spec.overall", messages);
  CheckAssignments(quota.spec(), messages);
  return Denied(absl::StrCat("federatedresourcequota", api::kGroupSuffix), messages);
}

AdmissionHook WebhookRules() {
  return [](const AdmissionRequest& request, kube::Object& object) -> absl::Status {
    if (request.verb == Verbs::kDelete || !request.subresource.empty()) return absl::OkStatus();
    const kube::Gvk& gvk = request.resource.gvk;
    if (gvk == api::FederatedHpas().gvk) return CheckFederatedHpa(object);
    if (gvk == api::CronFederatedHpas().gvk) return CheckCronFederatedHpa(object);
    if (gvk == api::FederatedResourceQuotas().gvk) return CheckFederatedResourceQuota(object);
    return absl::OkStatus();
  };
}

}  // namespace sandbox
