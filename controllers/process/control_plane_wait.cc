#include "controllers/process/control_plane_wait.h"

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/http_server.h"
#include "base/status.h"
#include "config/served/served_release.h"
#include "controllers/process/listen_errors.h"
#include "controllers/process/server_check.h"
#include "kube/runtime/serving_names.h"
#include "kube/runtime/startup_health.h"

namespace controllers {

absl::StatusOr<config::Release> AwaitControlPlane(kube::Client& client,
                                                  const config::Options& options,
                                                  const ControlPlaneServer& server,
                                                  const base::StopToken& stop) {
  std::unique_ptr<base::HttpServer> health;
  const auto serve_health = [&]() -> absl::Status {
    if (health != nullptr) return absl::OkStatus();
    auto started = kube::ServeStartupHealth(options.health_probe_bind_address,
                                            {"karmada-apis", "Karmada's APIs are not served yet"});
    RETURN_IF_ERROR(
        WithListenFlag(base::Annotate(started.status(), kube::kServingHealth), options));
    health = *std::move(started);
    return absl::OkStatus();
  };
  const absl::Duration patience = options.clusters.cache_sync_timeout;
  RETURN_IF_ERROR(CheckServer(client,
                              {server.host, patience, server.flag, server.cluster, serve_health},
                              base::RealClock(), stop));
  return config::AwaitRelease(options.wanted_release, client, {patience, serve_health}, stop);
}

}  // namespace controllers
