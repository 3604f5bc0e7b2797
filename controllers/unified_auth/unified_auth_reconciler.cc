// A pass is about one cluster: it finds out from all ClusterRoles and ClusterRoleBindings who has
// access to the cluster, and writes a Work with a ClusterRole, which allows to act in these names,
// and one with the ClusterRoleBinding that gives it to the ServiceAccount karmada-impersonator in
// the member. What is right already is not sent.
//
// Who has access follows from the cache, and is found out again when a ClusterRole or
// ClusterRoleBinding has changed. An event of a ClusterRole queues the clusters of its rules,
// before and after a change; one of a ClusterRoleBinding queues those of its role, as long as that
// exists: the deletion of the role has queued them before. A cluster is queued as well when its
// execution namespace is made, when another ServiceAccount is to be used, and when somebody changes
// or deletes one of its Works. What is lost in between, such as events while another replica leads,
// is made up for at the start, when every Cluster is queued.

#include "controllers/unified_auth/unified_auth_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/cluster.h"
#include "api/names.h"
#include "api/rbac.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/unified_auth/register.h"
#include "kube/meta/controller_ref.h"
#include "kube/runtime/controller.h"
#include "works/related.h"
#include "works/unregistering.h"

namespace controllers {
namespace {

kube::Request RequestFor(absl::string_view cluster) { return {.key = {"", std::string(cluster)}}; }

bool OtherRules(const kube::Object& before, const kube::Object& after) {
  return before.Get({"rules"}) != after.Get({"rules"});
}

bool OtherSubjects(const kube::Object& before, const kube::Object& after) {
  return before.Get({"subjects"}) != after.Get({"subjects"}) ||
         before.Get({"roleRef"}) != after.Get({"roleRef"});
}

bool OtherImpersonator(const kube::Object& before, const kube::Object& after) {
  return api::ClusterView(before).ImpersonatorSecretRef() !=
         api::ClusterView(after).ImpersonatorSecretRef();
}

// A deletion is not a change of the content; the end of the Work queues its cluster.
bool OtherContent(const kube::Object& before, const kube::Object& after) {
  return !after.IsDeleting() && kube::GenerationChanged(before, after);
}

// Returns the clusters among those of the informer to which the role gives access.
std::vector<kube::Request> ClustersOf(const kube::Object& role, const kube::Informer& clusters) {
  const api::NamedClusters proxied = api::ClusterRoleView(role).ProxiedClusters();
  std::vector<kube::Request> requests;
  if (!proxied.all && proxied.names.empty()) return requests;
  for (const kube::ObjectPtr& cluster : clusters.store().List()) {
    if (proxied.Contains(cluster->name())) requests.push_back(RequestFor(cluster->name()));
  }
  return requests;
}

std::vector<kube::Request> ClusterOf(const kube::Object& execution_namespace) {
  const absl::StatusOr<std::string> cluster =
      api::ClusterOfExecutionNamespace(execution_namespace.name());
  if (!cluster.ok()) return {};
  return {RequestFor(*cluster)};
}

}  // namespace

UnifiedAuthReconciler::UnifiedAuthReconciler(kube::Manager& manager)
    : manager_(manager),
      writer_(manager.cluster()),
      recorder_(manager.events(), api::kUnifiedAuthController, outcomes()) {}

absl::StatusOr<kube::Action> UnifiedAuthReconciler::Reconcile(const kube::Request& request,
                                                              const base::StopToken& stop) {
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) return kube::Action::Gone();
  if (!works::TakesWorks(manager_.cluster(), *cluster)) return kube::Action::Done();
  if (api::ClusterView(*cluster).ImpersonatorSecretRef().name.empty()) return kube::Action::Done();
  const absl::StatusOr<bool> written = Sync(*cluster, stop);
  const absl::Status synced = recorder_.Judge(request, "", written.status());
  recorder_.Outcome({.of = request,
                     .about = {kube::InvolvedObject::Of(*cluster)},
                     .success = {api::reason::kSyncImpersonationConfigSucceed,
                                 api::message::kImpersonationConfigSynced},
                     .failure = {api::reason::kSyncImpersonationConfigFailed, ""},
                     .changed = written.ok() && *written},
                    synced);
  RETURN_IF_ERROR(synced);
  return kube::Action::Done();
}

absl::StatusOr<bool> UnifiedAuthReconciler::Sync(const kube::Object& cluster,
                                                 const base::StopToken& stop) {
  const std::vector<api::Subject> subjects = Access()->SubjectsFor(cluster.name());
  const std::string ns = api::ClusterView(cluster).ImpersonatorSecretRef().ns;
  base::ErrorList errors;
  bool any_written = false;
  for (kube::Object& manifest : std::vector<kube::Object>{
           ImpersonatorRole(ImpersonationRules(subjects)), ImpersonatorRoleBinding(ns)}) {
    const std::string kind(manifest.kind());
    const absl::StatusOr<bool> written = Write(cluster, std::move(manifest), stop);
    // The other Work is written even so.
    errors.Add(base::Annotate(written.status(), "the Work of ", kind, " ", api::kImpersonator,
                              " for cluster ", cluster.name()));
    any_written = any_written || (written.ok() && *written);
  }
  RETURN_IF_ERROR(errors.Join());
  return any_written;
}

std::shared_ptr<const ClusterAccess> UnifiedAuthReconciler::Access() {
  // Guards the access and what it was made of. It is made again only when a role or a binding has
  // changed, and shared by the workers: that costs as much as there are roles, for each cluster.
  absl::MutexLock lock(&mu_);
  ClusterAccess::Objects roles = manager_.cluster().List(api::ClusterRoles());
  ClusterAccess::Objects bindings = manager_.cluster().List(api::ClusterRoleBindings());
  if (access_ == nullptr || roles != roles_ || bindings != bindings_) {
    access_ = std::make_shared<const ClusterAccess>(roles, bindings);
    roles_ = std::move(roles);
    bindings_ = std::move(bindings);
  }
  return access_;
}

absl::StatusOr<bool> UnifiedAuthReconciler::Write(const kube::Object& cluster,
                                                  kube::Object manifest,
                                                  const base::StopToken& stop) {
  works::WantedWork work;
  work.key = {api::ExecutionNamespace(cluster.name()),
              api::WorkName(manifest.kind(), manifest.name(), "")};
  work.manifest = std::move(manifest);
  work.owner_references = json::Value::Array({kube::ControllerRef(cluster).ToJson()});
  ASSIGN_OR_RETURN(const works::WorkWriter::Result result, writer_.CreateOrUpdate(work, stop));
  return result.written;
}

absl::Status RegisterUnifiedAuth(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> clusters = context.InformerOf(api::Clusters());
  const std::shared_ptr<kube::Informer> roles = context.InformerOf(api::ClusterRoles());
  const kube::MapFn clusters_of = [clusters](const kube::Object& role) {
    return ClustersOf(role, *clusters);
  };
  const kube::MapFn clusters_of_bound_role = [clusters, roles](const kube::Object& binding) {
    const std::string name(api::ClusterRoleBindingView(binding).ClusterRole());
    const kube::ObjectPtr role = roles->store().Find({"", name});
    return role == nullptr ? std::vector<kube::Request>() : ClustersOf(*role, *clusters);
  };
  context.NewController(api::kUnifiedAuthController, workers)
      .Watches(api::Clusters(), {.when = {.update = OtherImpersonator}})
      .Watches(api::Namespaces(),
               {.when = {.update = kube::NeverUpdate, .remove = kube::Never}, .map = ClusterOf})
      .Watches(api::ClusterRoles(), {.when = {.update = OtherRules}, .map = clusters_of})
      .Watches(api::ClusterRoleBindings(),
               {.when = {.update = OtherSubjects}, .map = clusters_of_bound_role})
      .Owns(api::Works(), api::Clusters(),
            {.when = {.add = kube::Never, .update = OtherContent},
             .removal_delay = works::TimeToUnregister(context.manager.cluster())})
      .Build(std::make_unique<UnifiedAuthReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
