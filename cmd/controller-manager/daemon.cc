// RunDaemon first checks the server with a client of its own, so that nothing asks again and again
// while Karmada's APIs are missing, and finds out of which release they are. It then constructs the
// parts, each of which may use those above it. Run builds the controllers, waits for the
// interpreter's configurations, and hands over to the manager, which starts the loops. At the end
// the parts go in the reverse order; informers and members are stopped before that, because their
// handlers point into the controllers.
//
// EndProcessAfter limits the time of this clean-up. After kDeadlineExceeded threads are still
// running that use the parts, so these are not destroyed, and the process ends with them.

#include "cmd/controller-manager/daemon.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/members/connection.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/profiling/profile_server.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "cmd/controller-manager/cluster_log.h"
#include "cmd/controller-manager/controller_table.h"
#include "cmd/controller-manager/settings_page.h"
#include "cmd/controller-manager/shadow_side.h"
#include "cmd/controller-manager/shown_failures.h"
#include "config/release.h"
#include "config/served/served_release.h"
#include "config/version.h"
#include "controllers/binding_states/register.h"
#include "controllers/context/context.h"
#include "controllers/context/interpreter_options.h"
#include "controllers/process/control_plane_wait.h"
#include "controllers/process/listen_errors.h"
#include "controllers/process/member_memory.h"
#include "controllers/process/release_watch.h"
#include "controllers/process/resync.h"
#include "interpreter/live/admission_server.h"
#include "interpreter/live/live_interpreter.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/events.h"
#include "kube/runtime/memory_watch.h"
#include "kube/runtime/serving_names.h"
#include "kube/runtime/startup_health.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/shadow/shadow.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace cmd {
namespace {

constexpr int64_t kMemberBytesWithoutLimit = int64_t{1} << 30;

// Finds out how to reach a member: from its Cluster object and the Secret that it names.
class ClusterConfigSource : public kube::ClusterConfigSource {
 public:
  // REQUIRES: `control_plane` outlives the source.
  explicit ClusterConfigSource(kube::ClusterClient& control_plane) : client_(control_plane) {}

  // Errors name the cluster and the field or secret at fault, never a secret's value.
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    const kube::ObjectPtr object = client_.Find(api::Clusters(), {"", cluster});
    if (object == nullptr) {
      return absl::NotFoundError(absl::StrCat("cluster ", cluster, " not found"));
    }
    return members::ConnectionOf(*object, [this](const kube::ObjectKey& secret) {
      return client_.Find(api::Secrets(), secret);
    });
  }

 private:
  kube::ClusterClient& client_;
};

kube::ManagerOptions ManagerOptionsOf(const config::Options& o) {
  kube::ManagerOptions m;
  m.health_address = o.health_probe_bind_address;
  m.metrics_address = o.metrics_bind_address;
  // A shadow runs beside the leader, and must not report itself as one.
  m.leader_elect = o.leader_election.enabled && !o.shadow;
  m.lease_namespace = o.leader_election.resource_namespace;
  if (!o.shadow) m.lease_name = api::kControllerManager;
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
  c.user_agent = config::UserAgent(api::kControllerManager);
  return c;
}

// Returns the options of the client that serves only the lease. A call that is not answered ends
// early enough to be repeated before the deadline of the renewal.
kube::ClientOptions ElectionClient(const config::Options& o, const std::string& host) {
  kube::ClientOptions c = ControlPlaneClient(o, host);
  c.qps = 0;
  c.timeout = o.leader_election.renew_deadline / 2;
  return c;
}

kube::ClusterSet::Options MemberOptions(const config::Options& o,
                                        std::shared_ptr<kube::InformerThreads> threads,
                                        const Connection& connection, int64_t bytes,
                                        std::function<void(const std::string&)> on_full) {
  kube::ClusterSet::Options m;
  m.decorate = [shadow = connection.shadow, fence = connection.fence](
                   const std::string& cluster, std::shared_ptr<kube::Transport> transport) {
    return shadow == nullptr ? fence->Over(std::move(transport))
                             : shadow->Over(cluster, std::move(transport));
  };
  m.informer_threads = std::move(threads);
  m.member_bytes = bytes;
  m.unfiltered_share = 0.75;
  m.on_bytes_exceeded = std::move(on_full);
  m.qps = o.cluster_api_qps;
  m.burst = o.cluster_api_burst;
  m.user_agent = config::UserAgent(api::kControllerManager);
  // Members are full of objects that are not Karmada's; only Karmada's own are cached.
  m.on_new = [](kube::MemberCluster& member) {
    kube::InformerOptions informer;
    informer.label_selector = absl::StrCat(api::kManagedLabel, "=", api::kManagedValue);
    member.client().informers().SetDefaultOptions(informer);
  };
  return m;
}

// A shadow reports in its own way: events would be writes.
std::unique_ptr<kube::EventSink> EventSinkOf(const config::Options& options, kube::Client& client) {
  if (options.shadow) return kube::NewNullEventSink();
  return kube::NewEventSink(
      client, base::RealClock(),
      {.routine = options.success_events == config::SuccessEvents::kUpstream});
}

// All objects that live as long as the daemon runs, in order of construction.
class Daemon {
 public:
  Daemon(const config::Options& options, const Connection& connection, const ShadowEnd& shadow)
      : shadow_end_(shadow),
        fence_(connection.fence),
        client_(connection.loops, ControlPlaneClient(options, connection.host), base::RealClock(),
                &registry_),
        election_client_(connection.election, ElectionClient(options, connection.host),
                         base::RealClock(), &registry_),
        mapper_(client_, base::RealClock()),
        informer_threads_(std::make_shared<kube::InformerThreads>(base::RealClock())),
        informers_(client_, base::RealClock(), informer_threads_),
        cluster_(client_, mapper_, informers_),
        events_(EventSinkOf(options, client_)),
        kinds_(cluster_, base::RealClock()),
        manager_(ManagerOptionsOf(options), cluster_, *events_, base::RealClock(), registry_),
        config_source_(cluster_),
        member_bytes_(kube::MemberBytes(options.clusters.memory_mib, base::ReadMemoryUse(),
                                        kMemberBytesWithoutLimit)),
        members_(MemberOptions(options, informer_threads_, connection, member_bytes_,
                               [this](const std::string& cluster) { ReportFull(cluster); }),
                 config_source_, base::RealClock(), &registry_),
        live_(manager_, controllers::InterpreterOptions(options)),
        inventory_(members_),
        objects_({mapper_, members_, live_.interpreter(), base::RealClock(), registry_,
                  options.server_side_apply, controllers::RepairsOf(options.release)}),
        status_writer_(manager_, controllers::RateLimiterOf(options.rate_limits),
                       options.concurrency.work),
        context_{manager_,
                 members_,
                 objects_,
                 inventory_,
                 status_writer_,
                 rechecks_,
                 live_.interpreter(),
                 kinds_,
                 options,
                 connection.shadow} {
    manager_.Add(kinds_.NewRunnable());
  }
  // Handlers of informers refer to the controllers and to what they share, which are destroyed
  // before the informers, so the informers are stopped first.
  ~Daemon() {
    informers_.Stop();
    for (const std::string& name : members_.Names()) members_.Remove(name);
  }

  absl::Status Run(const config::AdmissionFlags& admission, const base::StopToken& stop) {
    manager_.UseForElection(election_client_);
    if (fence_ != nullptr) manager_.UseFence(*fence_);
    ShowBuild();
    WatchRelease();
    RETURN_IF_ERROR(BuildControllers(context_));
    controllers::CountBindingStates(context_);
    LogControllers(context_.options);
    manager_.ServeBesideMetrics("/configz", [this] { return SettingsPage(context_.options); });
    manager_.Add(std::make_unique<kube::MemoryWatch>(manager_.clock(), manager_.registry(),
                                                     kube::MemoryWatch::Options()),
                 kube::Manager::Group::kAlways);
    manager_.Add(std::make_unique<ClusterLog>(manager_));
    if (context_.shadow != nullptr) {
      shadow_.emplace(ShadowSide::Deps{context_.shadow, client_, manager_, informers_, members_,
                                       kinds_, shadow_end_,
                                       context_.options.leader_election.resource_namespace});
      shadow_->AddTo(manager_);
      context_.shadow->ShowIn(registry_);
    }
    if (const absl::Duration period = context_.options.resync_period;
        period > absl::ZeroDuration()) {
      manager_.Add(
          std::make_unique<controllers::Resync>(period, base::RealClock(), informers_, members_));
    }
    RETURN_IF_ERROR(LoadInterpreter(stop));
    std::unique_ptr<profiling::ProfileServer> profiles;
    if (const config::Profiling& wanted = context_.options.profiling; wanted.enabled) {
      auto started = profiling::ProfileServer::Start(wanted.bind_address, base::RealClock());
      RETURN_IF_ERROR(controllers::WithProfilingFlag(started.status(), context_.options));
      profiles = *std::move(started);
    }
    std::unique_ptr<interpreter::live::AdmissionServer> reviews;  // Ends before what it asks.
    if (admission.IsOn()) {
      ASSIGN_OR_RETURN(reviews, ServeAdmission(admission));
    }
    const absl::Status result = controllers::WithListenFlag(manager_.Run(stop), context_.options);
    // The limit applies also when the daemon ended by itself, for example because it lost its
    // lease, and while reviews that are under way end.
    base::EndProcessAfter(kStopLimit, 1);
    return result;
  }

 private:
  void ShowBuild();
  void WatchRelease();
  void ReportFull(const std::string& cluster) {
    controllers::ReportMemberBytes(cluster, member_bytes_, cluster_, *events_);
    controllers::CountMemberBytes(cluster, registry_);
  }
  absl::Status LoadInterpreter(const base::StopToken& stop);
  absl::StatusOr<std::unique_ptr<interpreter::live::AdmissionServer>> ServeAdmission(
      const config::AdmissionFlags& admission);

  const ShadowEnd shadow_end_;
  const std::shared_ptr<kube::LeaderFence> fence_;
  metrics::Registry registry_;
  kube::Client client_;
  kube::Client election_client_;
  kube::RestMapper mapper_;
  const std::shared_ptr<kube::InformerThreads> informer_threads_;
  kube::InformerSet informers_;
  kube::ClusterClient cluster_;
  std::unique_ptr<kube::EventSink> events_;
  kube::WatchedKinds kinds_;
  kube::Manager manager_;
  ClusterConfigSource config_source_;
  const int64_t member_bytes_;
  kube::ClusterSet members_;
  interpreter::live::LiveInterpreter live_;
  controllers::MemberInventory inventory_;
  works::MemberObjects objects_;
  works::WorkStatusWriter status_writer_;
  works::Rechecks rechecks_;
  const controllers::Context context_;
  std::optional<ShadowSide> shadow_;  // With --shadow.
};

void Daemon::ShowBuild() {
  registry_.GetGauge("karmada_build_info", "What this build is.", config::BuildLabels()).Set(1);
  config::ShowRelease(context_.options.release, registry_);
  config::LogRelease(context_.options.release, context_.options.wanted_release.has_value());
}

// Without the flag the process is of the release of the control plane, also after an upgrade of it.
// The lease is given back, since this process leads again as the other release.
void Daemon::WatchRelease() {
  if (context_.options.wanted_release.has_value()) return;
  manager_.Add(std::make_unique<controllers::ReleaseWatch>(
                   context_.options.release, client_, [this] { manager_.GiveLeaseBackAtEnd(); }),
               kube::Manager::Group::kAlways);
}

// The wait takes up to --cluster-cache-sync-timeout, which is longer than a liveness probe allows.
absl::Status Daemon::LoadInterpreter(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<base::HttpServer> health,
                   kube::ServeStartupHealth(
                       context_.options.health_probe_bind_address,
                       {"interpreter", "the interpreter's configurations have not been read yet"}));
  return live_.Load(stop);
}

absl::StatusOr<std::unique_ptr<interpreter::live::AdmissionServer>> Daemon::ServeAdmission(
    const config::AdmissionFlags& admission) {
  const auto customizations = [this] {
    const auto informer = informers_.Find(api::InterpreterCustomizations());
    return informer == nullptr ? std::vector<kube::ObjectPtr>() : informer->store().List();
  };
  return interpreter::live::AdmissionServer::Start(
      {.address = admission.bind_address,
       .certificate_file = admission.certificate_file,
       .key_file = admission.key_file,
       .merge = controllers::InterpreterOptions(context_.options).merge},
      customizations, &registry_);
}

// Uses a client of its own, before anything is built that would repeat its requests.
absl::StatusOr<config::Release> AwaitControlPlane(const config::Options& options,
                                                  const Connection& connection,
                                                  const base::StopToken& stop) {
  kube::Client client(connection.loops, ControlPlaneClient(options, connection.host),
                      base::RealClock(), nullptr);
  return controllers::AwaitControlPlane(client, options, {connection.host}, stop);
}

}  // namespace

absl::Status CheckClusterApi(const config::Options& options) {
  if (options.cluster_api_kubeconfig.empty()) return absl::OkStatus();
  const auto config =
      kube::LoadConnectionConfig({options.cluster_api_kubeconfig, options.cluster_api_context});
  if (!config.ok()) return base::Annotate(config.status(), "--cluster-api-kubeconfig");
  return kube::NewHttpTransport(*config).status();
}

absl::StatusOr<Connection> Connect(const config::Options& options) {
  auto config = kube::LoadConnectionConfig({options.kubeconfig, ""});
  if (!config.ok() && !options.kubeconfig.empty()) {
    return base::Annotate(config.status(), "--kubeconfig");
  }
  RETURN_IF_ERROR(config.status());
  config->urgent = true;
  Connection connection{.host = kube::HostOf(config->server)};
  ASSIGN_OR_RETURN(connection.loops, kube::NewHttpTransport(*config));
  ASSIGN_OR_RETURN(connection.election, kube::NewHttpTransport(*config));
  if (!options.shadow) {
    connection.fence = std::make_shared<kube::LeaderFence>(base::RealClock());
    connection.loops = connection.fence->Over(std::move(connection.loops));
    return connection;
  }
  connection.shadow = std::make_shared<kube::Shadow>(base::RealClock());
  for (std::shared_ptr<kube::Transport>* transport : {&connection.loops, &connection.election}) {
    *transport = connection.shadow->Over(api::kControlPlaneName, *transport);
  }
  return connection;
}

absl::Status RunDaemon(config::Options options, const config::AdmissionFlags& admission,
                       const ShadowEnd& shadow, const Connection& connection,
                       const base::StopToken& stop) {
  const absl::StatusOr<config::Release> release = AwaitControlPlane(options, connection, stop);
  if (!release.ok()) {
    base::EndProcessAfter(kStopLimit, 1);
    return release.status();
  }
  options.Emulate(*release);
  auto daemon = std::make_unique<Daemon>(options, connection, shadow);
  const absl::Status result = daemon->Run(admission, stop);
  base::EndProcessAfter(kStopLimit, 1);  // Also if it could not begin.
  // Threads that outlived the graceful period still use the daemon, and waiting for them would
  // exceed the period further: the process ends without destroying it.
  if (absl::IsDeadlineExceeded(result)) static_cast<void>(daemon.release());
  return result;
}

}  // namespace cmd
