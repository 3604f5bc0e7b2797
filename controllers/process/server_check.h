// Checks which server the kubeconfig leads to, before anything is built on it.
#ifndef CONTROLLERS_PROCESS_SERVER_CHECK_H_
#define CONTROLLERS_PROCESS_SERVER_CHECK_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace controllers {

struct ServerCheck {
  std::string host;         // The name of the server in messages.
  absl::Duration patience;  // How long to wait for Karmada's APIs: --cluster-cache-sync-timeout.
  std::string flag = "--kubeconfig";  // The one that leads to the server.
  std::string cluster = {};           // Whose control plane it is, for the log; "" for nobody's.
  // Called once when Karmada's APIs have to be waited for; an error ends the wait. Optional.
  std::function<absl::Status()> on_wait = {};
};

// OK when `client` talks to the API server of a Karmada control plane. When it serves none of the
// API groups that make one (api::IsControlPlaneGroup), one warning says so and the call waits for
// them, because they may be about to be installed; kFailedPrecondition when they do not appear in
// time. When only some are missing, a warning names them: the controllers that need them wait by
// themselves, and end the process in time. kInvalidArgument when the server is not a Kubernetes API
// server, kUnauthenticated when it refuses the credentials.
absl::Status CheckServer(kube::Client& client, const ServerCheck& check, const base::Clock& clock,
                         const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_SERVER_CHECK_H_
