// RunAgent waits for the control plane, without end (control_plane_reach.h), registers the cluster,
// and then constructs the parts, each of which may use those above it. Load builds the loops and
// waits for the interpreter's configurations; then the manager takes over. RunningAgent does the
// same, and returns meanwhile. At the end the parts go in the reverse order; informers and the
// member are stopped before that, because their handlers point into the loops.
//
// What an agent may do in the control plane is what `karmadactl register` allows it. It lists one
// Cluster and one namespace of Works. Secrets, bindings, Namespaces, and the kind of interpreter
// webhooks that upstream does not have, it may not list: their informers are local ones, which stay
// empty but for the execution namespace. It may update Works and the Cluster's status and not patch
// them.

#include "cmd/agent/agent.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "cmd/agent/certificate_expiry.h"
#include "cmd/agent/control_plane_reach.h"
#include "cmd/agent/loops.h"
#include "config/version.h"
#include "controllers/agent/certificate_rotation.h"
#include "controllers/agent/cluster_lease.h"
#include "controllers/agent/execution_namespace_watch.h"
#include "controllers/agent/identity_watch.h"
#include "controllers/agent/registration.h"
#include "controllers/process/control_plane_wait.h"
#include "controllers/process/listen_errors.h"
#include "controllers/process/loop_parts.h"
#include "kube/runtime/leader_fence.h"
#include "kube/runtime/serving_names.h"
#include "kube/runtime/startup_health.h"

namespace cmd {
namespace {

// How long one of many agents may take to end, so that it has ended before its process has to.
constexpr absl::Duration kStopOfOne = absl::Seconds(15);
// How soon a registration is tried again that could not be completed.
constexpr absl::Duration kBetweenRegistrations = absl::Seconds(2);

// The agent reaches its member by its own configuration, whatever its Cluster says.
class OwnMember : public kube::ClusterConfigSource {
 public:
  OwnMember(std::string cluster, ConfigPtr config)
      : cluster_(std::move(cluster)), config_(std::move(config)) {}

  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    if (cluster == cluster_) return *config_;
    return absl::NotFoundError(
        absl::StrCat("this is the agent of cluster ", cluster_, ", not of ", cluster));
  }

 private:
  const std::string cluster_;
  const ConfigPtr config_;
};

kube::ClientOptions MemberClient(const config::AgentOptions& options,
                                 const AgentConnections& connections) {
  return {.name = options.agent.cluster_name,
          .host = kube::HostOf(connections.member->server),
          .user_agent = config::UserAgent(api::kAgent)};
}

// A renewal may take longer than one of the leader's lease: over a link that needs seconds for an
// answer the cluster is still known to be alive.
kube::ClientOptions ClusterLeaseClient(const config::AgentOptions& options,
                                       const ControlPlaneAccess& access) {
  kube::ClientOptions c = controllers::LeaseClient(options.loops, api::kAgent, access.host());
  c.timeout = std::max(c.timeout, options.agent.lease_duration / 2);
  return c;
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
  // So that the interpreter does not ask the control plane again and again whether it serves them.
  informers.Get(api::ExploringWebhookConfigurations());
}

// An agent may update these, and not patch them.
void LimitWrites(kube::ClusterClient& cluster) {
  cluster.ReplaceInsteadOfPatching(api::Works(), "");
  cluster.ReplaceInsteadOfPatching(api::Clusters(), "status");
}

controllers::LoopPartsOptions PartsOf(const config::AgentOptions& options,
                                      const AgentConnections& connections,
                                      const AgentPlace& place) {
  const std::string& cluster = options.agent.cluster_name;
  const ControlPlaneAccess& access = *connections.control_plane;
  controllers::LoopPartsOptions parts;
  parts.program = api::kAgent;
  parts.fence =
      place.fence != nullptr ? place.fence : std::make_shared<kube::LeaderFence>(base::RealClock());
  parts.loops = parts.fence->Over(access.loops());
  parts.leases = access.leases();
  parts.host = access.host();
  parts.lease_name = absl::StrCat(api::kAgent, "-", cluster);
  parts.limit = [cluster](kube::InformerSet& informers, kube::ClusterClient& client) {
    LimitReads(cluster, informers);
    LimitWrites(client);
  };
  parts.members = [cluster, member = connections.member](kube::ClusterClient&) {
    return std::make_unique<OwnMember>(cluster, member);
  };
  // The loops' and what is not theirs share connections.
  parts.to_member = [shared = connections.to_member](const kube::ConnectionConfig&) {
    return shared;
  };
  parts.served = controllers::ServedClusters::OfAgent(cluster);
  parts.registry = place.registry;
  parts.shared = place.shared;
  parts.ends_process = place.ends_process;
  if (!place.ends_process) parts.graceful_stop = kStopOfOne;
  return parts;
}

// Everything of one cluster that lives as long as its agent runs, in order of construction.
class Agent {
 public:
  // `id` is the identity with which the cluster is registered. REQUIRES: `options` outlives it.
  Agent(const config::AgentOptions& options, std::string id, const AgentConnections& connections,
        const AgentPlace& place)
      : options_(options),
        id_(std::move(id)),
        ends_process_(place.ends_process),
        access_(connections.control_plane),
        member_(connections.member),
        parts_(options.loops, PartsOf(options, connections, place)),
        cluster_lease_client_(access_->leases(), ClusterLeaseClient(options, *access_),
                              base::RealClock(), nullptr),
        member_client_(connections.to_member, MemberClient(options, connections), base::RealClock(),
                       nullptr) {}
  ~Agent() { parts_.StopInformers(); }

  // Prepares Run, or Begin.
  absl::Status Load(const base::StopToken& stop);
  controllers::LoopParts& parts() { return parts_; }

 private:
  void AddRunnables();
  void AddKubeconfigWatch();
  void AddCertificateRotation();
  void AddCertificateExpiry();

  const config::AgentOptions& options_;
  const std::string id_;
  const bool ends_process_;
  const std::shared_ptr<ControlPlaneAccess> access_;
  const ConfigPtr member_;
  controllers::LoopParts parts_;
  kube::Client cluster_lease_client_;
  kube::Client member_client_;  // For what is not the loops'.
};

absl::Status Agent::Load(const base::StopToken& stop) {
  parts_.ShowBuild();
  RETURN_IF_ERROR(BuildAgentLoops(parts_.context()));
  LogAgentLoops(options_.loops);
  AddRunnables();
  return parts_.LoadInterpreter(stop);
}

void Agent::AddRunnables() {
  const config::Options& loops = options_.loops;
  const std::string& cluster = options_.agent.cluster_name;
  kube::Manager& manager = parts_.manager();
  parts_.AddRunnables();
  manager.Add(std::make_unique<controllers::IdentityWatch>(cluster, id_, manager),
              kube::Manager::Group::kAlways);
  manager.Add(std::make_unique<controllers::ExecutionNamespaceWatch>(cluster, manager));
  if (RunsOnAgent("clusterStatus", loops)) {
    manager.Add(std::make_unique<controllers::ClusterLease>(
        controllers::ClusterLeaseOptions{cluster, options_.agent.lease_duration,
                                         options_.agent.lease_renew_fraction, config::Version()},
        manager, cluster_lease_client_));
  }
  if (RunsOnAgent("certRotation", loops)) AddCertificateRotation();
  AddKubeconfigWatch();
  AddCertificateExpiry();
}

// One of many agents begins again where its cluster has to be registered again. A process of its
// own does not end for that: whoever registers a cluster again starts it.
void Agent::AddKubeconfigWatch() {
  std::optional<KubeconfigWatch::Registration> registration;
  if (!ends_process_) {
    const std::string& name = options_.agent.cluster_name;
    registration = {name, [clusters = parts_.informers().Get(api::Clusters()), name] {
                      return clusters->HasSynced() && clusters->store().Find({"", name}) == nullptr;
                    }};
  }
  parts_.manager().Add(std::make_unique<KubeconfigWatch>(access_, std::move(registration)),
                       kube::Manager::Group::kAlways);
}

// Only the leader renews; the others read the new certificate from their kubeconfig.
void Agent::AddCertificateRotation() {
  const config::AgentFlagValues& flags = options_.agent;
  const auto try_out = [this](const tls::KeyPair& renewed) {
    return access_->TryCertificate(renewed, options_.agent.cluster_name,
                                   parts_.manager().abort_token());
  };
  const auto use = [this](const std::string& old, const tls::KeyPair& renewed) {
    access_->UseCertificate(old, renewed);
  };
  parts_.manager().Add(std::make_unique<controllers::CertificateRotation>(
      controllers::CertificateRotationOptions{flags.karmada_kubeconfig_namespace,
                                              flags.rotation_interval, flags.rotation_threshold},
      controllers::CertificateRotation::Deps{parts_.client(), member_client_, base::RealClock(),
                                             try_out, use}));
}

// Each process shows its own ones, also one that waits for the leadership.
void Agent::AddCertificateExpiry() {
  std::vector<CertificateExpiry::Source> sources = {
      {"control-plane", [access = access_] { return access->InUse(); }},
      {"control-plane-kubeconfig", [access = access_] { return access->InKubeconfig(); }},
      {"cluster-kubeconfig", [member = member_] { return member; }}};
  parts_.manager().Add(
      std::make_unique<CertificateExpiry>(options_.agent.cluster_name, std::move(sources),
                                          parts_.registry(), base::RealClock()),
      kube::Manager::Group::kAlways);
}

controllers::OwnCluster OwnClusterOf(const config::AgentOptions& options,
                                     const AgentConnections& connections) {
  const config::AgentFlagValues& a = options.agent;
  const kube::ConnectionConfig& member = *connections.member;
  controllers::OwnCluster own;
  own.name = a.cluster_name;
  own.secret_namespace = a.cluster_namespace;
  own.reports_credentials = a.Reports("KubeCredentials");
  own.reports_impersonator = a.Reports("KubeImpersonator");
  own.api_endpoint = a.api_endpoint;
  // The agent's own proxy to the member counts, as with upstream.
  own.proxy_url = member.proxy_url.empty() ? a.proxy_server_address : member.proxy_url;
  own.insecure_skip_tls_verify = member.insecure_skip_tls_verify;
  own.has_address_of_control_plane = connections.control_plane->IsServerOf(member);
  own.provider = a.provider;
  own.region = a.region;
  own.zones = a.zones;
  return own;
}

bool MayPass(const absl::Status& error) {
  return absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error) || absl::IsAborted(error);
}

// Hold the addresses until the manager serves there, so that one that is in use is found before
// anything is written.
struct StartServers {
  std::unique_ptr<base::HttpServer> health, metrics;
};

absl::StatusOr<StartServers> ServeStart(const config::Options& options) {
  const kube::StartupWait wait{"registration", "the cluster is not registered yet"};
  StartServers servers;
  auto health = kube::ServeStartupHealth(options.health_probe_bind_address, wait);
  RETURN_IF_ERROR(
      controllers::WithListenFlag(base::Annotate(health.status(), kube::kServingHealth), options));
  servers.health = *std::move(health);
  auto metrics = kube::ServeStartupHealth(options.metrics_bind_address, wait);
  RETURN_IF_ERROR(controllers::WithListenFlag(
      base::Annotate(metrics.status(), kube::kServingMetrics), options));
  servers.metrics = *std::move(metrics);
  return servers;
}

// Returns the identity of the cluster. Tries again what may pass, such as a server that is
// starting, as long as a start may wait.
absl::StatusOr<std::string> Register(const config::AgentOptions& options,
                                     const AgentConnections& connections,
                                     kube::Client& control_plane, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const StartServers servers, ServeStart(options.loops));
  kube::Client member(connections.to_member, MemberClient(options, connections), base::RealClock(),
                      nullptr);
  const controllers::OwnCluster own = OwnClusterOf(options, connections);
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime deadline = clock.SteadyNow() + options.loops.clusters.cache_sync_timeout;
  for (;;) {
    absl::StatusOr<std::string> id =
        controllers::RegisterOwnCluster(own, {control_plane, member}, stop);
    if (id.ok()) return id;
    if (!MayPass(id.status()) || clock.SteadyNow() >= deadline) return id;
    base::LogWarning("the cluster could not be registered, trying again",
                     {{"cluster", own.name}, {"error", id.status()}});
    if (!clock.SleepFor(kBetweenRegistrations, stop)) return absl::CancelledError("stopped");
  }
}

// Names the control plane in messages; among many agents also whose it is.
controllers::ControlPlaneServer ServerOf(const config::AgentOptions& options,
                                         const ControlPlaneAccess& access,
                                         const AgentPlace& place) {
  if (place.ends_process) return {access.host(), "--karmada-kubeconfig"};
  return {access.host(), "its karmada-kubeconfig", options.agent.cluster_name};
}

// Returns the identity of the cluster. Uses a client of its own, before anything is built that
// would repeat its requests.
absl::StatusOr<std::string> Prepare(config::AgentOptions& options,
                                    const AgentConnections& connections, const AgentPlace& place,
                                    const base::StopToken& stop) {
  ControlPlaneAccess& access = *connections.control_plane;
  kube::Client client(place.fence != nullptr ? place.fence->Over(access.loops()) : access.loops(),
                      controllers::ControlPlaneClient(options.loops, api::kAgent, access.host()),
                      base::RealClock(), nullptr);
  // One of many agents ends instead, and makes room for others to start.
  if (place.ends_process) {
    RETURN_IF_ERROR(controllers::WithListenFlag(
        AwaitReach(client, access, options.loops.health_probe_bind_address, stop), options.loops));
  }
  ASSIGN_OR_RETURN(const config::Release release,
                   controllers::AwaitControlPlane(client, options.loops,
                                                  ServerOf(options, access, place), stop));
  options.loops.Emulate(release);
  return Register(options, connections, client, stop);
}

}  // namespace

absl::Status RunAgent(config::AgentOptions options, const AgentConnections& connections,
                      const AgentPlace& place, const base::StopToken& stop) {
  const absl::StatusOr<std::string> id = Prepare(options, connections, place, stop);
  if (!id.ok()) {
    if (place.ends_process) base::EndProcessAfter(controllers::kStopLimit, 1);
    return id.status();
  }
  return controllers::RunToTheEnd<Agent>(
      std::make_unique<Agent>(options, *id, connections, place),
      [&](Agent& agent) {
        const absl::Status loaded = agent.Load(stop);
        return loaded.ok() ? agent.parts().Run(stop) : loaded;
      },
      place.ends_process);
}

struct RunningAgent::Impl {
  Impl(config::AgentOptions given, std::string id, const AgentConnections& connections,
       const AgentPlace& place)
      : options(std::move(given)), agent(options, std::move(id), connections, place) {}

  const config::AgentOptions options;
  Agent agent;
};

RunningAgent::RunningAgent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunningAgent::~RunningAgent() = default;

absl::StatusOr<std::unique_ptr<RunningAgent>> RunningAgent::Start(config::AgentOptions options,
                                                                  AgentConnections connections,
                                                                  const AgentPlace& place,
                                                                  Calls calls) {
  ASSIGN_OR_RETURN(std::string id, Prepare(options, connections, place, calls.stop));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(id), connections, place);
  RETURN_IF_ERROR(impl->agent.Load(calls.stop));
  RETURN_IF_ERROR(impl->agent.parts().Begin(std::move(calls.on_failure)));
  return std::unique_ptr<RunningAgent>(new RunningAgent(std::move(impl)));
}

std::string RunningAgent::Metrics() { return impl_->agent.parts().manager().Metrics(); }

absl::Status RunningAgent::End(std::unique_ptr<RunningAgent> agent) {
  absl::Status ended = agent->impl_->agent.parts().End();
  if (absl::IsDeadlineExceeded(ended)) static_cast<void>(agent.release());
  return ended;
}

}  // namespace cmd
