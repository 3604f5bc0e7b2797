#include "controllers/dependencies/attached_bindings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/controller_ref.h"

namespace controllers {
namespace {

// Sets on `attached` how conflicts and deletion are handled, as `referrers`, the bindings that need
// it, demand. Returns the text about different demands, "" for none. REQUIRES: `referrers` is not
// empty.
absl::StatusOr<std::string> FollowReferrers(const std::vector<api::BindingSnapshot>& referrers,
                                            const FindBinding& find, kube::Object& attached) {
  size_t overwriting = 0, preserving = 0;
  for (const api::BindingSnapshot& referrer : referrers) {
    const kube::ObjectKey key{referrer.ns, referrer.name};
    const kube::ObjectPtr object = find(key);
    if (object == nullptr) {
      return absl::NotFoundError(absl::StrCat("ResourceBinding ", key.ToString(), ", which needs ",
                                              attached.Describe(), ", is not there"));
    }
    const api::BindingView binding(*object);
    overwriting += binding.ConflictResolution() == api::kResolveOverwrite;
    preserving += binding.PreserveResourcesOnDeletion().value_or(false);
  }
  attached.Set({"spec", "conflictResolution"},
               overwriting > 0 ? api::kResolveOverwrite : api::kResolveAbort);
  attached.Set({"spec", "preserveResourcesOnDeletion"}, preserving > 0);
  const auto differ = [&](size_t count) { return count > 0 && count < referrers.size(); };
  if (!differ(overwriting) && !differ(preserving)) return std::string();
  return api::message::DependencyPolicyConflict(differ(overwriting), differ(preserving));
}

json::Value RequiredByToJson(const std::vector<api::BindingSnapshot>& referrers) {
  json::Value required_by = json::Value::Array();
  for (const api::BindingSnapshot& referrer : referrers) required_by.Append(referrer.ToJson());
  return required_by;
}

// Returns a binding of `object` that nobody needs yet.
kube::Object NewBinding(const kube::Object& object, absl::string_view ns) {
  kube::Object binding =
      kube::Object::Make(api::ResourceBindings().gvk,
                         {std::string(ns), api::BindingName(object.kind(), object.name())});
  binding.Set({"metadata", "ownerReferences"},
              json::Value::Array({kube::ControllerRef(object).ToJson()}));
  binding.AddFinalizer(api::kBindingFinalizer);
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  return binding;
}

// Returns `existing` with a fresh reference to the object.
absl::StatusOr<kube::Object> Renewed(const kube::Object& existing, const kube::Object& object) {
  const std::string uid = existing.ControllerOwner().uid;
  if (!uid.empty() && uid != object.uid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(existing.Describe(), " belongs to an earlier ", object.Describe(),
                     " with uid ", uid, ", and is replaced once it has been collected"));
  }
  kube::Object binding = existing;
  api::ObjectReference reference = api::ObjectReference::Of(object);
  const std::string recorded = api::BindingView(existing).Resource().resource_version;
  if (!recorded.empty()) reference.resource_version = recorded;
  binding.Set({"spec", "resource"}, reference.ToJson());
  return binding;
}

}  // namespace

std::string DependedByLabel(const kube::ObjectKey& binding) {
  return absl::StrCat(api::kDependedByLabelPrefix, api::DependedByHash(binding.ns, binding.name));
}

std::vector<std::string> DependedByLabels(const kube::Object& attached) {
  std::vector<std::string> labels;
  for (const json::Member& label : attached.labels().members()) {
    if (absl::StartsWith(label.name(), api::kDependedByLabelPrefix)) {
      labels.emplace_back(label.name());
    }
  }
  return labels;
}

absl::StatusOr<Attached> WithReferrer(const kube::Object* existing, const kube::Object& object,
                                      const kube::Object& referrer, const FindBinding& find) {
  Attached attached;
  if (existing == nullptr) {
    attached.binding = NewBinding(object, referrer.ns());
  } else {
    ASSIGN_OR_RETURN(attached.binding, Renewed(*existing, object));
  }
  kube::Object& binding = attached.binding;
  const api::BindingView needs(referrer);
  binding.SetLabel(DependedByLabel(referrer.key()), needs.PermanentId());
  std::vector<api::BindingSnapshot> referrers = api::BindingView(binding).RequiredBy();
  const auto own = std::find_if(referrers.begin(), referrers.end(), [&](const auto& entry) {
    return entry.ns == referrer.ns() && entry.name == referrer.name();
  });
  if (own == referrers.end()) {
    referrers.push_back(
        {std::string(referrer.ns()), std::string(referrer.name()), needs.Clusters()});
  } else {
    own->clusters = needs.Clusters();
  }
  binding.Set({"spec", "requiredBy"}, RequiredByToJson(referrers));
  if (!binding.spec()["placement"].is_null()) return attached;
  ASSIGN_OR_RETURN(attached.conflict, FollowReferrers(referrers, find, binding));
  return attached;
}

kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer) {
  std::vector<api::BindingSnapshot> entries = api::BindingView(attached).RequiredBy();
  bool changed = false;
  for (api::BindingSnapshot& entry : entries) {
    if (entry.ns == referrer.ns() && entry.name == referrer.name()) {
      std::vector<api::TargetCluster> clusters = api::BindingView(referrer).Clusters();
      changed = changed || clusters != entry.clusters;
      entry.clusters = std::move(clusters);
    }
  }
  kube::Object after = attached;
  if (changed) after.Set({"spec", "requiredBy"}, RequiredByToJson(entries));
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
  after.Set({"spec", "requiredBy"}, RequiredByToJson(left));
  if (left.empty()) after.Erase({"spec", "requiredBy"});
  if (!attached.spec()["placement"].is_null()) return after;
  if (left.empty()) {
    after.Erase({"spec", "conflictResolution"});
    after.Erase({"spec", "preserveResourcesOnDeletion"});
    return after;
  }
  RETURN_IF_ERROR(FollowReferrers(left, find, after).status());
  return after;
}

}  // namespace controllers
