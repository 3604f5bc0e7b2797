// Passes requests from the control plane's server on to other servers of the sandbox, as the
// aggregation layer and clusters/NAME/proxy do in a real control plane.
#ifndef CMD_SANDBOX_RELAYS_H_
#define CMD_SANDBOX_RELAYS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/http_server.h"
#include "kube/http/forwarder.h"
#include "sandbox/fleet.h"

namespace cmd {

// Returns the answer 503 with "<who>: <why>".
base::HttpResponse NotNow(const std::string& who, const std::string& why);

// Returns a handler that passes requests on with the credentials of `forwarder`, and with whom the
// caller impersonates. `prefix` is taken off the path; `who` names the server in errors.
base::HttpHandler RelayTo(std::shared_ptr<kube::Forwarder> forwarder, std::string prefix,
                          std::string who);

// Lets the control plane serve each member at clusters/NAME/proxy, as its administrator. The files
// <member>.kubeconfig are in `directory`.
absl::Status ServeClusterProxies(sandbox::Fleet& fleet, const std::string& directory);

}  // namespace cmd

#endif  // CMD_SANDBOX_RELAYS_H_
