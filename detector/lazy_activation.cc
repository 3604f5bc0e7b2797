#include "detector/lazy_activation.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/passed_template.h"
#include "api/policy.h"
#include "api/policy_claim.h"
#include "api/policy_scope.h"
#include "kube/meta/managed_fields.h"

namespace detector {
namespace {

// Times of creation have whole seconds. Within one, the versions tell which object was written
// last, unless the template has been claimed since.
bool WasCreatedAfter(const kube::Object& object, const kube::Object& policy) {
  const absl::StatusOr<absl::Time> created =
      kube::ParseTime(object.metadata()["creationTimestamp"].AsString());
  const absl::StatusOr<absl::Time> since =
      kube::ParseTime(policy.metadata()["creationTimestamp"].AsString());
  if (!created.ok() || !since.ok()) return false;
  if (*created != *since) return *created > *since;
  return !api::IsClaimed(object) &&
         kube::ResourceVersionOf(object) > kube::ResourceVersionOf(policy);
}

}  // namespace

bool ActsNow(const LazyPass& pass) {
  if (pass.binding == nullptr) {
    return (!pass.by_karmada && pass.saw_edit) || WasCreatedAfter(pass.object, pass.policy);
  }
  if (!api::IsClaimed(*pass.binding)) return !pass.by_karmada;
  if (!pass.has_passed) return true;
  // Upstream's bindings have no record. An edit of labels alone shows in no generation, so what
  // this process has seen counts, too.
  const bool has_record =
      api::CompareWithRecord(*pass.binding, pass.object) != api::PassedRecord::kNone;
  return !has_record && !pass.by_karmada && pass.saw_edit;
}

bool WasEditedSinceClaim(const json::Value& managed_fields, const kube::Object& policy) {
  const absl::string_view id = policy.ns().empty() ? api::policy_scope::Cluster::kIdLabel
                                                   : api::policy_scope::Namespaced::kIdLabel;
  const std::optional<absl::Time> claimed =
      kube::LastChangeByOwners(managed_fields, {"metadata", "labels", id});
  const std::optional<absl::Time> edited =
      kube::LastChangeByOthers(managed_fields, {"metadata", "labels", id});
  return claimed.has_value() && edited.has_value() && *edited > *claimed;
}

bool IsLazilyGoverned(const kube::Object& object, const PolicyIndex& policies,
                      const PolicyIndex& cluster_policies) {
  if (api::IsClaimed(object)) return IsLazilyClaimed(object, policies, cluster_policies);
  kube::ObjectPtr best = object.ns().empty() ? nullptr : policies.BestFor(object.ns(), object);
  if (best == nullptr) best = cluster_policies.BestFor("", object);
  return best != nullptr && api::PolicyView(*best).IsLazy();
}

}  // namespace detector
