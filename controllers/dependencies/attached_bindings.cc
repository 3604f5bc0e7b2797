#include "controllers/dependencies/attached_bindings.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/names.h"
#include "base/status.h"

namespace controllers {
namespace {

// Sets on `attached` how conflicts and deletion are handled, as `referrers`, the bindings that need
// it, demand. REQUIRES: `referrers` is not empty.
absl::Status FollowReferrers(const std::vector<api::BindingSnapshot>& referrers,
                             const FindBinding& find, kube::Object& attached) {
  bool overwrite = false, preserve = false;
  for (const api::BindingSnapshot& referrer : referrers) {
    const kube::ObjectKey key{referrer.ns, referrer.name};
    const kube::ObjectPtr object = find(key);
    if (object == nullptr) {
      return absl::NotFoundError(absl::StrCat("ResourceBinding ", key.ToString(), ", which needs ",
                                              attached.Describe(), ", is not there"));
    }
    const api::BindingView binding(*object);
    overwrite = overwrite || binding.ConflictResolution() == api::kResolveOverwrite;
    preserve = preserve || binding.PreserveResourcesOnDeletion().value_or(false);
  }
  attached.Set({"spec", "conflictResolution"},
               overwrite ? api::kResolveOverwrite : api::kResolveAbort);
  attached.Set({"spec", "preserveResourcesOnDeletion"}, preserve);
  return absl::OkStatus();
}

}  // namespace

std::string DependedByLabel(const kube::ObjectKey& binding) {
  return absl::StrCat(api::kDependedByLabelPrefix, api::DependedByHash(binding.ns, binding.name));
}

kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer) {
  std::vector<api::BindingSnapshot> entries = api::BindingView(attached).RequiredBy();
  json::Value required_by = json::Value::Array();
  bool changed = false;
  for (api::BindingSnapshot& entry : entries) {
    if (entry.ns == referrer.ns() && entry.name == referrer.name()) {
      std::vector<api::TargetCluster> clusters = api::BindingView(referrer).Clusters();
      changed = changed || clusters != entry.clusters;
      entry.clusters = std::move(clusters);
    }
    required_by.Append(entry.ToJson());
  }
  kube::Object after = attached;
  if (changed) after.Set({"spec", "requiredBy"}, std::move(required_by));
  return after;
}

absl::StatusOr<kube::Object> WithoutReferrer(const kube::Object& attached,
                                             const kube::ObjectKey& referrer,
                                             const FindBinding& find) {
  std::vector<api::BindingSnapshot> left = api::BindingView(attached).RequiredBy();
  std::erase_if(left, [&](const api::BindingSnapshot& entry) {
    return entry.ns == referrer.ns && entry.name == referrer.name;
  });
  kube::Object after = attached;
  after.EraseLabel(DependedByLabel(referrer));
  json::Value required_by = json::Value::Array();
  for (const api::BindingSnapshot& entry : left) required_by.Append(entry.ToJson());
  after.Set({"spec", "requiredBy"}, std::move(required_by));
  if (left.empty()) after.Erase({"spec", "requiredBy"});
  if (!attached.spec()["placement"].is_null()) return after;
  if (left.empty()) {
    after.Erase({"spec", "conflictResolution"});
    after.Erase({"spec", "preserveResourcesOnDeletion"});
    return after;
  }
  RETURN_IF_ERROR(FollowReferrers(left, find, after));
  return after;
}

}  // namespace controllers
