#include "sandbox/sim/quota_admission.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding_usage.h"
#include "api/federated_resource_quota.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

constexpr int kAttempts = 5;

using Amounts = std::map<std::string, kube::Quantity, std::less<>>;

// Returns what `after` uses more than `before`; less is negative.
absl::StatusOr<Amounts> Difference(const kube::Object& before, const kube::Object& after) {
  ASSIGN_OR_RETURN(const api::ResourceList old, api::UsageOf(api::BindingView(before)));
  ASSIGN_OR_RETURN(const api::ResourceList now, api::UsageOf(api::BindingView(after)));
  Amounts difference = now.amounts();
  for (const auto& [name, amount] : old.amounts()) difference[name].Sub(amount);
  std::erase_if(difference, [](const auto& entry) { return entry.second.IsZero(); });
  return difference;
}

absl::Status Exceeded(const kube::Object& quota, absl::string_view resource,
                      const kube::Quantity& sum, const kube::Quantity& limit) {
  return ToStatus(
      {403, kQuotaExceededReason,
       absl::StrCat("admission webhook \"resourcebinding", api::kGroupSuffix,
                    "\" denied the request: FederatedResourceQuota(", quota.key().ToString(),
                    ") exceeded for resource ", resource, ": requested sum ", sum.ToString(),
                    ", limit ", limit.ToString(), "."),
       json::Value()});
}

// Returns the quota with the difference booked; an error when that is more than its limits.
absl::StatusOr<kube::Object> Booked(const kube::Object& quota, const Amounts& difference) {
  const api::FederatedResourceQuotaView view(quota);
  ASSIGN_OR_RETURN(const api::ResourceList limits, api::ResourceList::FromJson(view.Overall()));
  ASSIGN_OR_RETURN(const api::ResourceList held, api::ResourceList::FromJson(view.OverallUsed()));
  kube::Object after = quota;
  for (const auto& [name, limit] : limits.amounts()) {
    const auto more = difference.find(name);
    if (more == difference.end()) continue;
    const auto before = held.amounts().find(name);
    kube::Quantity sum = before == held.amounts().end() ? kube::Quantity() : before->second;
    sum.Add(more->second);
    if (limit < sum) return Exceeded(quota, name, sum, limit);
    after.Set({"status", "overallUsed", name}, sum.ToString());
  }
  return after;
}

absl::Status Book(Backend& backend, const kube::Object& binding, const Amounts& difference,
                  bool dry_run) {
  const kube::Gvr quotas = api::FederatedResourceQuotas().gvr();
  const auto found = backend.List(quotas, binding.ns(), kube::LabelSelector());
  if (!found.ok()) return absl::OkStatus();  // The kind is not served.
  // All quotas are checked before the first one is written, so that a refusal books nothing.
  std::vector<kube::Object> booked;
  for (const kube::ObjectPtr& quota : *found) {
    ASSIGN_OR_RETURN(kube::Object after, Booked(*quota, difference));
    if (after != *quota) booked.push_back(std::move(after));
  }
  for (kube::Object& quota : booked) {
    RETURN_IF_ERROR(backend.Update(quotas, std::move(quota), "status", dry_run).status());
  }
  return absl::OkStatus();
}

}  // namespace

AdmissionHook QuotaAdmission(Backend& backend) {
  return [&backend](const AdmissionRequest& request, kube::Object& object) -> absl::Status {
    const bool concerned = request.resource.gvk == api::ResourceBindings().gvk &&
                           request.subresource.empty() && request.verb != Verbs::kDelete;
    if (!concerned) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Amounts difference, Difference(request.old_object, object));
    if (difference.empty()) return absl::OkStatus();
    absl::Status booked;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      booked = Book(backend, object, difference, request.dry_run);
      if (!absl::IsAborted(booked)) return booked;
    }
    return booked;
  };
}

}  // namespace sandbox
