// Loads the address of an API server and the credentials for it: from kubeconfig files, or inside a
// cluster.
#ifndef KUBE_KUBECONFIG_KUBECONFIG_H_
#define KUBE_KUBECONFIG_KUBECONFIG_H_

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
  // The cluster's extension "client.authentication.k8s.io/exec"; passed to the plugin with the
  // cluster info.
  json::Value cluster_config;
};

// One server and one way to authenticate. Secrets are never logged.
struct ConnectionConfig {
  std::string server;  // "https://host:port[/prefix]"
  std::string ca_pem;  // Empty stands for the system's roots.
  // The file that ca_pem was read from, which is read again when it changes; "" when the
  // configuration itself has the roots, or none.
  std::string ca_file;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;  // The name to verify the certificate against, instead of the host.
  std::string proxy_url;        // An http:// proxy; HTTPS uses CONNECT.
  std::vector<std::pair<std::string, std::string>> proxy_headers;
  // Makes connections direct if there is no proxy_url, whatever $HTTPS_PROXY says. For addresses
  // inside a cluster.
  bool ignore_proxy_environment = false;
  // A server that sends more than this in one answer, including the head, is cut off; 0: only
  // bodies are limited, by each request. For servers that are trusted less than API servers; over
  // TLS only.
  size_t max_answer_bytes = 0;
  // Set for the control plane, on which everything depends: its name lookups and plugins do not
  // wait for those of other servers.
  bool urgent = false;

  tls::KeyPair client_certificate;
  std::string token;
  std::string token_file;  // Takes precedence over token; read again when it changes.
  std::string username, password;
  std::unique_ptr<ExecPlugin> exec;
  // Whom to impersonate: headers Impersonate-User, -Uid, -Group (one for each) and -Extra-<key>.
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  // The context's namespace, for command lines; "" when it has none.
  std::string default_namespace;
  // Set together: the pair is read from these files, again whenever they change, instead of from
  // client_certificate.
  std::string client_certificate_file, client_key_file;
  // The origins of ca_pem and client_certificate ("cluster \"c\", file /x/ca.crt"), for messages;
  // "" when they are unknown. They are not part of the connection.
  std::string ca_origin, client_certificate_origin;

  ConnectionConfig() = default;
  ConnectionConfig(const ConnectionConfig&);
  ConnectionConfig& operator=(const ConnectionConfig&);
  ConnectionConfig(ConnectionConfig&&) = default;
  ConnectionConfig& operator=(ConnectionConfig&&) = default;
};

// Returns a server's URL without the user and password that it may contain: for messages, logs and
// metrics.
std::string WithoutUserInfo(absl::string_view url);
// Returns "host:port" of "https://user:password@host:port/prefix", as in
// rest_client_requests_total.
std::string HostOf(absl::string_view url);

// Returns whether both describe the same server, reached in the same way, with the same
// credentials. All fields count except those that are not part of a connection, such as
// default_namespace.
bool SameConnection(const ConnectionConfig& a, const ConnectionConfig& b);
// Returns whether Transport::ReplaceToken(b.token) turns a transport for `a` into one for `b`: both
// authenticate by a token in the configuration, and nothing else differs.
bool DifferOnlyInToken(const ConnectionConfig& a, const ConnectionConfig& b);

struct KubeconfigOptions {
  // --kubeconfig; if empty, $KUBECONFIG, in-cluster and ~/.kube/config are tried in this order.
  std::string path;
  std::string context;  // Empty stands for current-context.
};
// Has the precedence of controller-runtime's configuration, which upstream uses. Files listed in
// $KUBECONFIG are merged; the first definition of a name wins. Errors name the file, the context
// and the missing or unusable field: kNotFound (no file), kInvalidArgument (unusable content).
absl::StatusOr<ConnectionConfig> LoadConnectionConfig(const KubeconfigOptions& options);
// Parses one kubeconfig text; relative file names are resolved against `directory`.
absl::StatusOr<ConnectionConfig> ParseKubeconfig(absl::string_view text,
                                                 const std::string& directory,
                                                 const std::string& context);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_KUBECONFIG_H_
