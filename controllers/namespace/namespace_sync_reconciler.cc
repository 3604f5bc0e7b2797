// A pass is about one namespace, whose Work it writes for every cluster, or about one cluster, for
// which it writes the Works of all namespaces; with many of them, several at the same time. A pair
// that fails does not hold up the others, and the whole pass is repeated with back-off; a Work that
// is right already is not sent.
//
// Each pair is covered by several events, whichever is first: the namespace is added or changes,
// the cluster joins, and the cluster's execution namespace is made. A cluster without that
// namespace is passed over, since the last of these events will bring it back. While a pass over a
// cluster is under way, a namespace, an override policy or the cluster's labels may change, and the
// namespace's own pass may already have written that; so the former reads them when the namespace's
// turn comes, and again after it was written. Works are never deleted here: they are owned by their
// namespace, and the execution namespace of a cluster takes its Works along. A Work may be that of
// a ClusterResourceBinding as well. While that wants it, it is left to the binding's loop, which
// makes the same manifest, with the binding's marks, of the states that have passed; when the
// binding lets go of it, it is this loop's again. ClusterOverridePolicies are applied to each
// namespace for each cluster; a change of one, or of a cluster that a rule of it means, brings the
// namespaces back. Nothing is remembered but which overrides have failed.

#include "controllers/namespace/namespace_sync_reconciler.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/context/execution_namespace.h"
#include "controllers/context/synced_namespaces.h"
#include "controllers/namespace/register.h"
#include "kube/meta/controller_ref.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/handler_registration.h"
#include "overrides/triggers.h"
#include "works/binding_works.h"
#include "works/related.h"
#include "works/unregistering.h"

namespace controllers {
namespace {

// What the Work of a namespace for a cluster depends on, as the cache shows it at one time.
struct Inputs {
  kube::ObjectPtr ns, cluster;
  std::vector<overrides::PolicyPtr> policies;
  friend bool operator==(const Inputs&, const Inputs&) = default;
};

// A ClusterPropagationPolicy may propagate the Namespace, too. Returns whether its binding wants
// the Work, so that the binding's loop writes it. (Upstream's two loops write it in turn.)
bool IsLeftToBinding(kube::ClusterClient& client, const kube::Object& work, const kube::Object& ns,
                     const std::string& cluster) {
  using Scope = api::scope::Cluster;
  const kube::ObjectPtr binding = client.Find(Scope::Bindings(), Scope::BindingOf(work));
  if (binding == nullptr || binding->IsDeleting() || !works::IsWorkOf<Scope>(work, *binding)) {
    return false;
  }
  const api::ObjectReference resource = api::BindingView(*binding).Resource();
  return resource.gvk() == api::Namespaces().gvk && resource.key() == ns.key() &&
         works::Expects(*binding, cluster);
}

// How a binding that does not want the Work any more, but has not let go of it, wants it to be
// dispatched and deleted stays. (Upstream takes that away with its next write.)
void KeepOfBinding(const kube::Object& existing, works::WantedWork& work) {
  if (api::scope::Cluster::BindingOf(existing).name.empty()) return;
  const json::Value& suspend = existing.spec()["suspendDispatching"];
  const json::Value& preserve = existing.spec()["preserveResourcesOnDeletion"];
  if (suspend.is_bool()) work.suspend_dispatching = suspend.AsBool();
  if (preserve.is_bool()) work.preserve_resources_on_deletion = preserve.AsBool();
}

// Maps a Work to the Namespace that it brings.
std::vector<kube::Request> NamespaceOf(const kube::Object& work) {
  const kube::Object object = works::ObjectOf(work);
  if (object.gvk() != api::Namespaces().gvk || !api::IsExecutionNamespace(work.ns())) return {};
  return {{.key = object.key()}};
}

}  // namespace

works::WantedWork NamespaceWork(const kube::Object& ns, absl::string_view cluster) {
  works::WantedWork work;
  work.key = {api::ExecutionNamespace(cluster), api::WorkName(ns.kind(), ns.name(), "")};
  work.manifest = ns;
  work.owner_references = json::Value::Array({kube::ControllerRef(ns).ToJson()});
  return work;
}

NamespaceSyncReconciler::NamespaceSyncReconciler(kube::Manager& manager, IsSynced is_synced)
    : manager_(manager),
      is_synced_(std::move(is_synced)),
      writer_(manager.cluster()),
      overrider_(manager, outcomes()),
      fan_out_(manager.clock()) {}

absl::StatusOr<kube::Action> NamespaceSyncReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  const absl::Status synced = request.cluster.empty() ? SyncNamespace(request.key, stop)
                                                      : SyncCluster(request.cluster, stop);
  RETURN_IF_ERROR(synced);
  const bool is_gone =
      request.cluster.empty() && manager_.cluster().Find(api::Namespaces(), request.key) == nullptr;
  return is_gone ? kube::Action::Gone() : kube::Action::Done();
}

absl::Status NamespaceSyncReconciler::SyncNamespace(const kube::ObjectKey& key,
                                                    const base::StopToken& stop) {
  const kube::ObjectPtr ns = manager_.cluster().Find(api::Namespaces(), key);
  if (ns == nullptr || !is_synced_(*ns)) return absl::OkStatus();
  const overrides::Policies policies = overrider_.PoliciesFor("");
  const std::vector<kube::ObjectPtr> clusters = manager_.cluster().List(api::Clusters());
  return fan_out_.Run(clusters.size(), [&](size_t i) {
    if (!works::TakesWorks(manager_.cluster(), *clusters[i])) return absl::OkStatus();
    const std::string name(clusters[i]->name());
    return base::Annotate(Write(*ns, name, policies, stop), "cluster ", name);
  });
}

absl::Status NamespaceSyncReconciler::SyncCluster(const std::string& cluster,
                                                  const base::StopToken& stop) {
  const kube::ObjectPtr object = manager_.cluster().Find(api::Clusters(), {"", cluster});
  if (object == nullptr || !works::TakesWorks(manager_.cluster(), *object)) {
    return absl::OkStatus();
  }
  const std::vector<kube::ObjectPtr> namespaces = manager_.cluster().List(api::Namespaces());
  return fan_out_.Run(namespaces.size(), [&](size_t i) {
    const kube::ObjectKey key = namespaces[i]->key();
    return base::Annotate(WriteLatest(key, cluster, stop), "namespace ", key.name);
  });
}

absl::Status NamespaceSyncReconciler::WriteLatest(const kube::ObjectKey& key,
                                                  const std::string& cluster,
                                                  const base::StopToken& stop) {
  Inputs written;
  while (true) {
    Inputs now = {manager_.cluster().Find(api::Namespaces(), key),
                  manager_.cluster().Find(api::Clusters(), {"", cluster}),
                  overrider_.PoliciesFor("").cluster_wide};
    if (now.ns == nullptr || !is_synced_(*now.ns) || now == written) return absl::OkStatus();
    RETURN_IF_ERROR(Write(*now.ns, cluster, {.cluster_wide = now.policies}, stop));
    written = std::move(now);
  }
}

absl::Status NamespaceSyncReconciler::Write(const kube::Object& ns, const std::string& cluster,
                                            const overrides::Policies& policies,
                                            const base::StopToken& stop) {
  works::WantedWork work = NamespaceWork(ns, cluster);
  const kube::ObjectPtr existing = manager_.cluster().Find(api::Works(), work.key);
  if (existing != nullptr && IsLeftToBinding(manager_.cluster(), *existing, ns, cluster)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const overrides::Overridden overridden,
                   overrider_.Override(policies, ns, cluster, ns.key()));
  work.manifest = overridden.manifest;
  overrides::AddAnnotations(overridden.annotations, work.annotations);
  if (existing != nullptr) KeepOfBinding(*existing, work);
  ASSIGN_OR_RETURN(const works::WorkWriter::Result result,
                   writer_.CreateOrUpdate(work, existing, stop));
  if (result.written) overrider_.ReportApplied(overridden, ns, cluster);
  return absl::OkStatus();
}

absl::Status RegisterNamespaceSync(const Context& context, int workers) {
  ASSIGN_OR_RETURN(IsSynced is_synced,
                   SyncedNamespaces(context.options.skipped_propagating_namespaces));
  kube::Controller& controller =
      context
          .NewController(api::kNamespaceSyncController, workers)
          // A namespace that is gone is only forgotten: it owns its Works, which are
          // garbage-collected.
          .Watches(api::Namespaces(), {.when = {.update = kube::ResourceVersionChanged}})
          // A Work that somebody deletes is made again while its namespace is there; one that a
          // binding has let go is this loop's alone.
          .Watches(api::Works(),
                   {.when = {.add = kube::Never, .update = works::ChangedHands},
                    .map = NamespaceOf,
                    .removal_delay = works::TimeToUnregister(context.manager.cluster())})
          .Reads(api::Clusters())
          .Reads(api::ClusterResourceBindings())
          .Reads(api::ClusterOverridePolicies())
          .Build(std::make_unique<NamespaceSyncReconciler>(context.manager, std::move(is_synced)));
  // A new cluster needs every namespace. Clusters of the first list, and those that join while
  // another replica leads, need no request: each namespace of the first list is written into all.
  kube::EventHandler joined;
  joined.on_add = [&queue = controller.queue(), &manager = context.manager](
                      const kube::ObjectPtr& cluster, bool initial) {
    if (!initial && manager.IsLeader()) queue.Add({.cluster = std::string(cluster->name())});
  };
  controller.Keep(std::make_shared<kube::HandlerRegistration>(context.InformerOf(api::Clusters()),
                                                              std::move(joined)));
  OnExecutionNamespace(context, controller,
                       [&queue = controller.queue()](const std::string& cluster) {
                         queue.Add({.cluster = cluster});
                       });
  overrides::QueueNamespaces(context.manager, controller);
  return absl::OkStatus();
}

}  // namespace controllers
