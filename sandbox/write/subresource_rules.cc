#include "sandbox/write/subresource_rules.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "kube/server/metadata_rules.h"
#include "kube/server/write_request.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/namespace_rules.h"

namespace sandbox {
namespace {

void CopyMember(const kube::Object& from, json::Path path, kube::Object& to) {
  const json::Value* v = from.root().FindPath(path);
  if (v == nullptr) {
    to.Erase(path);
  } else {
    to.Set(path, *v);
  }
}

void OnlyStatus(const ResourceInfo& info, const kube::Object& current, kube::Object& wanted) {
  kube::Object result = current;
  CopyMember(wanted, {"status"}, result);
  if (!info.custom) {
    // Built-in strategies reset the spec but accept metadata; that of Deployments keeps labels.
    result.Set({"metadata"}, wanted.metadata());
    if (info.resource.gvk.kind == "Deployment") {
      CopyMember(current, {"metadata", "labels"}, result);
    }
  }
  wanted = std::move(result);
}

void OnlyFinalizers(const kube::Object& current, kube::Object& wanted) {
  kube::Object result = current;
  result.Set({"metadata"}, wanted.metadata());
  CopyMember(wanted, {"spec", "finalizers"}, result);
  wanted = std::move(result);
}

void OnlyConditions(const kube::Object& current, kube::Object& wanted) {
  kube::Object result = current;
  CopyMember(wanted, {"status", "conditions"}, result);
  wanted = std::move(result);
}

}  // namespace

absl::Status CheckWritePreconditions(const ResourceInfo& info, const kube::Object& current,
                                     const kube::Object& wanted) {
  if (wanted.resource_version().empty() && !info.unconditional_update) {
    FieldErrors errors;
    errors.InvalidText("metadata.resourceVersion", "0x0", "must be specified for an update");
    // This error names the resource, while others name a kind.
    return errors.ToStatus(info.name(), current.name());
  }
  return kube::server::CheckUpdatePreconditions(info.name(), current, wanted);
}

void RestrictToSubresource(const ResourceInfo& info, absl::string_view subresource,
                           const kube::Object& current, kube::Object& wanted) {
  if (subresource == "status") {
    OnlyStatus(info, current, wanted);
    return;
  }
  if (subresource == "finalize") {
    OnlyFinalizers(current, wanted);
    return;
  }
  if (subresource == "approval") {
    OnlyConditions(current, wanted);
    return;
  }
  if (info.status_subresource) CopyMember(current, {"status"}, wanted);
  if (IsNamespaceKind(info)) CopyMember(current, {"spec", "finalizers"}, wanted);
}

bool IsReadyToGo(const ResourceInfo& info, const kube::Object& object) {
  return object.IsDeleting() && object.metadata()["finalizers"].empty() &&
         !HoldsNamespace(info, object);
}

void SetDeletionFinalizers(const ResourceInfo& info, absl::string_view propagation,
                           kube::Object& object) {
  std::string policy(propagation);
  if (policy.empty() && info.orphans_by_default && !object.IsDeleting()) policy = "Orphan";
  kube::server::SetPropagation(policy, object);
  if (IsDefinitionKind(info) && !object.IsDeleting()) object.AddFinalizer(kCleanupFinalizer);
}

void MarkTerminating(const ResourceInfo& info, kube::Object& object) {
  if (IsNamespaceKind(info)) object.Set({"status", "phase"}, "Terminating");
  if (!IsDefinitionKind(info)) return;
  json::Value& conditions = object.mutable_root().Mutable(json::Path({"status", "conditions"}));
  kube::SetCondition(conditions,
                     {"Terminating", "True", "InstanceDeletionPending",
                      "CustomResourceDefinition marked for deletion; CustomResource deletion will "
                      "begin soon"},
                     base::RealClock().Now());
}

}  // namespace sandbox
