#include "cmd/controller-manager/controller_table.h"

#include "absl/strings/str_join.h"
#include "api/binding_scope.h"
#include "base/log.h"
#include "base/status.h"
#include "binding/binding_reconciler.h"
#include "config/support.h"
#include "controllers/agent_csr/agent_csr_reconciler.h"
#include "controllers/application_failover/application_failover_reconciler.h"
#include "controllers/bindingstatus/binding_status_reconciler.h"
#include "controllers/cluster/cluster_reconciler.h"
#include "controllers/cluster_api/cluster_api_reconciler.h"
#include "controllers/cluster_taint_policy/cluster_taint_policy_reconciler.h"
#include "controllers/clusterstatus/cluster_status_reconciler.h"
#include "controllers/cron_federated_hpa/cron_federated_hpa_reconciler.h"
#include "controllers/dependencies/dependencies_reconciler.h"
#include "controllers/deployment_replicas/deployment_replicas_reconciler.h"
#include "controllers/execution/execution_reconciler.h"
#include "controllers/federated_hpa/federated_hpa_reconciler.h"
#include "controllers/federated_quota/quota_enforcement_reconciler.h"
#include "controllers/federated_quota/quota_status_reconciler.h"
#include "controllers/federated_quota/quota_sync_reconciler.h"
#include "controllers/graceful_eviction/graceful_eviction_reconciler.h"
#include "controllers/imported_slices/imported_slice_reconciler.h"
#include "controllers/members/member_reconciler.h"
#include "controllers/multi_cluster_service/endpoint_slice_dispatch_reconciler.h"
#include "controllers/multi_cluster_service/multi_cluster_service_reconciler.h"
#include "controllers/namespace/namespace_sync_reconciler.h"
#include "controllers/remedy/remedy_reconciler.h"
#include "controllers/scale_target/scale_target_reconciler.h"
#include "controllers/service_import/service_import_reconciler.h"
#include "controllers/slice_collection/register.h"
#include "controllers/taint_manager/tainted_cluster_reconciler.h"
#include "controllers/unified_auth/unified_auth_reconciler.h"
#include "controllers/workload_rebalancer/workload_rebalancer_reconciler.h"
#include "controllers/workstatus/register.h"
#include "detector/register.h"

namespace cmd {
namespace {

using api::scope::Cluster;
using api::scope::Namespaced;
using binding::RegisterBinding;
using config::Concurrency;
using config::Gate;
using controllers::RegisterApplicationFailover;
using controllers::RegisterBindingStatus;
using controllers::RegisterGracefulEviction;
using enum Switch;

bool JoinsClusterApi(const config::Options& o) { return !o.cluster_api_kubeconfig.empty(); }

constexpr ControllerEntry kTable[] = {
    {"agentcsrapproving", kByFlag, kOneWorker, controllers::RegisterAgentCsr},
    {"applicationFailover", kByFlag, kOneWorker, RegisterApplicationFailover<Namespaced>},
    {"applicationFailover", kByFlag, kOneWorker, RegisterApplicationFailover<Cluster>},
    {"binding", kByFlag, &Concurrency::resource_binding, RegisterBinding<Namespaced>},
    {"binding", kByFlag, &Concurrency::cluster_resource_binding, RegisterBinding<Cluster>},
    {"bindingStatus", kByFlag, &Concurrency::resource_binding, RegisterBindingStatus<Namespaced>},
    {"bindingStatus", kByFlag, &Concurrency::cluster_resource_binding,
     RegisterBindingStatus<Cluster>},
    {"cluster", kByFlag, &Concurrency::cluster, controllers::RegisterCluster},
    {"cluster", kByFlag, &Concurrency::cluster, controllers::RegisterTaintManager, Gate::kFailover},
    {"clusterStatus", kByFlag, &Concurrency::cluster, controllers::RegisterClusterStatus},
    {"clustertaintpolicy", kByFlag, &Concurrency::cluster, controllers::RegisterClusterTaintPolicy,
     Gate::kFailover},
    {"cronFederatedHorizontalPodAutoscaler", kByFlag, kOneWorker,
     controllers::RegisterCronFederatedHpa},
    {"deploymentReplicasSyncer", kByFlag, kOneWorker, controllers::RegisterDeploymentReplicas},
    {"endpointSlice", kByFlag, kOneWorker, controllers::RegisterImportedSlices},
    {"endpointsliceCollect", kByFlag, kOneWorker, controllers::RegisterEndpointSliceCollect,
     Gate::kMultiClusterService},
    {"endpointsliceDispatch", kByFlag, &Concurrency::work,
     controllers::RegisterEndpointSliceDispatch, Gate::kMultiClusterService},
    {"execution", kByFlag, &Concurrency::work, controllers::RegisterExecution},
    {"federatedHorizontalPodAutoscaler", kByFlag, kOneWorker, controllers::RegisterFederatedHpa},
    {"federatedResourceQuotaEnforcement", kByFlag, kOneWorker,
     controllers::RegisterQuotaEnforcement, Gate::kFederatedQuotaEnforcement},
    {"federatedResourceQuotaStatus", kByFlag, kOneWorker, controllers::RegisterQuotaStatus},
    {"federatedResourceQuotaSync", kByFlag, kOneWorker, controllers::RegisterQuotaSync},
    {"gracefulEviction", kByFlag, kOneWorker, RegisterGracefulEviction<Namespaced>},
    {"gracefulEviction", kByFlag, kOneWorker, RegisterGracefulEviction<Cluster>},
    {"hpaScaleTargetMarker", kByFlag, kOneWorker, controllers::RegisterScaleTarget},
    {"multiclusterservice", kByFlag, kOneWorker, controllers::RegisterMultiClusterService,
     Gate::kMultiClusterService},
    {"namespace", kByFlag, &Concurrency::namespace_, controllers::RegisterNamespaceSync},
    {"remedy", kByFlag, kOneWorker, controllers::RegisterRemedy},
    {"serviceExport", kByFlag, kOneWorker, controllers::RegisterServiceExport},
    {"serviceImport", kByFlag, kOneWorker, controllers::RegisterServiceImport},
    {"unifiedAuth", kByFlag, &Concurrency::cluster, controllers::RegisterUnifiedAuth},
    {"workStatus", kByFlag, &Concurrency::work, controllers::RegisterWorkStatus},
    {"workloadRebalancer", kByFlag, kOneWorker, controllers::RegisterWorkloadRebalancer},

    {"Cluster API detector", kAlwaysOn, kOneWorker, controllers::RegisterClusterApi, std::nullopt,
     JoinsClusterApi},
    {"dependencies distributor", kAlwaysOn, &Concurrency::resource_binding,
     controllers::RegisterDependencies, Gate::kPropagateDeps},
    {"member clusters", kAlwaysOn, &Concurrency::cluster, controllers::RegisterMembers},
    {"resource detector", kAlwaysOn, &Concurrency::resource_template, detector::RegisterDetector},
};

constexpr int kNamesLevel = 2;

bool IsOnByDefault(absl::string_view name) {
  for (const config::ControllerSupport& controller : config::Controllers()) {
    if (controller.name == name) return controller.on_by_default;
  }
  return false;
}

}  // namespace

bool IsWanted(const ControllerEntry& entry, const config::Options& options) {
  if (entry.gate.has_value() && !options.gates.Enabled(*entry.gate)) return false;
  if (entry.is_asked_for != nullptr && !entry.is_asked_for(options)) return false;
  return entry.switched == kAlwaysOn ||
         options.ControllerEnabled(entry.name, IsOnByDefault(entry.name));
}

absl::Span<const ControllerEntry> ControllerTable() { return kTable; }

std::vector<std::string> ControllerNames() {
  std::set<std::string> names;
  for (const ControllerEntry& entry : kTable) {
    if (entry.switched == kByFlag) names.insert(entry.name);
  }
  return {names.begin(), names.end()};
}

RunningControllers ControllersThatRun(const config::Options& options) {
  RunningControllers controllers;
  for (const ControllerEntry& entry : kTable) {
    if (IsWanted(entry, options)) controllers.on.insert(entry.name);
  }
  // A controller with several lines runs when one of them does; one whose gate is off by default
  // was not turned off.
  const config::Options standard;
  for (const ControllerEntry& entry : kTable) {
    if (!controllers.on.contains(entry.name) && IsWanted(entry, standard)) {
      controllers.off.insert(entry.name);
    }
  }
  return controllers;
}

void LogControllers(const config::Options& options) {
  const auto [on, off] = ControllersThatRun(options);
  base::LogInfo("controllers", {{"on", on.size()},
                                {"off", off.empty() ? "none" : absl::StrJoin(off, ",")},
                                {"see", "docs/support.md, or --v=2 for the names"}});
  if (!base::VlogOn(kNamesLevel)) return;
  base::LogInfo("names of controllers", {{"on", absl::StrJoin(on, ",")}});
}

absl::Status BuildControllers(const loops::Context& context) {
  for (const ControllerEntry& entry : kTable) {
    if (!IsWanted(entry, context.options)) continue;
    const int workers =
        entry.workers == kOneWorker ? 1 : context.options.concurrency.*entry.workers;
    RETURN_IF_ERROR(
        base::Annotate(entry.build(context, workers), "building the ", entry.name, " controller"));
  }
  return absl::OkStatus();
}

}  // namespace cmd
