// How an agent reaches the control plane and its member.
#ifndef CMD_AGENT_CONNECTIONS_H_
#define CMD_AGENT_CONNECTIONS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "config/agent_options.h"
#include "kube/http/exchangeable_transport.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/periodic.h"

namespace cmd {

// A kubeconfig's text has several kB, and is used in several places.
using ConfigPtr = std::shared_ptr<const kube::ConnectionConfig>;

// A kubeconfig that is not in a file, and that may be replaced by another one. Thread-safe.
class KubeconfigText {
 public:
  explicit KubeconfigText(std::string text) : text_(std::move(text)) {}

  void Set(const std::string& text);
  bool Is(const std::string& text) const;
  // Parses the text, unless it is the one that was parsed last, as
  // kube::ParseSelfContainedKubeconfig does.
  absl::StatusOr<ConfigPtr> Load();

 private:
  mutable absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  bool is_parsed_ ABSL_GUARDED_BY(mu_) = false;
  absl::StatusOr<ConfigPtr> config_ ABSL_GUARDED_BY(mu_);
};

// The control plane, by a kubeconfig that may change while the agent runs: the kubelet writes the
// file again when the Secret behind it has changed. Thread-safe.
class ControlPlaneAccess {
 public:
  using Load = std::function<absl::StatusOr<ConfigPtr>()>;
  // `load` reads the kubeconfig, again and again, on any thread. Sends no request. The error names
  // the file and the field that cannot be used.
  static absl::StatusOr<std::shared_ptr<ControlPlaneAccess>> Open(Load load);

  // Return the address of the server, and its "host:port", as they were at the start.
  const std::string& server() const { return server_; }
  const std::string& host() const { return host_; }
  // Returns whether `other` has this address, reached in the same way.
  bool IsServerOf(const kube::ConnectionConfig& other) const;
  // Return what is in use, and what the kubeconfig said when it was read last, which counts at the
  // next start.
  ConfigPtr InUse() const;
  ConfigPtr InKubeconfig() const;
  // One transport for the loops and one for the Leases, whose renewals never wait for the loops'
  // calls: they share credentials and connections (kube::HttpTransports).
  std::shared_ptr<kube::Transport> loops() const { return loops_; }
  std::shared_ptr<kube::Transport> leases() const { return leases_; }

  // Reads the kubeconfig again; a change counts for all that begins afterwards. After an error
  // everything is as before. Returns whether it has changed.
  absl::StatusOr<bool> Reload();
  // The same where something has been read of the control plane: kAborted when the kubeconfig leads
  // to another one.
  absl::StatusOr<bool> ReloadOfSame();
  // Has the pair used from now on where the certificate `old` is in use; the file may be behind.
  void UseCertificate(const std::string& old, const tls::KeyPair& renewed);
  // Returns the error of reading the Cluster with this pair; that it is not there is none.
  absl::Status TryCertificate(const tls::KeyPair& renewed, const std::string& cluster,
                              const base::StopToken& stop);

 private:
  ControlPlaneAccess(Load load, const ConfigPtr& config);
  absl::StatusOr<bool> Reload(bool may_be_another);
  absl::Status Use(const ConfigPtr& config) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Load load_;
  const std::string server_;
  const std::string host_;
  std::shared_ptr<kube::ExchangeableTransport> loops_, leases_;
  mutable absl::Mutex mu_;
  ConfigPtr in_file_ ABSL_GUARDED_BY(mu_);  // What was read last.
  ConfigPtr in_use_ ABSL_GUARDED_BY(mu_);
};

// Looks at the kubeconfig of the control plane every ten seconds. Ends with kAborted when that
// leads to another control plane: what has been read of one is not continued in another.
class KubeconfigWatch : public kube::Periodic {
 public:
  // For a cluster that may be registered again while its agent runs.
  struct Registration {
    std::string cluster;
    std::function<bool()> is_gone;  // Whether it is known not to be registered any more.
  };
  // With a registration the run ends with kAborted also when that is gone and the kubeconfig is
  // another one: the cluster has been taken out and comes back.
  explicit KubeconfigWatch(std::shared_ptr<ControlPlaneAccess> access,
                           std::optional<Registration> registration = std::nullopt);
  std::string name() const override { return "kubeconfig watch"; }

 protected:
  absl::Duration Begin() override;
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  void LookAtRegistration(bool has_changed);

  const std::shared_ptr<ControlPlaneAccess> access_;
  const std::optional<Registration> registration_;
  absl::Status last_;     // The result of the last look.
  bool is_gone_ = false;  // The registration, at the last look.
  // After another kubeconfig was found: how long the Cluster may still be found missing.
  base::SteadyTime comes_back_until_ = base::SteadyTime::InfinitePast();
};

struct AgentConnections {
  std::shared_ptr<ControlPlaneAccess> control_plane;
  ConfigPtr member;
  std::shared_ptr<kube::Transport> to_member;
};

// Returns where the kubeconfig of the cluster comes from: "--kubeconfig=FILE", "$KUBECONFIG (FILE)"
// or "HOME/.kube/config"; "" for the account of the pod.
std::string OriginOfMember(const config::AgentOptions& options);

// Reads the kubeconfigs. The control plane's is --karmada-kubeconfig, else $KUBECONFIG, else
// ~/.kube/config; the member's is --kubeconfig, else $KUBECONFIG, else the service account of the
// pod, else ~/.kube/config, as with upstream. The error names the flag, the file and the field that
// cannot be used.
absl::StatusOr<AgentConnections> ConnectAgent(const config::AgentOptions& options);
// Connects one of many agents as the function above, with the kubeconfigs of the control plane and
// of the member as texts.
absl::StatusOr<AgentConnections> ConnectAgent(std::shared_ptr<KubeconfigText> control_plane,
                                              const std::string& member);

}  // namespace cmd

#endif  // CMD_AGENT_CONNECTIONS_H_
