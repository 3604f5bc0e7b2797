#include "controllers/namespace/namespace_sync_reconciler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/runtime/controller.h"

namespace controllers {

works::WorkTemplate NamespaceWork(const kube::Object& ns, absl::string_view cluster) {
  works::WorkTemplate work;
  work.key = {api::ExecutionNamespace(cluster), api::WorkName(ns.kind(), ns.name(), "")};
  work.manifest = ns;
  kube::OwnerRef owner;
  owner.api_version = std::string(ns.api_version());
  owner.kind = std::string(ns.kind());
  owner.name = std::string(ns.name());
  owner.uid = std::string(ns.uid());
  owner.controller = true;
  owner.block_owner_deletion = true;
  work.owner_references = json::Value::Array({owner.ToJson()});
  const absl::string_view resolution = ns.Annotation(api::kConflictResolutionAnnotation);
  if (!resolution.empty()) work.annotations.Set(api::kConflictResolutionAnnotation, resolution);
  return work;
}

NamespaceSyncReconciler::NamespaceSyncReconciler(kube::Manager& manager,
                                                 std::function<bool(absl::string_view)> is_skipped)
    : manager_(manager), is_skipped_(std::move(is_skipped)), writer_(manager.cluster()) {}

bool NamespaceSyncReconciler::IsSkipped(const kube::Object& ns) const {
  return ns.IsDeleting() || ns.name() == "default" || api::IsReservedNamespace(ns.name()) ||
         is_skipped_(ns.name()) ||
         absl::EqualsIgnoreCase(ns.Label(api::kSkipAutoPropagationLabel), "true");
}

absl::StatusOr<kube::Action> NamespaceSyncReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  const kube::ObjectPtr ns = manager_.cluster().Find(api::Namespaces(), request.key);
  if (ns == nullptr || IsSkipped(*ns)) return kube::Action::Done();
  base::ErrorList errors;
  for (const kube::ObjectPtr& cluster :
       manager_.cluster().informers().Get(api::Clusters())->store().List()) {
    if (cluster->IsDeleting()) continue;
    const absl::Status written =
        writer_.CreateOrUpdate(NamespaceWork(*ns, cluster->name()), stop).status();
    if (absl::IsAborted(written) || absl::IsCancelled(written)) return written;
    errors.Add(base::Annotate(written, "cluster ", cluster->name()));
  }
  RETURN_IF_ERROR(errors.Join());
  return kube::Action::Done();
}

void RegisterNamespaceSync(kube::Manager& manager, const NamespaceSyncOptions& options) {
  kube::InformerSet& informers = manager.cluster().informers();
  const std::shared_ptr<kube::Informer> namespaces = informers.Get(api::Namespaces());
  kube::Predicates on_namespace;
  on_namespace.update = kube::ResourceVersionChanged;
  on_namespace.remove = kube::Never;  // Its Works are owned by it and collected.
  // A new cluster needs every namespace.
  kube::Predicates on_cluster;
  on_cluster.update = kube::NeverUpdate;
  on_cluster.remove = kube::Never;
  const kube::MapFn all_namespaces = [namespaces](const kube::Object&) {
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& ns : namespaces->store().List()) {
      requests.push_back({.key = ns->key()});
    }
    return requests;
  };
  kube::Controller& controller =
      kube::ControllerBuilder(manager)
          .Named(api::kNamespaceSyncController)
          .Watches(namespaces, on_namespace)
          .Watches(informers.Get(api::Clusters()), on_cluster, all_namespaces)
          .WithWorkers(options.workers)
          .WithLimiter(options.limiter)
          .Build(std::make_unique<NamespaceSyncReconciler>(manager, options.is_skipped));
  controller.WaitFor(informers.Get(api::Works()));
}

}  // namespace controllers
