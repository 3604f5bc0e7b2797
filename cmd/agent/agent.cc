// RunAgent waits for the control plane, registers the cluster, and then constructs the parts, each
// of which may use those above it. Run builds the loops, waits for the interpreter's
// configurations, and hands over to the manager. At the end the parts go in the reverse order;
// informers and the member are stopped before that, because their handlers point into the loops.
//
// What an agent may do in the control plane is what `karmadactl register` allows it. It lists one
// Cluster and one namespace of Works. Secrets, bindings, Namespaces, and the kind of interpreter
// webhooks that upstream does not have, it may not list: their informers are local ones, which stay
// empty but for the execution namespace. It may update Works and the Cluster's status and not patch
// them.

#include "cmd/agent/agent.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/profiling/profile_server.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "cmd/agent/loops.h"
#include "config/served/served_release.h"
#include "config/version.h"
#include "controllers/agent/certificate_rotation.h"
#include "controllers/agent/cluster_lease.h"
#include "controllers/agent/execution_namespace_watch.h"
#include "controllers/agent/registration.h"
#include "controllers/context/context.h"
#include "controllers/context/interpreter_options.h"
#include "controllers/process/control_plane_wait.h"
#include "controllers/process/listen_errors.h"
#include "controllers/process/member_memory.h"
#include "controllers/process/release_watch.h"
#include "controllers/process/resync.h"
#include "interpreter/live/live_interpreter.h"
#include "kube/runtime/events.h"
#include "kube/runtime/memory_watch.h"
#include "kube/runtime/startup_health.h"
#include "kube/runtime/watched_kinds.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace cmd {
namespace {

constexpr int64_t kMemberBytesWithoutLimit = int64_t{1} << 30;
// How soon a registration is tried again that could not be completed.
constexpr absl::Duration kBetweenRegistrations = absl::Seconds(2);

// The agent reaches its member by its own configuration, whatever its Cluster says.
class OwnMember : public kube::ClusterConfigSource {
 public:
  OwnMember(std::string cluster, kube::ConnectionConfig config)
      : cluster_(std::move(cluster)), config_(std::move(config)) {}

  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    if (cluster == cluster_) return config_;
    return absl::NotFoundError(
        absl::StrCat("this is the agent of cluster ", cluster_, ", not of ", cluster));
  }

 private:
  const std::string cluster_;
  const kube::ConnectionConfig config_;
};

std::string LeaseNameOf(const std::string& cluster) {
  return absl::StrCat(api::kAgent, "-", cluster);
}

kube::ManagerOptions ManagerOptionsOf(const config::AgentOptions& options) {
  const config::Options& o = options.loops;
  kube::ManagerOptions m;
  m.health_address = o.health_probe_bind_address;
  m.metrics_address = o.metrics_bind_address;
  m.leader_elect = o.leader_election.enabled;
  m.lease_namespace = o.leader_election.resource_namespace;
  m.lease_name = LeaseNameOf(options.agent.cluster_name);
  m.lease_duration = o.leader_election.lease_duration;
  m.renew_deadline = o.leader_election.renew_deadline;
  m.retry_period = o.leader_election.retry_period;
  m.release_lease = o.leader_election.release_on_exit;
  m.cache_sync_timeout = o.clusters.cache_sync_timeout;
  return m;
}

kube::ClientOptions ControlPlaneClient(const config::Options& o, const std::string& host) {
  kube::ClientOptions c;
  c.name = api::kControlPlaneName;
  c.host = host;
  c.qps = o.kube_api_qps;
  c.burst = o.kube_api_burst;
  c.user_agent = config::UserAgent(api::kAgent);
  return c;
}

// The client that serves only Leases. A call that is not answered ends early enough to be repeated
// before the deadline of the renewal.
kube::ClientOptions LeaseClient(const config::Options& o, const std::string& host) {
  kube::ClientOptions c = ControlPlaneClient(o, host);
  c.qps = 0;
  c.timeout = o.leader_election.renew_deadline / 2;
  return c;
}

kube::ClientOptions MemberClient(const config::AgentOptions& options,
                                 const AgentConnections& connections) {
  return {.name = options.agent.cluster_name,
          .host = kube::HostOf(connections.member.server),
          .user_agent = config::UserAgent(api::kAgent)};
}

kube::ClusterSet::Options MemberOptions(const config::Options& o,
                                        std::shared_ptr<kube::InformerThreads> threads,
                                        int64_t bytes,
                                        std::function<void(const std::string&)> on_full) {
  kube::ClusterSet::Options m;
  m.informer_threads = std::move(threads);
  m.member_bytes = bytes;
  m.unfiltered_share = 0.75;
  m.on_bytes_exceeded = std::move(on_full);
  m.qps = o.cluster_api_qps;
  m.burst = o.cluster_api_burst;
  m.user_agent = config::UserAgent(api::kAgent);
  // Members are full of objects that are not Karmada's; only Karmada's own are cached.
  m.on_new = [](kube::MemberCluster& member) {
    kube::InformerOptions informer;
    informer.label_selector = absl::StrCat(api::kManagedLabel, "=", api::kManagedValue);
    member.client().informers().SetDefaultOptions(informer);
  };
  return m;
}

// Sets what the informers of the control plane ask for: see the head of this file.
void LimitReads(const std::string& cluster, kube::InformerSet& informers) {
  informers.SetDefaultOptions(api::Clusters(), {.name = cluster});
  informers.SetDefaultOptions(api::Works(), {.namespaces = {api::ExecutionNamespace(cluster)}});
  for (const kube::Resource* local :
       {&api::Namespaces(), &api::Secrets(), &api::ResourceBindings(),
        &api::ClusterResourceBindings(), &api::ExploringWebhookConfigurations()}) {
    informers.SetDefaultOptions(*local, {.local = true});
  }
}

// Everything of one cluster that lives as long as its agent runs, in order of construction.
class Agent {
 public:
  Agent(const config::AgentOptions& options, const AgentConnections& connections)
      : options_(options),
        access_(connections.control_plane),
        client_(access_->loops(), ControlPlaneClient(options.loops, access_->host()),
                base::RealClock(), &registry_),
        lease_client_(access_->leases(), LeaseClient(options.loops, access_->host()),
                      base::RealClock(), &registry_),
        mapper_(client_, base::RealClock()),
        informer_threads_(std::make_shared<kube::InformerThreads>(base::RealClock())),
        informers_(client_, base::RealClock(), informer_threads_),
        cluster_(client_, mapper_, informers_),
        limits_((LimitReads(options.agent.cluster_name, informers_), LimitWrites(cluster_))),
        events_(kube::NewEventSink(
            client_, base::RealClock(),
            {.routine = options.loops.success_events == config::SuccessEvents::kUpstream})),
        kinds_(cluster_, base::RealClock()),
        manager_(ManagerOptionsOf(options), cluster_, *events_, base::RealClock(), registry_),
        member_(options.agent.cluster_name, connections.member),
        member_client_(connections.to_member, MemberClient(options, connections), base::RealClock(),
                       nullptr),
        member_bytes_(kube::MemberBytes(options.loops.clusters.memory_mib, base::ReadMemoryUse(),
                                        kMemberBytesWithoutLimit)),
        members_(MemberOptions(options.loops, informer_threads_, member_bytes_,
                               [this](const std::string& cluster) { ReportFull(cluster); }),
                 member_, base::RealClock(), &registry_),
        live_(manager_, controllers::InterpreterOptions(options.loops)),
        inventory_(members_),
        objects_({mapper_, members_, live_.interpreter(), base::RealClock(), registry_,
                  options.loops.server_side_apply, controllers::RepairsOf(options.loops.release)}),
        status_writer_(manager_, controllers::RateLimiterOf(options.loops.rate_limits),
                       options.loops.concurrency.work),
        context_{manager_,
                 members_,
                 objects_,
                 inventory_,
                 status_writer_,
                 rechecks_,
                 live_.interpreter(),
                 kinds_,
                 options_.loops,
                 nullptr,
                 controllers::ServedClusters::OfAgent(options.agent.cluster_name)} {}
  // Handlers of informers refer to the loops and to what they share, which are destroyed before the
  // informers, so the informers are stopped first.
  ~Agent() {
    informers_.Stop();
    for (const std::string& name : members_.Names()) members_.Remove(name);
  }

  absl::Status Run(const base::StopToken& stop);

 private:
  // Returns a value, so that it can stand in the list of members.
  static bool LimitWrites(kube::ClusterClient& cluster) {
    cluster.ReplaceInsteadOfPatching(api::Works(), "");
    cluster.ReplaceInsteadOfPatching(api::Clusters(), "status");
    return true;
  }
  void AddRunnables();
  void AddCertificateRotation();
  void ReportFull(const std::string& cluster) {
    controllers::ReportMemberBytes(cluster, member_bytes_, cluster_, *events_);
    controllers::CountMemberBytes(cluster, registry_);
  }
  absl::Status LoadInterpreter(const base::StopToken& stop);

  const config::AgentOptions options_;
  const std::shared_ptr<ControlPlaneAccess> access_;
  metrics::Registry registry_;
  kube::Client client_;
  kube::Client lease_client_;
  kube::RestMapper mapper_;
  const std::shared_ptr<kube::InformerThreads> informer_threads_;
  kube::InformerSet informers_;
  kube::ClusterClient cluster_;
  const bool limits_;  // Set before anybody reads or writes.
  std::unique_ptr<kube::EventSink> events_;
  kube::WatchedKinds kinds_;
  kube::Manager manager_;
  OwnMember member_;
  kube::Client member_client_;  // For what is not the loops'.
  const int64_t member_bytes_;
  kube::ClusterSet members_;
  interpreter::live::LiveInterpreter live_;
  controllers::MemberInventory inventory_;
  works::MemberObjects objects_;
  works::WorkStatusWriter status_writer_;
  works::Rechecks rechecks_;
  const controllers::Context context_;
};

absl::Status Agent::Run(const base::StopToken& stop) {
  const config::Options& loops = options_.loops;
  manager_.UseForElection(lease_client_);
  registry_.GetGauge("karmada_build_info", "What this build is.", config::BuildLabels()).Set(1);
  config::ShowRelease(loops.release, registry_);
  config::LogRelease(loops.release, loops.wanted_release.has_value());
  RETURN_IF_ERROR(BuildAgentLoops(context_));
  LogAgentLoops(loops);
  AddRunnables();
  RETURN_IF_ERROR(LoadInterpreter(stop));
  std::unique_ptr<profiling::ProfileServer> profiles;
  if (loops.profiling.enabled) {
    auto started = profiling::ProfileServer::Start(loops.profiling.bind_address, base::RealClock());
    RETURN_IF_ERROR(controllers::WithProfilingFlag(started.status(), loops));
    profiles = *std::move(started);
  }
  const absl::Status result = controllers::WithListenFlag(manager_.Run(stop), loops);
  // The limit applies also when the agent ended by itself, for example because it lost its lease.
  base::EndProcessAfter(kAgentStopLimit, 1);
  return result;
}

void Agent::AddRunnables() {
  const config::Options& loops = options_.loops;
  const std::string& cluster = options_.agent.cluster_name;
  manager_.Add(std::make_unique<controllers::ExecutionNamespaceWatch>(cluster, manager_));
  if (RunsOnAgent("clusterStatus", loops)) {
    manager_.Add(std::make_unique<controllers::ClusterLease>(
        controllers::ClusterLeaseOptions{cluster, options_.agent.lease_duration,
                                         options_.agent.lease_renew_fraction},
        manager_, lease_client_));
  }
  if (RunsOnAgent("certRotation", loops)) AddCertificateRotation();
  manager_.Add(std::make_unique<KubeconfigWatch>(access_), kube::Manager::Group::kAlways);
  manager_.Add(std::make_unique<kube::MemoryWatch>(manager_.clock(), registry_,
                                                   kube::MemoryWatch::Options()),
               kube::Manager::Group::kAlways);
  if (!loops.wanted_release.has_value()) {
    manager_.Add(std::make_unique<controllers::ReleaseWatch>(
                     loops.release, client_, [this] { manager_.GiveLeaseBackAtEnd(); }),
                 kube::Manager::Group::kAlways);
  }
  if (loops.resync_period > absl::ZeroDuration()) {
    manager_.Add(std::make_unique<controllers::Resync>(loops.resync_period, base::RealClock(),
                                                       informers_, members_));
  }
}

// Only the leader renews; the others read the new certificate from their kubeconfig.
void Agent::AddCertificateRotation() {
  const config::AgentFlagValues& flags = options_.agent;
  const auto try_out = [this](const tls::KeyPair& renewed) {
    return access_->TryCertificate(renewed, options_.agent.cluster_name, manager_.abort_token());
  };
  const auto use = [this](const std::string& old, const tls::KeyPair& renewed) {
    access_->UseCertificate(old, renewed);
  };
  manager_.Add(std::make_unique<controllers::CertificateRotation>(
      controllers::CertificateRotationOptions{flags.karmada_kubeconfig_namespace,
                                              flags.rotation_interval, flags.rotation_threshold},
      controllers::CertificateRotation::Deps{client_, member_client_, base::RealClock(), try_out,
                                             use}));
}

// The wait takes up to --cluster-cache-sync-timeout, which is longer than a liveness probe allows.
absl::Status Agent::LoadInterpreter(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<base::HttpServer> health,
                   kube::ServeStartupHealth(
                       options_.loops.health_probe_bind_address,
                       {"interpreter", "the interpreter's configurations have not been read yet"}));
  return live_.Load(stop);
}

controllers::OwnCluster OwnClusterOf(const config::AgentOptions& options,
                                     const kube::ConnectionConfig& member) {
  const config::AgentFlagValues& a = options.agent;
  controllers::OwnCluster own;
  own.name = a.cluster_name;
  own.secret_namespace = a.cluster_namespace;
  own.reports_credentials = a.Reports("KubeCredentials");
  own.reports_impersonator = a.Reports("KubeImpersonator");
  own.api_endpoint = a.api_endpoint;
  // The agent's own proxy to the member counts, as with upstream.
  own.proxy_url = member.proxy_url.empty() ? a.proxy_server_address : member.proxy_url;
  own.insecure_skip_tls_verify = member.insecure_skip_tls_verify;
  own.provider = a.provider;
  own.region = a.region;
  own.zones = a.zones;
  return own;
}

bool MayPass(const absl::Status& error) {
  return absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error) || absl::IsAborted(error);
}

// Tries again what may pass, such as a server that is starting, as long as a start may wait.
absl::Status Register(const config::AgentOptions& options, const AgentConnections& connections,
                      kube::Client& control_plane, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<base::HttpServer> health,
                   kube::ServeStartupHealth(options.loops.health_probe_bind_address,
                                            {"registration", "the cluster is not registered yet"}));
  kube::Client member(connections.to_member, MemberClient(options, connections), base::RealClock(),
                      nullptr);
  const controllers::OwnCluster own = OwnClusterOf(options, connections.member);
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime deadline = clock.SteadyNow() + options.loops.clusters.cache_sync_timeout;
  for (;;) {
    const absl::Status registered =
        controllers::RegisterOwnCluster(own, {control_plane, member}, stop);
    if (registered.ok() || !MayPass(registered) || clock.SteadyNow() >= deadline) {
      // The beginning is upstream's.
      return base::Annotate(registered, "failed to register with karmada control plane");
    }
    base::LogWarning("the cluster could not be registered, trying again", {{"error", registered}});
    if (!clock.SleepFor(kBetweenRegistrations, stop)) return absl::CancelledError("stopped");
  }
}

// Uses a client of its own, before anything is built that would repeat its requests.
absl::Status Prepare(config::AgentOptions& options, const AgentConnections& connections,
                     const base::StopToken& stop) {
  const ControlPlaneAccess& access = *connections.control_plane;
  kube::Client client(access.loops(), ControlPlaneClient(options.loops, access.host()),
                      base::RealClock(), nullptr);
  ASSIGN_OR_RETURN(const config::Release release,
                   controllers::AwaitControlPlane(client, options.loops,
                                                  {access.host(), "--karmada-kubeconfig"}, stop));
  options.loops.Emulate(release);
  return Register(options, connections, client, stop);
}

}  // namespace

absl::Status RunAgent(config::AgentOptions options, const AgentConnections& connections,
                      const base::StopToken& stop) {
  if (const absl::Status ready = Prepare(options, connections, stop); !ready.ok()) {
    base::EndProcessAfter(kAgentStopLimit, 1);
    return ready;
  }
  auto agent = std::make_unique<Agent>(options, connections);
  const absl::Status result = agent->Run(stop);
  base::EndProcessAfter(kAgentStopLimit, 1);  // Also if it could not begin.
  // Threads that outlived the graceful period still use the agent, and waiting for them would
  // exceed the period further: the process ends without destroying it.
  if (absl::IsDeadlineExceeded(result)) static_cast<void>(agent.release());
  return result;
}

}  // namespace cmd
