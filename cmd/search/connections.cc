#include "cmd/search/connections.h"

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/status.h"
#include "config/version.h"
#include "kube/http/http_transport.h"

namespace cmd {
namespace {

absl::StatusOr<kube::ConnectionConfig> Load(const std::string& path, const char* flag) {
  absl::StatusOr<kube::ConnectionConfig> config = kube::LoadConnectionConfig({path, ""});
  if (!config.ok()) return base::Annotate(config.status(), flag);
  config->urgent = true;
  return config;
}

// Requests of callers are passed on to the control plane in the callers' names, by impersonation. A
// kubeconfig that impersonates a user itself leaves no room for that: all requests would have that
// user's rights.
absl::Status CheckSpeaksForItself(const kube::ConnectionConfig& config) {
  if (config.impersonate_user.empty() && config.impersonate_uid.empty() &&
      config.impersonate_groups.empty() && config.impersonate_extra.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--kubeconfig: its user acts as ", config.impersonate_user,
      " (as, as-uid, as-groups or as-user-extra); it has to speak for itself, because ",
      api::kSearch, " acts as its callers"));
}

absl::StatusOr<std::shared_ptr<kube::Transport>> TransportOf(const std::string& path,
                                                             const std::string& otherwise,
                                                             const char* flag) {
  ASSIGN_OR_RETURN(const kube::ConnectionConfig config,
                   Load(path.empty() ? otherwise : path, path.empty() ? "--kubeconfig" : flag));
  return kube::NewHttpTransport(config);
}

}  // namespace

absl::StatusOr<Connections> Connect(const SearchOptions& options) {
  Connections out;
  const DelegationOptions& delegation = options.delegation;
  ASSIGN_OR_RETURN(out.control_plane, Load(options.kubeconfig, "--kubeconfig"));
  RETURN_IF_ERROR(CheckSpeaksForItself(out.control_plane));
  ASSIGN_OR_RETURN(out.loops, kube::NewHttpTransport(out.control_plane));
  ASSIGN_OR_RETURN(out.authentication,
                   TransportOf(delegation.authentication_kubeconfig, options.kubeconfig,
                               "--authentication-kubeconfig"));
  ASSIGN_OR_RETURN(out.authorization,
                   TransportOf(delegation.authorization_kubeconfig, options.kubeconfig,
                               "--authorization-kubeconfig"));
  return out;
}

kube::ClientOptions ControlPlaneClient(const SearchOptions& options, const Connections& to) {
  kube::ClientOptions c;
  c.name = api::kControlPlaneName;
  c.host = kube::HostOf(to.control_plane.server);
  c.qps = options.kube_api_qps;
  c.burst = options.kube_api_burst;
  c.user_agent = config::UserAgent(api::kSearch);
  return c;
}

kube::aggregation::Delegation::Options DelegationOf(const SearchOptions& options,
                                                    const Connections& to) {
  const DelegationOptions& d = options.delegation;
  kube::aggregation::Delegation::Options out;
  out.authentication = d.authentication;
  out.token_ttl = d.token_ttl;
  out.authorizer.always_allow_paths = d.always_allow_paths;
  out.authorizer.allowed_ttl = d.allowed_ttl;
  out.authorizer.denied_ttl = d.denied_ttl;
  out.lookup = ControlPlaneClient(options, to);
  out.lookup.qps = 0;
  return out;
}

}  // namespace cmd
