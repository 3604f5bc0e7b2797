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
                                                 loops::SkippedNamespaces skipped)
    : manager_(manager), skipped_(std::move(skipped)), writer_(manager.cluster()) {}

bool NamespaceSyncReconciler::IsSkipped(const kube::Object& ns) const {
  return ns.IsDeleting() || ns.name() == "default" || api::IsReservedNamespace(ns.name()) ||
         skipped_.Contains(ns.name()) ||
         absl::EqualsIgnoreCase(ns.Label(api::kSkipAutoPropagationLabel), "true");
}

absl::StatusOr<kube::Action> NamespaceSyncReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  const kube::ObjectPtr ns = manager_.cluster().Find(api::Namespaces(), request.key);
  if (ns == nullptr || IsSkipped(*ns)) {
    conflicts_.Forget(request.key.name);
    return kube::Action::Done();
  }
  base::ErrorList errors;
  for (const kube::ObjectPtr& cluster :
       manager_.cluster().informers().Get(api::Clusters())->store().List()) {
    if (cluster->IsDeleting()) continue;
    const absl::Status written =
        writer_.CreateOrUpdate(NamespaceWork(*ns, cluster->name()), stop).status();
    if (absl::IsCancelled(written)) return written;
    errors.Add(base::Annotate(written, "cluster ", cluster->name()));
  }
  RETURN_IF_ERROR(conflicts_.Judge(request.key.name, errors.Join()));
  return kube::Action::Done();
}

absl::Status RegisterNamespaceSync(const loops::Context& context, int workers) {
  ASSIGN_OR_RETURN(
      loops::SkippedNamespaces skipped,
      loops::SkippedNamespaces::Create(context.options.skipped_propagating_namespaces));
  const kube::MapFn all_namespaces =
      [namespaces = context.InformerOf(api::Namespaces())](const kube::Object&) {
        std::vector<kube::Request> requests;
        for (const kube::ObjectPtr& ns : namespaces->store().List()) {
          requests.push_back({.key = ns->key()});
        }
        return requests;
      };
  context
      .NewController(api::kNamespaceSyncController, workers)
      // The Works of a namespace that goes are owned by it and collected.
      .Watches(api::Namespaces(),
               {.when = {.update = kube::ResourceVersionChanged, .remove = kube::Never}})
      // A new cluster needs every namespace.
      .Watches(api::Clusters(), {.when = {.update = kube::NeverUpdate, .remove = kube::Never},
                                 .map = all_namespaces})
      .Reads(api::Works())
      .Build(std::make_unique<NamespaceSyncReconciler>(context.manager, std::move(skipped)));
  return absl::OkStatus();
}

}  // namespace controllers
