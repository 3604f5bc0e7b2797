// Fills Secrets of service accounts with tokens, as a cluster's controller manager does: karmadactl
// join asks for them.
#ifndef CMD_SANDBOX_TOKEN_SECRETS_H_
#define CMD_SANDBOX_TOKEN_SECRETS_H_

#include <string>

#include "absl/status/status.h"
#include "sandbox/api_server.h"
#include "sandbox/sim/controller.h"
#include "sandbox/sim/event_loop.h"

namespace cmd {

// A Secret of the type kubernetes.io/service-account-token that names a service account gets a
// token, which the server knows from then on, its namespace, and the authority of the server.
// Tokens of Secrets that are deleted stay valid.
class TokenSecrets {
 public:
  // REQUIRES: `server` and `loop` outlive this object.
  TokenSecrets(sandbox::ApiServer& server, sandbox::EventLoop& loop, std::string ca_pem);

 private:
  absl::Status Reconcile(const kube::ObjectKey& key);

  sandbox::ApiServer& server_;
  const std::string ca_pem_;
  sandbox::Controller controller_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_TOKEN_SECRETS_H_
