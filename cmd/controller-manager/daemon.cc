#include "cmd/controller-manager/daemon.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "binding/binding_reconciler.h"
#include "cmd/controller-manager/cluster_config_source.h"
#include "config/version.h"
#include "controllers/bindingstatus/binding_status_reconciler.h"
#include "controllers/cluster/cluster_reconciler.h"
#include "controllers/clusterstatus/cluster_status_reconciler.h"
#include "controllers/dependencies/dependencies_reconciler.h"
#include "controllers/execution/execution_reconciler.h"
#include "controllers/namespace/namespace_sync_reconciler.h"
#include "controllers/workstatus/work_status_reconciler.h"
#include "detector/register.h"
#include "interpreter/live/live_interpreter.h"
#include "kube/client/http_transport.h"
#include "kube/client/kubeconfig.h"
#include "kube/runtime/events.h"

namespace cmd {
namespace {

kube::ManagerOptions ManagerOptionsOf(const config::Options& o) {
  kube::ManagerOptions m;
  m.health_address = o.health_probe_bind_address;
  m.metrics_address = o.metrics_bind_address;
  m.leader_elect = o.leader_election.enabled;
  m.lease_namespace = o.leader_election.resource_namespace;
  m.lease_duration = o.leader_election.lease_duration;
  m.renew_deadline = o.leader_election.renew_deadline;
  m.retry_period = o.leader_election.retry_period;
  m.cache_sync_timeout = o.clusters.cache_sync_timeout;
  return m;
}

kube::RateLimiterOptions LimiterOf(const config::Options& o) {
  return {o.rate_limits.base_delay, o.rate_limits.max_delay, o.rate_limits.qps,
          o.rate_limits.bucket_size};
}

interpreter::live::LiveOptions InterpreterOptions(const config::Options& o) {
  interpreter::live::LiveOptions live;
  live.script_budget.time = o.scripts.timeout;
  live.script_budget.memory = static_cast<size_t>(o.scripts.memory_mib) << 20;
  live.requirements.priority_class = o.gates.Enabled(config::Gate::kResourceQuotaEstimate);
  return live;
}

kube::ClientOptions ControlPlaneClient(const config::Options& o, const std::string& server) {
  kube::ClientOptions c;
  c.name = "karmada-apiserver";
  c.host = server.substr(server.find("://") == std::string::npos ? 0 : server.find("://") + 3);
  c.qps = o.kube_api_qps;
  c.burst = o.kube_api_burst;
  c.user_agent = absl::StrCat("karmada-controller-manager/", config::Version());
  return c;
}

kube::ClusterSet::Options MemberOptions(const config::Options& o) {
  kube::ClusterSet::Options m;
  m.qps = o.cluster_api_qps;
  m.burst = o.cluster_api_burst;
  // Members are full of objects that are not Karmada's; only its own are kept.
  m.on_new = [](kube::MemberCluster& member) {
    kube::InformerOptions informer;
    informer.label_selector = absl::StrCat(api::kManagedLabel, "=", api::kManagedValue);
    member.client().informers().SetDefaultOptions(informer);
  };
  return m;
}

// Everything that lives as long as the daemon runs, in order of construction.
class Daemon {
 public:
  Daemon(const config::Options& options, std::shared_ptr<kube::Transport> transport,
         const std::string& server)
      : options_(options),
        client_(std::move(transport), ControlPlaneClient(options, server), base::RealClock(),
                &registry_),
        mapper_(client_, base::RealClock()),
        informers_(client_, base::RealClock()),
        cluster_(client_, mapper_, informers_),
        events_(kube::NewEventSink(client_, base::RealClock())),
        manager_(ManagerOptionsOf(options), cluster_, *events_, base::RealClock(), registry_),
        config_source_(cluster_),
        members_(MemberOptions(options), config_source_, base::RealClock(), &registry_),
        live_(manager_, InterpreterOptions(options)),
        interpreter_(live_.interpreter()),
        objects_({mapper_, members_, interpreter_, base::RealClock(), registry_}),
        status_writer_(manager_) {}

  absl::Status Run(const base::StopToken& stop) {
    RETURN_IF_ERROR(CheckServer(stop));
    RETURN_IF_ERROR(Wire());
    RETURN_IF_ERROR(live_.Load(stop));
    const absl::Status result = manager_.Run(stop);
    // Event handlers point into the loops, which go before the informers do.
    informers_.Stop();
    for (const std::string& name : members_.Names()) members_.Remove(name);
    return result;
  }

 private:
  absl::Status CheckServer(const base::StopToken& stop);
  absl::Status Wire();
  void WireClusters();
  void WireWorks();

  const config::Options& options_;
  metrics::Registry registry_;
  kube::Client client_;
  kube::RestMapper mapper_;
  kube::InformerSet informers_;
  kube::ClusterClient cluster_;
  std::unique_ptr<kube::EventSink> events_;
  kube::Manager manager_;
  ClusterConfigSource config_source_;
  kube::ClusterSet members_;
  interpreter::live::LiveInterpreter live_;
  const interpreter::Interpreter& interpreter_;
  works::MemberObjects objects_;
  works::WorkStatusWriter status_writer_;
  std::unique_ptr<detector::Detector> detector_;
};

absl::Status Daemon::CheckServer(const base::StopToken& stop) {
  const absl::StatusOr<kube::HttpResponse> version = client_.GetRaw("/version", stop);
  RETURN_IF_ERROR(base::Annotate(version.status(), "reaching the Karmada API server"));
  if (version->code != 200) {
    return absl::UnavailableError(absl::StrCat("the Karmada API server answered GET /version with ",
                                               version->code, ": ", version->body.substr(0, 300)));
  }
  registry_
      .GetGauge("karmada_build_info", "What this build is.",
                {{"git_version", config::Version()}, {"platform", "linux"}, {"compiler", "gcc"}})
      .Set(1);
  return absl::OkStatus();
}

absl::Status Daemon::Wire() {
  ASSIGN_OR_RETURN(detector::TemplateFilter filter,
                   detector::TemplateFilter::Create(options_.skipped_propagating_apis,
                                                    options_.skipped_propagating_namespaces));
  if (options_.ControllerEnabled("namespace")) {
    controllers::NamespaceSyncOptions ns;
    ns.is_skipped = [filter](absl::string_view name) { return filter.IsSkippedNamespace(name); };
    ns.workers = options_.concurrency.namespace_;
    ns.limiter = LimiterOf(options_);
    controllers::RegisterNamespaceSync(manager_, ns);
  }
  WireClusters();
  WireWorks();
  using config::Gate;
  const detector::DetectorGates gates{
      .components = options_.gates.Enabled(Gate::kMultiplePodTemplatesScheduling),
      .quota_estimate = options_.gates.Enabled(Gate::kResourceQuotaEstimate)};
  detector::DetectorOptions d{std::move(filter),
                              options_.concurrency.resource_template,
                              options_.concurrency.propagation_policy,
                              options_.concurrency.cluster_propagation_policy,
                              LimiterOf(options_),
                              gates,
                              options_.clusters.status_update_frequency};
  detector_ = std::make_unique<detector::Detector>(manager_, interpreter_, std::move(d));
  return absl::OkStatus();
}

void Daemon::WireClusters() {
  if (options_.ControllerEnabled("cluster")) {
    controllers::ClusterOptions c;
    c.workers = options_.concurrency.cluster;
    c.monitor_period = options_.clusters.monitor_period;
    c.monitor_grace_period = options_.clusters.monitor_grace_period;
    c.startup_grace_period = options_.clusters.startup_grace_period;
    c.limiter = LimiterOf(options_);
    controllers::RegisterCluster(manager_, c);
  }
  if (options_.ControllerEnabled("clusterStatus")) {
    controllers::ClusterStatusOptions c;
    c.workers = options_.concurrency.cluster;
    c.update_frequency = options_.clusters.status_update_frequency;
    c.success_threshold = options_.clusters.success_threshold;
    c.failure_threshold = options_.clusters.failure_threshold;
    c.collect_resources = options_.clusters.resource_modeling;
    c.resource_models = options_.gates.Enabled(config::Gate::kCustomizedClusterResourceModeling);
    c.limiter = LimiterOf(options_);
    controllers::RegisterClusterStatus({manager_, members_, objects_}, c);
  }
}

void Daemon::WireWorks() {
  const kube::RateLimiterOptions limiter = LimiterOf(options_);
  const config::Concurrency& n = options_.concurrency;
  if (options_.ControllerEnabled("binding")) {
    binding::RegisterBinding<api::scope::Namespaced>(manager_, interpreter_,
                                                     {n.resource_binding, limiter});
    binding::RegisterBinding<api::scope::Cluster>(manager_, interpreter_,
                                                  {n.cluster_resource_binding, limiter});
  }
  if (options_.ControllerEnabled("bindingStatus")) {
    controllers::RegisterBindingStatus<api::scope::Namespaced>(manager_, interpreter_,
                                                               {n.resource_binding, limiter});
    controllers::RegisterBindingStatus<api::scope::Cluster>(manager_, interpreter_,
                                                            {n.cluster_resource_binding, limiter});
  }
  if (options_.gates.Enabled(config::Gate::kPropagateDeps)) {
    controllers::RegisterDependencies(manager_, interpreter_, {n.resource_binding, limiter});
  }
  if (options_.ControllerEnabled("execution")) {
    controllers::RegisterExecution({manager_, objects_, status_writer_, interpreter_},
                                   {n.work, limiter});
  }
  if (options_.ControllerEnabled("workStatus")) {
    controllers::RegisterWorkStatus({manager_, objects_, status_writer_, interpreter_},
                                    {n.work, limiter});
  }
}

}  // namespace

absl::Status RunDaemon(const config::Options& options, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::ConnectionConfig connection,
                   kube::LoadConnectionConfig({options.kubeconfig, ""}));
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(connection));
  Daemon daemon(options, std::move(transport), connection.server);
  return daemon.Run(stop);
}

}  // namespace cmd
