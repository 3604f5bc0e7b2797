// What a program that runs loops waits for at its start.
#ifndef CONTROLLERS_PROCESS_CONTROL_PLANE_WAIT_H_
#define CONTROLLERS_PROCESS_CONTROL_PLANE_WAIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "config/release.h"
#include "kube/client/client.h"

namespace controllers {

struct ControlPlaneServer {
  std::string host;
  std::string flag = "--kubeconfig";  // The one that leads to it.
  std::string cluster = {};           // Whose it is, for the log; "" for nobody's.
};

// Waits until the control plane serves Karmada's APIs, and returns the release as which the process
// behaves. `client` should be one of its own, so that nothing asks again and again meanwhile.
// `server` names the server in messages. Probes are answered during the wait, which may take longer
// than a liveness probe allows. Errors are those of CheckServer and config::AwaitRelease, and of
// the address of the health server.
absl::StatusOr<config::Release> AwaitControlPlane(kube::Client& client,
                                                  const config::Options& options,
                                                  const ControlPlaneServer& server,
                                                  const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_CONTROL_PLANE_WAIT_H_
