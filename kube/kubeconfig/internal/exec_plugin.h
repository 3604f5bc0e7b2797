// Gets credentials from a program (client-go credential plugins).
#ifndef KUBE_KUBECONFIG_INTERNAL_EXEC_PLUGIN_H_
#define KUBE_KUBECONFIG_INTERNAL_EXEC_PLUGIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

struct ExecCredential {
  std::string token;
  tls::KeyPair certificate;
  absl::Time expires = absl::InfiniteFuture();
};

// Runs `config.exec`. All errors but kCancelled are kUnauthenticated; they name the program and
// never quote its output.
absl::StatusOr<ExecCredential> RunExecPlugin(const ConnectionConfig& config, absl::Duration timeout,
                                             const base::StopToken& stop);

// Parses the plugin's output. kInvalidArgument describes what is wrong without quoting it.
absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view text,
                                                   absl::string_view api_version);

// Returns the value of $KUBERNETES_EXEC_INFO for the plugin.
std::string ExecInfo(const ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_INTERNAL_EXEC_PLUGIN_H_
