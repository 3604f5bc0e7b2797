// Transports of the control plane are exchangeable: the loops keep theirs, and what is behind it is
// made new when the kubeconfig has changed, or when the certificate was renewed. Two configurations
// are remembered. A renewed certificate is in use before the file has it, and the file's old one
// must not bring it back: only a change of the file counts.

#include "cmd/agent/connections.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "config/version.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"
#include "kube/http/http_transports.h"
#include "kube/kubeconfig/connection_origin.h"
#include "kube/kubeconfig/self_contained_kubeconfig.h"

namespace cmd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(10);
// Within this time it is seen with another kubeconfig that the Cluster has gone: where the former
// one was refused, the Cluster is listed again after a pause.
constexpr absl::Duration kComesBackWithin = absl::Minutes(3);
constexpr char kOfMember[] = "the kubeconfig of the cluster (--kubeconfig)";

// A pod's service account is one of the member, so that it must not be tried for the control plane.
kube::KubeconfigOptions ControlPlaneOptions(const config::AgentFlagValues& flags) {
  std::string path = flags.karmada_kubeconfig;
  const char* home = std::getenv("HOME");
  if (path.empty() && std::getenv("KUBECONFIG") == nullptr && home != nullptr) {
    path = absl::StrCat(home, "/.kube/config");
  }
  return {std::move(path), flags.karmada_context};
}

ConfigPtr With(const kube::ConnectionConfig& config, const tls::KeyPair& certificate) {
  auto other = std::make_shared<kube::ConnectionConfig>(config);
  other->client_certificate = certificate;
  return other;
}

absl::StatusOr<ConfigPtr> Shared(absl::StatusOr<kube::ConnectionConfig> config) {
  RETURN_IF_ERROR(config.status());
  return std::make_shared<const kube::ConnectionConfig>(*std::move(config));
}

}  // namespace

void KubeconfigText::Set(const std::string& text) {
  absl::MutexLock lock(&mu_);
  if (text == text_) return;
  text_ = text;
  is_parsed_ = false;
}

bool KubeconfigText::Is(const std::string& text) const {
  absl::MutexLock lock(&mu_);
  return text == text_;
}

absl::StatusOr<ConfigPtr> KubeconfigText::Load() {
  absl::MutexLock lock(&mu_);
  if (!std::exchange(is_parsed_, true)) config_ = Shared(kube::ParseSelfContainedKubeconfig(text_));
  return config_;
}

ControlPlaneAccess::ControlPlaneAccess(Load load, const ConfigPtr& config)
    : load_(std::move(load)),
      server_(config->server),
      host_(kube::HostOf(config->server)),
      in_file_(config),
      in_use_(config) {}

absl::StatusOr<std::shared_ptr<ControlPlaneAccess>> ControlPlaneAccess::Open(Load load) {
  ASSIGN_OR_RETURN(const ConfigPtr config, load());
  ASSIGN_OR_RETURN(kube::HttpTransports made, kube::NewHttpTransports(*config));
  std::shared_ptr<ControlPlaneAccess> access(new ControlPlaneAccess(std::move(load), config));
  access->loops_ = std::make_shared<kube::ExchangeableTransport>(std::move(made.ordinary));
  access->leases_ = std::make_shared<kube::ExchangeableTransport>(std::move(made.urgent));
  return access;
}

bool ControlPlaneAccess::IsServerOf(const kube::ConnectionConfig& other) const {
  absl::MutexLock lock(&mu_);
  return in_use_->server == other.server && in_use_->proxy_url == other.proxy_url &&
         in_use_->tls_server_name == other.tls_server_name;
}

ConfigPtr ControlPlaneAccess::InUse() const {
  absl::MutexLock lock(&mu_);
  return in_use_;
}

ConfigPtr ControlPlaneAccess::InKubeconfig() const {
  absl::MutexLock lock(&mu_);
  return in_file_;
}

absl::StatusOr<bool> ControlPlaneAccess::Reload() { return Reload(/*may_be_another=*/true); }

absl::StatusOr<bool> ControlPlaneAccess::ReloadOfSame() { return Reload(/*may_be_another=*/false); }

absl::StatusOr<bool> ControlPlaneAccess::Reload(bool may_be_another) {
  ASSIGN_OR_RETURN(const ConfigPtr config, load_());
  absl::MutexLock lock(&mu_);
  if (config == in_file_ || kube::SameConnection(*config, *in_file_)) return false;
  if (!may_be_another && config->server != in_use_->server) {
    return absl::AbortedError(absl::StrCat("its kubeconfig leads to another control plane, ",
                                           config->server, " in place of ", in_use_->server));
  }
  if (!kube::SameConnection(*config, *in_use_)) RETURN_IF_ERROR(Use(config));
  in_file_ = config;
  return true;
}

absl::Status ControlPlaneAccess::Use(const ConfigPtr& config) {
  ASSIGN_OR_RETURN(kube::HttpTransports made, kube::NewHttpTransports(*config));
  loops_->Use(std::move(made.ordinary));
  leases_->Use(std::move(made.urgent));
  in_use_ = config;
  return absl::OkStatus();
}

void ControlPlaneAccess::UseCertificate(const std::string& old, const tls::KeyPair& renewed) {
  absl::MutexLock lock(&mu_);
  if (in_use_->client_certificate.cert_pem != old) return;  // These are other credentials.
  const absl::Status used = Use(With(*in_use_, renewed));
  if (used.ok()) return;
  base::LogWarning("the new certificate counts from the next start on", {{"error", used}});
}

absl::Status ControlPlaneAccess::TryCertificate(const tls::KeyPair& renewed,
                                                const std::string& cluster,
                                                const base::StopToken& stop) {
  ConfigPtr config;
  {
    absl::MutexLock lock(&mu_);
    config = With(*in_use_, renewed);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(*config));
  kube::Client client(
      std::move(transport),
      {.name = api::kControlPlaneName, .host = host_, .user_agent = config::UserAgent(api::kAgent)},
      base::RealClock(), nullptr);
  return kube::IgnoreGone(client.Get(api::Clusters(), {"", cluster}, stop).status());
}

KubeconfigWatch::KubeconfigWatch(std::shared_ptr<ControlPlaneAccess> access,
                                 std::optional<Registration> registration)
    : Periodic(base::RealClock()),
      access_(std::move(access)),
      registration_(std::move(registration)) {}

absl::Duration KubeconfigWatch::Begin() { return kBetweenLooks; }

absl::Duration KubeconfigWatch::Tick(const base::StopToken&) {
  const absl::StatusOr<bool> changed = access_->ReloadOfSame();
  if (changed.ok() && *changed) {
    base::LogInfo("the kubeconfig of the control plane has changed, and counts from now on");
  }
  if (absl::IsAborted(changed.status())) {
    EndWith(changed.status());
    return kBetweenLooks;
  }
  if (!changed.ok() && changed.status() != last_) {
    base::LogWarning(
        "the kubeconfig of the control plane cannot be read again; the last one "
        "stays in use",
        {{"error", changed.status()}});
  }
  last_ = changed.status();
  if (registration_.has_value()) LookAtRegistration(changed.ok() && *changed);
  return kBetweenLooks;
}

// A Cluster that is missing without another kubeconfig was taken out, and the kubeconfig is about
// to go, or it was deleted by mistake.
void KubeconfigWatch::LookAtRegistration(bool has_changed) {
  const base::SteadyTime now = base::RealClock().SteadyNow();
  if (has_changed) comes_back_until_ = now + kComesBackWithin;
  const bool was_gone = std::exchange(is_gone_, registration_->is_gone());
  if (!is_gone_) return;
  if (now < comes_back_until_) {
    EndWith(
        absl::AbortedError("the cluster is not registered any more, and has another kubeconfig"));
  } else if (!was_gone) {
    base::LogWarning(
        "the cluster is not registered any more; it is registered again with another kubeconfig "
        "of the control plane, or when its kubeconfigs are taken away and given back",
        {{"cluster", registration_->cluster}});
  }
}

namespace {

absl::StatusOr<AgentConnections> Connect(ControlPlaneAccess::Load control_plane,
                                         const absl::StatusOr<ConfigPtr>& member) {
  AgentConnections connections;
  absl::StatusOr<std::shared_ptr<ControlPlaneAccess>> plane =
      ControlPlaneAccess::Open(std::move(control_plane));
  RETURN_IF_ERROR(plane.status());
  connections.control_plane = *std::move(plane);
  RETURN_IF_ERROR(base::Annotate(member.status(), kOfMember));
  absl::StatusOr<std::shared_ptr<kube::Transport>> to_member = kube::NewHttpTransport(**member);
  RETURN_IF_ERROR(base::Annotate(to_member.status(), kOfMember));
  connections.to_member = *std::move(to_member);
  connections.member = *member;
  return connections;
}

}  // namespace

std::string OriginOfMember(const config::AgentOptions& options) {
  const std::string& path = options.loops.kubeconfig;
  return path.empty() ? kube::OriginOfConnection() : absl::StrCat("--kubeconfig=", path);
}

absl::StatusOr<AgentConnections> ConnectAgent(const config::AgentOptions& options) {
  const auto load = [of_plane = ControlPlaneOptions(options.agent)] {
    absl::StatusOr<kube::ConnectionConfig> config = kube::LoadConnectionConfig(of_plane);
    // Its name is looked up whatever the member's name servers do. Of many control planes none is:
    // each might hold a thread of its own.
    if (config.ok()) config->urgent = true;
    if (config.ok()) return Shared(std::move(config));
    return absl::StatusOr<ConfigPtr>(base::Annotate(config.status(), "--karmada-kubeconfig"));
  };
  return Connect(load, Shared(kube::LoadConnectionConfig({options.loops.kubeconfig, ""})));
}

absl::StatusOr<AgentConnections> ConnectAgent(std::shared_ptr<KubeconfigText> control_plane,
                                              const std::string& member) {
  const auto load = [text = std::move(control_plane)] {
    absl::StatusOr<ConfigPtr> config = text->Load();
    if (config.ok()) return config;
    return absl::StatusOr<ConfigPtr>(
        base::Annotate(config.status(), "the kubeconfig of the control plane"));
  };
  return Connect(load, Shared(kube::ParseSelfContainedKubeconfig(member)));
}

}  // namespace cmd
