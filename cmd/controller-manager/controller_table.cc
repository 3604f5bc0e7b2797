// The one table of all loops: which name switches a loop, how many workers it has, what builds it,
// and what else it needs (a feature gate, a flag). A name can have several lines, for the two
// scopes of an object or for two loops that upstream has in one controller; they are switched
// together. The order of the lines is the order in which loops are built.
//
// Loops that upstream always runs cannot be switched by --controllers. What the settings page, the
// log and the permissions say of loops that are off is derived from this table, never written
// twice.

#include "cmd/controller-manager/controller_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding_scope.h"
#include "base/log.h"
#include "base/status.h"
#include "binding/register.h"
#include "config/support.h"
#include "controllers/agent_csr/register.h"
#include "controllers/application_failover/register.h"
#include "controllers/binding_status/register.h"
#include "controllers/cluster/register.h"
#include "controllers/cluster_api/register.h"
#include "controllers/cluster_status/register.h"
#include "controllers/cluster_taint_policy/register.h"
#include "controllers/cron_federated_hpa/register.h"
#include "controllers/dependencies/register.h"
#include "controllers/deployment_replicas/register.h"
#include "controllers/execution/register.h"
#include "controllers/federated_hpa/register.h"
#include "controllers/federated_quota/register.h"
#include "controllers/graceful_eviction/register.h"
#include "controllers/imported_slices/register.h"
#include "controllers/members/register.h"
#include "controllers/multi_cluster_service/register.h"
#include "controllers/namespace/register.h"
#include "controllers/remedy/register.h"
#include "controllers/scale_target/register.h"
#include "controllers/service_import/register.h"
#include "controllers/slice_collection/register.h"
#include "controllers/taint_manager/register.h"
#include "controllers/unified_auth/register.h"
#include "controllers/work_status/register.h"
#include "controllers/workload_rebalancer/register.h"
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

absl::Status RegisterWorkStatus(const controllers::Context& context, int workers) {
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
  // Options::ControllerEnabled decides; this only finds the token that explains the decision.
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
  // A gate may belong to the whole controller, or to this line of it alone.
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

absl::Status BuildControllers(const controllers::Context& context) {
  for (const ControllerEntry& entry : kTable) {
    if (!IsWanted(entry, context.options)) continue;
    RETURN_IF_ERROR(base::Annotate(entry.build(context, WorkersOf(entry, context.options)),
                                   "building the ", entry.name, " controller"));
  }
  return absl::OkStatus();
}

}  // namespace cmd
