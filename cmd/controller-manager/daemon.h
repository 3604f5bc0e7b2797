// The controller manager as one object: it connects, wires the loops and runs until it is stopped.
#ifndef CMD_CONTROLLER_MANAGER_DAEMON_H_
#define CMD_CONTROLLER_MANAGER_DAEMON_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "config/admission_flags.h"
#include "config/options.h"
#include "config/shadow_flags.h"
#include "kube/http/transport.h"
#include "kube/runtime/leader_fence.h"
#include "kube/shadow/shadow.h"

namespace cmd {

// The connection to the Karmada API server; no request has been sent yet.
struct Connection {
  std::string host;  // "host:port"
  // One transport for the loops and one for the election, whose renewals must never wait for the
  // loops' calls.
  std::shared_ptr<kube::Transport> loops, election;
  // With --shadow: keeps the writes of both, and of the transports to members; else nullptr.
  std::shared_ptr<kube::Shadow> shadow;
  // Without it: keeps back the writes of `loops`, and of the transports to members, when the leader
  // lease has run out; else nullptr.
  std::shared_ptr<kube::LeaderFence> fence;
};

// Reads the kubeconfig (--kubeconfig, $KUBECONFIG, the pod's service account, ~/.kube/config). The
// error names the file or field that cannot be used.
absl::StatusOr<Connection> Connect(const config::Options& options);

// Returns why the kubeconfig of the management cluster of Cluster API cannot be used; OK when none
// is given. No request is sent.
absl::Status CheckClusterApi(const config::Options& options);

// What a shadow that ends by itself does.
struct ShadowEnd {
  config::ShadowFlags flags;
  // Called once, after the report was written: requests the stop of the process, with this exit
  // code.
  std::function<void(int exit_code)> end;
};

// Blocks. OK after a stop; otherwise the reason why it cannot go on (API server unreachable at
// start, CRDs missing, lease lost). After an error for which controllers::IsOtherRelease holds
// the process begins again. The daemon behaves as the release of the options, or else of the
// control plane.
absl::Status RunDaemon(config::Options options, const config::AdmissionFlags& admission,
                       const ShadowEnd& shadow, const Connection& connection,
                       const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_DAEMON_H_
