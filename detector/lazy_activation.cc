// What a pass knows of a template decides first: its binding with the record of the state that has
// passed, the edits that this process has seen, and the times of creation. Only about a template
// without a binding, in a pass that no edit has led to, is the server asked who changed what when
// (metadata.managedFields): of the template, if it is claimed, and of the policy, if its selectors
// may have been changed since it was created. All these times have whole seconds. In doubt the
// policy waits, so that the next edit of the template is needed.
//
// What may be lost is TemplateMemory: then the server is asked once more.

#include "detector/lazy_activation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/passed_template.h"
#include "api/policy.h"
#include "api/policy_claim.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/status.h"
#include "detector/request_reason.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/meta/managed_fields.h"
#include "works/passage.h"

namespace detector {
namespace {

// A claim follows the creation of a template at once, if the policy selects it then.
constexpr absl::Duration kClaimedAtCreation = absl::Minutes(1);

std::optional<absl::Time> CreationOf(const kube::Object& object) {
  const auto created = kube::ParseTime(object.metadata()["creationTimestamp"].AsString());
  return created.ok() ? std::optional(*created) : std::nullopt;
}

// Times of creation have whole seconds. Within one, the versions tell which object was written
// last, unless the template has been claimed since.
bool WasCreatedAfter(const kube::Object& object, const kube::Object& policy) {
  const std::optional<absl::Time> created = CreationOf(object), since = CreationOf(policy);
  if (!created.has_value() || !since.has_value()) return false;
  if (*created != *since) return *created > *since;
  return !api::IsClaimed(object) &&
         kube::ResourceVersionOf(object) > kube::ResourceVersionOf(policy);
}

bool IsAboutEdit(const kube::Request& request) { return request.reason != kNotByAnEdit; }

// Returns whether overrides may be the reason why Works differ from their template. Kinds without a
// generation, and bindings without a record, do not show whether it is an edit instead.
bool MayDifferByOverrides(const kube::Object& object, const kube::Object& binding,
                          kube::ClusterClient& client) {
  if (object.generation() > 0) return false;
  const std::vector<kube::ObjectPtr> works = works::TargetWorks(api::BindingView(binding), client);
  return std::any_of(works.begin(), works.end(), [](const kube::ObjectPtr& work) {
    return work->annotations().Has(api::kAppliedOverridesAnnotation) ||
           work->annotations().Has(api::kAppliedClusterOverridesAnnotation);
  });
}

// Returns null if the object is not there any more.
absl::StatusOr<json::Value> ManagedFieldsOf(const kube::Resource& r, const kube::Object& object,
                                            kube::ClusterClient& client,
                                            const base::StopToken& stop) {
  absl::StatusOr<json::Value> fields = client.raw().GetManagedFields(r, object.key(), stop);
  if (kube::IsGone(fields.status())) return json::Value();
  return fields;
}

// Returns whether the template was created after the last change of the policy's selectors, which
// the policy's managedFields record: then the policy has always selected it.
absl::StatusOr<bool> WasSelectedAtCreation(const kube::Object& object, const kube::Object& policy,
                                           kube::ClusterClient& client,
                                           const base::StopToken& stop) {
  const kube::Resource& policies =
      policy.ns().empty() ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
  ASSIGN_OR_RETURN(const json::Value fields, ManagedFieldsOf(policies, policy, client, stop));
  const std::optional<absl::Time> changed =
      kube::LastChangeByOwners(fields, {"spec", "resourceSelectors"});
  return changed.has_value() && *CreationOf(object) > *changed;
}

}  // namespace

absl::StatusOr<bool> LazyActivation::Acts(const LazyPass& pass, const base::StopToken& stop) const {
  const api::BindingAddress at = api::BindingOf(pass.object.kind(), pass.object.key());
  const kube::ObjectPtr binding = client_.Find(at.resource, at.key);
  if (binding != nullptr) return ActsOnBound(pass, *binding);
  ASSIGN_OR_RETURN(const bool acts, ActsOnUnbound(pass, stop));
  // So that a pass that fails after the claim is tried again: by its version, a claimed template
  // does not show any more that it was created after the policy.
  if (acts) memory_.edits.Add(pass.request, pass.object.resource_version());
  return acts;
}

bool LazyActivation::ActsOnBound(const LazyPass& pass, const kube::Object& binding) const {
  if (!api::IsClaimed(binding)) return IsAboutEdit(pass.request);
  // Upstream's bindings have no record.
  const bool has_record = api::CompareWithRecord(binding, pass.object) != api::PassedRecord::kNone;
  const bool is_edited = !HasPassedOrLater(pass.object, binding, client_, interpreter_) &&
                         (has_record || !MayDifferByOverrides(pass.object, binding, client_));
  if (is_edited) return true;
  // An edit of labels alone shows in no generation, so what this process has seen counts, too.
  return !has_record && IsAboutEdit(pass.request) &&
         memory_.edits.HasSince(pass.request,
                                api::BindingView(binding).Resource().resource_version);
}

absl::StatusOr<bool> LazyActivation::ActsOnUnbound(const LazyPass& pass,
                                                   const base::StopToken& stop) const {
  const bool is_about_edit = IsAboutEdit(pass.request);
  if (is_about_edit && memory_.edits.HasSince(pass.request, "")) return true;
  const bool is_younger = WasCreatedAfter(pass.object, pass.policy);
  // The first generation of a policy has the selectors with which it was created.
  if (is_younger && (is_about_edit || pass.policy.generation() <= 1)) return true;
  if (api::IsClaimed(pass.object)) return WasEditedOrJustCreated(pass, stop);
  if (!is_younger) return false;
  return WasSelectedAtCreation(pass.object, pass.policy, client_, stop);
}

absl::StatusOr<bool> LazyActivation::WasEditedOrJustCreated(const LazyPass& pass,
                                                            const base::StopToken& stop) const {
  if (memory_.asked.Has(pass.request, pass.object.resource_version())) return false;
  ASSIGN_OR_RETURN(const json::Value fields,
                   ManagedFieldsOf(pass.resource, pass.object, client_, stop));
  const absl::string_view id = pass.policy.ns().empty() ? api::policy_scope::Cluster::kIdLabel
                                                        : api::policy_scope::Namespaced::kIdLabel;
  const std::optional<absl::Time> claimed =
      kube::LastChangeByOwners(fields, {"metadata", "labels", id});
  const std::optional<absl::Time> edited =
      kube::LastChangeByOthers(fields, {"metadata", "labels", id});
  const bool was_edited = claimed.has_value() && edited.has_value() && *edited > *claimed;
  const bool was_just_created = claimed.has_value() && WasCreatedAfter(pass.object, pass.policy) &&
                                *claimed - *CreationOf(pass.object) <= kClaimedAtCreation;
  if (was_edited || was_just_created) return true;
  memory_.asked.Add(pass.request, pass.object.resource_version());
  return false;
}

bool HasPassedOrLater(const kube::Object& object, const kube::Object& binding,
                      kube::ClusterClient& client, const interpreter::Interpreter& interpreter) {
  const api::BindingView view(binding);
  // A cache that is behind shows an earlier state than the one that has passed.
  const std::string recorded = view.Resource().resource_version;
  if (!TemplateEdits::IsLater(object.resource_version(), recorded)) return true;
  const auto works = [&] { return works::TargetWorks(view, client); };
  return works::HasPassed(view, object, works, interpreter);
}

bool IsLazilyGoverned(const kube::Object& object, const PolicyIndex& policies,
                      const PolicyIndex& cluster_policies) {
  if (api::IsClaimed(object)) return IsLazilyClaimed(object, policies, cluster_policies);
  kube::ObjectPtr best = object.ns().empty() ? nullptr : policies.BestFor(object.ns(), object);
  if (best == nullptr) best = cluster_policies.BestFor("", object);
  return best != nullptr && api::PolicyView(*best).IsLazy();
}

}  // namespace detector
