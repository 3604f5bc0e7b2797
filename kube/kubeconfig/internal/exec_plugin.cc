// A run takes these steps: the program gets what it may need to know in $KUBERNETES_EXEC_INFO, the
// cluster only if the configuration says so; it runs to its end, within the timeout; and its
// standard output is read as an ExecCredential. The kind and the apiVersion must be those that were
// asked for, a certificate is valid only with its key, and there must be a token or a certificate.
// Every failure names the program and the configuration's hint for installing it, but nothing of
// the output, which may hold secrets. Nothing is kept here: CredentialSource decides when the
// program runs again, and runs it once at a time.

#include "kube/kubeconfig/internal/exec_plugin.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/kubeconfig/internal/subprocess.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("its output is not an ExecCredential: ", what));
}

absl::Status PluginError(const ExecPlugin& plugin, const absl::Status& status) {
  if (absl::IsCancelled(status)) return status;
  std::string message = absl::StrCat("exec plugin ", plugin.command, ": ", status.message());
  if (!plugin.install_hint.empty()) absl::StrAppend(&message, "; ", plugin.install_hint);
  return absl::UnauthenticatedError(message);
}

}  // namespace

absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view text,
                                                   absl::string_view api_version) {
  const auto parsed = json::Parse(text);
  if (!parsed.ok()) return Malformed("not JSON");
  if ((*parsed)["kind"].AsString() != "ExecCredential") return Malformed("wrong kind");
  if ((*parsed)["apiVersion"].AsString() != api_version) {
    return Malformed(absl::StrCat("its apiVersion is not ", api_version));
  }
  const json::Value& status = (*parsed)["status"];
  ExecCredential credential;
  credential.token = status["token"].ToString();
  credential.certificate.cert_pem = status["clientCertificateData"].ToString();
  credential.certificate.key_pem = status["clientKeyData"].ToString();
  if (credential.certificate.cert_pem.empty() != credential.certificate.key_pem.empty()) {
    return Malformed("a client certificate and its key come only together");
  }
  if (credential.token.empty() && credential.certificate.cert_pem.empty()) {
    return Malformed("neither a token nor a client certificate");
  }
  if (const auto expires = status["expirationTimestamp"].AsString(); !expires.empty()) {
    const auto time = ParseTime(expires);
    if (!time.ok()) return Malformed("expirationTimestamp is not a time");
    credential.expires = *time;
  }
  return credential;
}

std::string ExecInfo(const ConnectionConfig& config) {
  json::Value info = json::Value::Object({{"apiVersion", config.exec->api_version},
                                          {"kind", "ExecCredential"},
                                          {"spec", json::Value::Object({{"interactive", false}})}});
  if (config.exec->provide_cluster_info) {
    json::Value cluster = json::Value::Object({{"server", config.server}});
    if (!config.tls_server_name.empty()) cluster.Set("tls-server-name", config.tls_server_name);
    if (config.insecure_skip_tls_verify) cluster.Set("insecure-skip-tls-verify", true);
    if (!config.ca_pem.empty()) {
      cluster.Set("certificate-authority-data", absl::Base64Escape(config.ca_pem));
    }
    if (!config.proxy_url.empty()) cluster.Set("proxy-url", config.proxy_url);
    if (!config.exec->cluster_config.is_null()) cluster.Set("config", config.exec->cluster_config);
    info.Set({"spec", "cluster"}, std::move(cluster));
  }
  return json::Write(info);
}

absl::StatusOr<ExecCredential> RunExecPlugin(const ConnectionConfig& config, absl::Duration timeout,
                                             const base::StopToken& stop) {
  const ExecPlugin& plugin = *config.exec;
  ProgramOptions program{.command = plugin.command, .args = plugin.args, .env = plugin.env};
  program.env.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(config));
  program.timeout = timeout;
  const auto output = RunProgram(program, stop);
  if (!output.ok()) return PluginError(plugin, output.status());
  auto credential = ParseExecCredential(*output, plugin.api_version);
  if (!credential.ok()) return PluginError(plugin, credential.status());
  return credential;
}

}  // namespace kube
