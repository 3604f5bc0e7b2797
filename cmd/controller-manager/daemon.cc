// RunDaemon first checks the server with a client of its own, so that nothing asks again and again
// while Karmada's APIs are missing, and finds out of which release they are. It then constructs the
// parts (controllers::LoopParts). Run builds the controllers, waits for the interpreter's
// configurations, and hands over to the manager, which starts the loops. At the end the parts go in
// the reverse order; informers and members are stopped before that, because their handlers point
// into the controllers.

#include "cmd/controller-manager/daemon.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/members/connection.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "cmd/controller-manager/cluster_log.h"
#include "cmd/controller-manager/controller_table.h"
#include "cmd/controller-manager/settings_page.h"
#include "cmd/controller-manager/shadow_side.h"
#include "config/release.h"
#include "controllers/binding_states/register.h"
#include "controllers/context/interpreter_options.h"
#include "controllers/process/control_plane_wait.h"
#include "controllers/process/loop_parts.h"
#include "interpreter/live/admission_server.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/shadow/shadow.h"

namespace cmd {
namespace {

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

controllers::LoopPartsOptions PartsOf(const config::Options& options,
                                      const Connection& connection) {
  controllers::LoopPartsOptions parts;
  parts.program = api::kControllerManager;
  parts.loops = connection.loops;
  parts.leases = connection.election;
  parts.host = connection.host;
  if (!options.shadow) parts.lease_name = api::kControllerManager;
  parts.fence = connection.fence;
  parts.shadow = connection.shadow;
  parts.members = [](kube::ClusterClient& control_plane) {
    return std::make_unique<ClusterConfigSource>(control_plane);
  };
  return parts;
}

// All objects that live as long as the daemon runs, in order of construction.
class Daemon {
 public:
  // REQUIRES: `options` outlives it.
  Daemon(const config::Options& options, const Connection& connection, const ShadowEnd& shadow)
      : options_(options), shadow_end_(shadow), parts_(options, PartsOf(options, connection)) {
    parts_.manager().Add(parts_.kinds().NewRunnable());
  }
  ~Daemon() { parts_.StopInformers(); }

  absl::Status Run(const config::AdmissionFlags& admission, const base::StopToken& stop) {
    kube::Manager& manager = parts_.manager();
    parts_.ShowBuild();
    RETURN_IF_ERROR(BuildControllers(parts_.context()));
    controllers::CountBindingStates(parts_.context());
    LogControllers(options_);
    manager.ServeBesideMetrics("/configz", [this] { return SettingsPage(options_); });
    parts_.AddRunnables();
    manager.Add(std::make_unique<ClusterLog>(manager));
    AddShadow();
    RETURN_IF_ERROR(parts_.LoadInterpreter(stop));
    std::unique_ptr<interpreter::live::AdmissionServer> reviews;  // Ends before what it asks.
    if (admission.IsOn()) {
      ASSIGN_OR_RETURN(reviews, ServeAdmission(admission));
    }
    return parts_.Run(stop);  // Its limit applies also while reviews that are under way end.
  }

 private:
  void AddShadow();
  absl::StatusOr<std::unique_ptr<interpreter::live::AdmissionServer>> ServeAdmission(
      const config::AdmissionFlags& admission);

  const config::Options& options_;
  const ShadowEnd shadow_end_;
  controllers::LoopParts parts_;
  std::optional<ShadowSide> shadow_;  // With --shadow.
};

void Daemon::AddShadow() {
  const std::shared_ptr<kube::Shadow>& shadow = parts_.context().shadow;
  if (shadow == nullptr) return;
  shadow_.emplace(ShadowSide::Deps{shadow, parts_.client(), parts_.manager(), parts_.informers(),
                                   parts_.members(), parts_.kinds(), shadow_end_,
                                   options_.leader_election.resource_namespace});
  shadow_->AddTo(parts_.manager());
  shadow->ShowIn(parts_.registry());
}

absl::StatusOr<std::unique_ptr<interpreter::live::AdmissionServer>> Daemon::ServeAdmission(
    const config::AdmissionFlags& admission) {
  const auto customizations = [this] {
    const auto informer = parts_.informers().Find(api::InterpreterCustomizations());
    return informer == nullptr ? std::vector<kube::ObjectPtr>() : informer->store().List();
  };
  return interpreter::live::AdmissionServer::Start(
      {.address = admission.bind_address,
       .certificate_file = admission.certificate_file,
       .key_file = admission.key_file,
       .merge = controllers::InterpreterOptions(options_).merge},
      customizations, &parts_.registry());
}

// Uses a client of its own, before anything is built that would repeat its requests.
absl::StatusOr<config::Release> AwaitControlPlane(const config::Options& options,
                                                  const Connection& connection,
                                                  const base::StopToken& stop) {
  kube::Client client(
      connection.loops,
      controllers::ControlPlaneClient(options, api::kControllerManager, connection.host),
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
    base::EndProcessAfter(controllers::kStopLimit, 1);
    return release.status();
  }
  options.Emulate(*release);
  return controllers::RunToTheEnd<Daemon>(
      std::make_unique<Daemon>(options, connection, shadow),
      [&](Daemon& daemon) { return daemon.Run(admission, stop); });
}

}  // namespace cmd
