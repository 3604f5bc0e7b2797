#include "cmd/controller-manager/controller_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
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

// Kubernetes' own autoscaler has this number by default. A pass waits for a scale and for each
// metric.
constexpr int kAutoscalers = 5;
// Many rules are due at the same minute, and each takes some requests one after the other.
constexpr int kRuleExecutors = 10;
// Upstream has these two numbers for its queues of slices and of clusters of Cluster API.
constexpr int kSliceCollectors = 3;
constexpr int kJoiners = 3;
// The loop over Works only attaches their kinds to the members' watches, so that --concurrent flags
// leave it alone; the second worker goes on while the first waits for a member.
constexpr int kWatchAttachers = 2;

absl::Status RegisterWorkStatus(const loops::Context& context, int workers) {
  return controllers::RegisterWorkStatus(context, {workers, kWatchAttachers});
}

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
    {"clustertaintpolicy", kByFlag, &Concurrency::cluster, controllers::RegisterClusterTaintPolicy},
    {"cronFederatedHorizontalPodAutoscaler", kByFlag, kRuleExecutors,
     controllers::RegisterCronFederatedHpa},
    {"deploymentReplicasSyncer", kByFlag, kOneWorker, controllers::RegisterDeploymentReplicas},
    {"endpointSlice", kByFlag, kOneWorker, controllers::RegisterImportedSlices},
    {"endpointsliceCollect", kByFlag, kSliceCollectors, controllers::RegisterEndpointSliceCollect},
    {"endpointsliceDispatch", kByFlag, &Concurrency::work,
     controllers::RegisterEndpointSliceDispatch},
    {"execution", kByFlag, &Concurrency::work, controllers::RegisterExecution},
    {"federatedHorizontalPodAutoscaler", kByFlag, kAutoscalers, controllers::RegisterFederatedHpa},
    {"federatedResourceQuotaEnforcement", kByFlag, kOneWorker,
     controllers::RegisterQuotaEnforcement},
    {"federatedResourceQuotaStatus", kByFlag, kOneWorker, controllers::RegisterQuotaStatus},
    {"federatedResourceQuotaSync", kByFlag, kOneWorker, controllers::RegisterQuotaSync},
    {"gracefulEviction", kByFlag, kOneWorker, RegisterGracefulEviction<Namespaced>},
    {"gracefulEviction", kByFlag, kOneWorker, RegisterGracefulEviction<Cluster>},
    {"hpaScaleTargetMarker", kByFlag, kOneWorker, controllers::RegisterScaleTarget},
    {"multiclusterservice", kByFlag, kOneWorker, controllers::RegisterMultiClusterService},
    {"namespace", kByFlag, &Concurrency::namespace_, controllers::RegisterNamespaceSync},
    {"remedy", kByFlag, kOneWorker, controllers::RegisterRemedy},
    {"serviceExport", kByFlag, kSliceCollectors, controllers::RegisterServiceExport},
    {"serviceImport", kByFlag, kOneWorker, controllers::RegisterServiceImport},
    {"unifiedAuth", kByFlag, &Concurrency::cluster, controllers::RegisterUnifiedAuth},
    {"workStatus", kByFlag, &Concurrency::work, RegisterWorkStatus},
    {"workloadRebalancer", kByFlag, kOneWorker, controllers::RegisterWorkloadRebalancer},

    {"Cluster API detector", kAlwaysOn, kJoiners, controllers::RegisterClusterApi, std::nullopt,
     JoinsClusterApi, "--cluster-api-kubeconfig"},
    {"dependencies distributor", kAlwaysOn, &Concurrency::resource_binding,
     controllers::RegisterDependencies, Gate::kPropagateDeps},
    {"member clusters", kAlwaysOn, &Concurrency::cluster, controllers::RegisterMembers},
    {"resource detector", kAlwaysOn, &Concurrency::resource_template, detector::RegisterDetector},
};

constexpr int kNamesLevel = 2;

bool IsOnByDefault(absl::string_view name) {
  const config::ControllerSupport* const support = config::FindController(name);
  return support != nullptr && support->on_by_default;
}

// Returns why --controllers leaves out a controller that it switches.
std::string WhyNotSwitchedOn(const std::string& name, const config::Options& options) {
  const std::vector<std::string>& tokens = options.controllers;
  const auto has = [&tokens](const std::string& token) {
    return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
  };
  if (has(absl::StrCat("-", name))) return absl::StrCat("--controllers has -", name);
  if (!has("*")) return "--controllers does not name it";
  return absl::StrCat("it is off by default: --controllers=*,", name, " turns it on");
}

std::string WithoutGate(Gate gate) {
  return absl::StrCat("it needs --feature-gates=", config::FeatureGates::NameOf(gate), "=true");
}

}  // namespace

std::string WhyOff(const ControllerEntry& entry, const config::Options& options) {
  const config::ControllerSupport* const support = config::FindController(entry.name);
  const bool is_switched_on = entry.switched == kAlwaysOn ||
                              options.ControllerEnabled(entry.name, IsOnByDefault(entry.name));
  if (!is_switched_on) return WhyNotSwitchedOn(entry.name, options);
  for (const std::optional<Gate>& gate :
       {support == nullptr ? std::nullopt : support->gate, entry.gate}) {
    if (gate.has_value() && !options.gates.Enabled(*gate)) return WithoutGate(*gate);
  }
  if (entry.is_asked_for == nullptr || entry.is_asked_for(options)) return "";
  return absl::StrCat("it needs ", entry.asked_for_by);
}

bool IsWanted(const ControllerEntry& entry, const config::Options& options) {
  return WhyOff(entry, options).empty();
}

absl::Span<const ControllerEntry> ControllerTable() { return kTable; }

int WorkersOf(const ControllerEntry& entry, const config::Options& options) {
  if (const int* const number = std::get_if<int>(&entry.workers)) return *number;
  return options.concurrency.*std::get<int Concurrency::*>(entry.workers);
}

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

std::map<std::string, std::string> ControllersThatAreOff(const config::Options& options) {
  const std::set<std::string> on = ControllersThatRun(options).on;
  std::map<std::string, std::string> off;
  for (const ControllerEntry& entry : kTable) {
    if (!on.contains(entry.name)) off.try_emplace(entry.name, WhyOff(entry, options));
  }
  return off;
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
    RETURN_IF_ERROR(base::Annotate(entry.build(context, WorkersOf(entry, context.options)),
                                   "building the ", entry.name, " controller"));
  }
  return absl::OkStatus();
}

}  // namespace cmd
