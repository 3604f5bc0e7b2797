// Where an API server is and how to speak to it: kubeconfig files and in-cluster credentials.
#ifndef KUBE_CLIENT_KUBECONFIG_H_
#define KUBE_CLIENT_KUBECONFIG_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/tls.h"

namespace kube {

// A program that prints an ExecCredential (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
  // The cluster's extension "client.authentication.k8s.io/exec"; goes to the plugin with the
  // cluster info.
  json::Value cluster_config;
};

// One server and one way to authenticate. Secrets are never logged.
struct ConnectionConfig {
  std::string server;  // "https://host:port[/prefix]"
  std::string ca_pem;  // Empty: the system's roots.
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;  // Verify the certificate against this name instead of the host.
  std::string proxy_url;        // http:// proxy; HTTPS goes through CONNECT.
  std::vector<std::pair<std::string, std::string>> proxy_headers;
  // Says that, without proxy_url, connections are direct, whatever $HTTPS_PROXY says. For addresses
  // inside a cluster.
  bool ignore_proxy_environment = false;
  // A server that says more than this in one answer, head included, is cut off; 0: only bodies are
  // limited, by each request. For servers that are trusted less than API servers; over TLS only.
  size_t max_answer_bytes = 0;
  // The control plane, on which everything depends: looking its name up and running its plugin do
  // not wait for other servers.
  bool urgent = false;

  tls::KeyPair client_certificate;
  std::string token;
  std::string token_file;  // Wins over token; re-read when it changes.
  std::string username, password;
  std::unique_ptr<ExecPlugin> exec;
  // Whom to act as: headers Impersonate-User, -Uid, -Group (one for each) and -Extra-<key>.
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  std::string default_namespace;  // The context's; "" when it has none. For command lines.
  // Set together: the pair is read from these files, again whenever they change, instead of taken
  // from client_certificate.
  std::string client_certificate_file, client_key_file;
  // Where ca_pem and client_certificate come from ("cluster \"c\", file /x/ca.crt"), for messages;
  // "" when that is not known. No part of the connection.
  std::string ca_origin, client_certificate_origin;

  ConnectionConfig() = default;
  ConnectionConfig(const ConnectionConfig&);
  ConnectionConfig& operator=(const ConnectionConfig&);
  ConnectionConfig(ConnectionConfig&&) = default;
  ConnectionConfig& operator=(ConnectionConfig&&) = default;
};

// A server's URL without the user and password that it may hold: for messages, logs and metrics.
std::string WithoutUserInfo(absl::string_view url);
// "host:port" of "https://user:password@host:port/prefix", as rest_client_requests_total has it.
std::string HostOf(absl::string_view url);

// Returns whether both stand for the same server, reached in the same way, with the same
// credentials. Every field counts but default_namespace, which is not a part of a connection.
bool SameConnection(const ConnectionConfig& a, const ConnectionConfig& b);
// Returns whether Transport::ReplaceToken(b.token) makes a transport for `a` one for `b`: both
// authenticate by a token that stands in the configuration, and nothing else is different.
bool DifferOnlyInToken(const ConnectionConfig& a, const ConnectionConfig& b);

struct KubeconfigOptions {
  std::string path;  // --kubeconfig; empty: $KUBECONFIG, in-cluster, ~/.kube/config, in this order.
  std::string context;  // Empty: current-context.
};
// The precedence of controller-runtime's configuration, on which upstream stands. Files listed in
// $KUBECONFIG are merged; the first definition of a name wins. Errors name the file, the context
// and the missing or unusable field: kNotFound (no file), kInvalidArgument (unreadable content).
absl::StatusOr<ConnectionConfig> LoadConnectionConfig(const KubeconfigOptions& options);
// One kubeconfig text; relative file names are resolved against `directory`.
absl::StatusOr<ConnectionConfig> ParseKubeconfig(absl::string_view text,
                                                 const std::string& directory,
                                                 const std::string& context);

}  // namespace kube

#endif  // KUBE_CLIENT_KUBECONFIG_H_
