#include "controllers/workstatus/work_status_reconciler.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/runtime/events.h"

namespace controllers {
namespace {

// "object(Deployment/default/web)", as event messages call it.
std::string DescribeObject(const kube::Object& o) {
  return absl::StrCat("object(", o.kind(), "/", o.key().ToString(), ")");
}

kube::ObjectKey WorkOf(const kube::Object& member_object) {
  return {std::string(member_object.Annotation(api::kWorkNamespaceAnnotation)),
          std::string(member_object.Annotation(api::kWorkNameAnnotation))};
}

}  // namespace

WorkStatusReconciler::WorkStatusReconciler(WorkStatusDeps deps) : deps_(deps) {}

absl::StatusOr<kube::Action> WorkStatusReconciler::Reconcile(const kube::Request& request,
                                                             const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::Informer> informer,
                   deps_.objects.InformerFor(request.cluster, request.gvk, stop));
  Observed observed;
  observed.cluster = request.cluster;
  observed.object = informer->store().Find(request.key);
  // After a reconnect, an empty cache does not mean that the object is gone.
  if (observed.object == nullptr && !informer->HasSynced()) {
    ASSIGN_OR_RETURN(
        observed.object,
        deps_.objects.Find(request.cluster, kube::Object::Make(request.gvk, request.key), stop));
  }
  if (observed.object == nullptr) {
    RETURN_IF_ERROR(Recreate(request, stop));
    return kube::Action::Done();
  }
  const kube::ObjectKey key = WorkOf(*observed.object);
  // An object that names another cluster's Work is not this control plane's to judge.
  if (key.name.empty() || key.ns != api::ExecutionNamespace(request.cluster)) {
    return kube::Action::Done();
  }
  observed.work = deps_.manager.cluster().Find(api::Works(), key);
  if (observed.work == nullptr || observed.work->IsDeleting()) return kube::Action::Done();
  const api::WorkView view(*observed.work);
  const std::optional<int64_t> index = view.IndexOf(*observed.object);
  if (!index.has_value()) {
    return kube::Terminal(absl::NotFoundError(
        absl::StrCat("no such manifest exist: ", observed.object->Describe(), " of cluster ",
                     request.cluster, " names work ", key.ToString())));
  }
  observed.index = *index;
  observed.manifest = kube::Object(view.Manifests()[static_cast<size_t>(*index)]);
  if (!view.IsDispatchingSuspended()) RETURN_IF_ERROR(RevertDrift(observed, stop));
  RETURN_IF_ERROR(Collect(observed));
  return kube::Action::Done();
}

absl::Status WorkStatusReconciler::RevertDrift(Observed& observed, const base::StopToken& stop) {
  if (!deps_.objects.NeedsUpdate(observed.cluster, observed.manifest, *observed.object)) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(base::Annotate(
      deps_.objects.Update(observed.cluster, observed.manifest, observed.object, stop).status(),
      "putting back ", observed.object->Describe(), " in cluster ", observed.cluster));
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::Informer> informer,
                   deps_.objects.InformerFor(observed.cluster, observed.object->gvk(), stop));
  const kube::ObjectPtr now = informer->store().Find(observed.object->key());
  if (now != nullptr) observed.object = now;
  return absl::OkStatus();
}

absl::Status WorkStatusReconciler::Collect(const Observed& observed) {
  ASSIGN_OR_RETURN(json::Value status, ReflectStatus(observed));
  api::ManifestStatus item;
  item.identifier = api::ManifestIdentifier::Of(observed.manifest, observed.index);
  item.status = std::move(status);
  item.health = InterpretHealth(observed);
  const works::News news =
      item.health == api::kHealthy ? works::News::kSettled : works::News::kProgress;
  deps_.status.Submit(observed.work->key(), {{}, item.ToJson()}, news);
  return absl::OkStatus();
}

absl::StatusOr<json::Value> WorkStatusReconciler::ReflectStatus(const Observed& observed) {
  const std::string what = DescribeObject(*observed.object);
  const std::string key = absl::StrCat(observed.cluster, "/", what);
  absl::StatusOr<json::Value> status = deps_.interpreter.ReflectStatus(*observed.object);
  if (!status.ok()) {
    {
      absl::MutexLock lock(&mu_);
      failing_.insert(key);
    }
    Warn(observed, "ReflectStatusFailed",
         absl::StrCat("Reflect status for ", what, " failed, err: ", status.status().message()));
    return base::Annotate(status.status(), "reflecting status of ", what, " in cluster ",
                          observed.cluster);
  }
  absl::MutexLock lock(&mu_);
  if (failing_.erase(key) > 0) {
    deps_.manager.events().Record(kWorkStatusController, kube::ObjectReference::Of(*observed.work),
                                  kube::EventType::kNormal, "ReflectStatusSucceed",
                                  absl::StrCat("Reflect status for ", what, " succeed."));
  }
  return status;
}

std::string WorkStatusReconciler::InterpretHealth(const Observed& observed) {
  const kube::Gvk gvk = observed.object->gvk();
  if (!deps_.interpreter.HookEnabled(gvk, interpreter::Operation::kInterpretHealth)) {
    return api::kHealthy;
  }
  const absl::StatusOr<bool> healthy = deps_.interpreter.InterpretHealth(*observed.object);
  const std::string what = DescribeObject(*observed.object);
  if (!healthy.ok()) {
    Warn(observed, "InterpretHealthFailed",
         absl::StrCat("Interpret health of ", what, " failed, err: ", healthy.status().message()));
    return api::kHealthUnknown;
  }
  const std::string health = *healthy ? api::kHealthy : api::kUnhealthy;
  const json::Value& known = observed.work->Get({"status", "manifestStatuses"}).At(0)["health"];
  // Told when it flips, not at every look.
  if (!known.is_null() && known.AsString() != health) {
    deps_.manager.events().Record(
        kWorkStatusController, kube::ObjectReference::Of(*observed.work), kube::EventType::kNormal,
        "InterpretHealthSucceed",
        absl::StrCat("Interpret health of ", what, " as ", *healthy ? "healthy." : "unhealthy."));
  }
  return health;
}

absl::Status WorkStatusReconciler::Recreate(const kube::Request& request,
                                            const base::StopToken& stop) {
  const kube::ObjectKey key{api::ExecutionNamespace(request.cluster),
                            api::WorkName(request.gvk.kind, request.key.name, request.key.ns)};
  const kube::ObjectPtr work = deps_.manager.cluster().Find(api::Works(), key);
  if (work == nullptr || work->IsDeleting()) return absl::OkStatus();
  const api::WorkView view(*work);
  const std::optional<int64_t> index = view.IndexOf(kube::Object::Make(request.gvk, request.key));
  if (view.IsDispatchingSuspended() || !index.has_value()) return absl::OkStatus();
  const kube::Object manifest(view.Manifests()[static_cast<size_t>(*index)]);

  const absl::Status created = deps_.objects.Recreate(request.cluster, manifest, stop);
  if (absl::IsCancelled(created)) return created;
  kube::Condition condition;
  condition.type = api::kWorkApplied;
  condition.status = created.ok() ? "True" : "False";
  condition.reason = created.ok() ? "ReCreateSuccessful" : "ReCreateFailed";
  condition.message =
      created.ok() ? "Manifest has been successfully applied" : std::string(created.message());
  deps_.status.Submit(key, {{condition}, std::nullopt},
                      created.ok() ? works::News::kProgress : works::News::kSettled);

  kube::ObjectReference about = kube::ObjectReference::Of(manifest);
  about.uid = std::string(manifest.Annotation(api::kTemplateUidAnnotation));
  about.resource_version.clear();
  if (about.uid.empty()) return created;
  const std::string name = absl::StrCat("(", request.key.ToString(), ")");
  deps_.manager.events().Record(
      kWorkStatusController, about,
      created.ok() ? kube::EventType::kNormal : kube::EventType::kWarning,
      created.ok() ? "SyncSucceed" : "SyncFailed",
      created.ok()
          ? absl::StrCat("Successfully applied resource", name, " to cluster ", request.cluster)
          : absl::StrCat("Failed to create or update resource", name, " in member cluster(",
                         request.cluster, "): ", created.message()));
  return created;
}

void WorkStatusReconciler::Warn(const Observed& observed, absl::string_view reason,
                                absl::string_view message) {
  deps_.manager.events().Record(kWorkStatusController, kube::ObjectReference::Of(*observed.work),
                                kube::EventType::kWarning, reason, message);
}

}  // namespace controllers
