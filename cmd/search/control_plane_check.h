// A first look at the control plane, so that the log names a mistake of the command line at once.
#ifndef CMD_SEARCH_CONTROL_PLANE_CHECK_H_
#define CMD_SEARCH_CONTROL_PLANE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "kube/http/transport.h"

namespace cmd {

// Asks the server of --kubeconfig, whose URL is `server`, once, and waits for three seconds at
// most. kNotFound: it serves no Clusters, so it is a member, or no control plane of Karmada yet.
// Other errors: it cannot be reached, or refuses to say it. Each is a sentence for the log. None
// ends the program, because all may pass by themselves.
absl::Status CheckControlPlane(kube::Transport& transport, const std::string& server,
                               const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_SEARCH_CONTROL_PLANE_CHECK_H_
