// Reads the fields of a kubeconfig's clusters and users. A field of a wrong type, and two that
// contradict each other, are errors that name the field; fields that are unknown are ignored, as by
// clientcmd. Files that a field names are read here; those that are followed (tokenFile, a
// certificate with its key in two files, a certificate-authority) are named in the result as well.
// No error quotes a value that may be secret.

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "kube/kubeconfig/internal/kubeconfig_files.h"

namespace kube {
namespace {

absl::Status Unusable(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("field ", field, " ", why));
}

absl::StatusOr<std::string> StringField(const json::Value& object, absl::string_view field) {
  const json::Value& value = object[field];
  if (value.is_null()) return std::string();
  if (!value.is_string()) return Unusable(field, "is not a string");
  return value.ToString();
}

absl::StatusOr<bool> BoolField(const json::Value& object, absl::string_view field) {
  const json::Value& value = object[field];
  if (value.is_null()) return false;
  if (!value.is_bool()) return Unusable(field, "is not true or false");
  return value.AsBool();
}

// Returns the bytes of `<field>-data` (base64), else those of the file that `<field>` names; "" if
// neither is set.
absl::StatusOr<std::string> DataOrFile(const KubeconfigEntries::Entry& entry,
                                       const std::string& field) {
  const std::string data_field = absl::StrCat(field, "-data");
  ASSIGN_OR_RETURN(const std::string data, StringField(entry.value, data_field));
  if (!data.empty()) {
    std::string decoded;
    if (!absl::Base64Unescape(data, &decoded)) return Unusable(data_field, "is not valid base64");
    return decoded;
  }
  ASSIGN_OR_RETURN(const std::string path, StringField(entry.value, field));
  if (path.empty()) return std::string();
  auto content = base::ReadContent(ResolvePath(path, entry.directory));
  if (!content.ok())
    return Unusable(field, absl::StrCat("names a file: ", content.status().message()));
  return content;
}

// Returns where DataOrFile() found them: "field certificate-authority-data" or "file /x/ca.crt".
std::string OriginOf(const KubeconfigEntries::Entry& entry, const std::string& field) {
  const std::string data_field = absl::StrCat(field, "-data");
  if (!entry.value[data_field].AsString().empty()) return absl::StrCat("field ", data_field);
  return absl::StrCat("file ", ResolvePath(entry.value[field].AsString(), entry.directory));
}

absl::StatusOr<std::vector<std::string>> StringList(const json::Value& value,
                                                    absl::string_view field) {
  if (!value.is_null() && !value.is_array()) return Unusable(field, "is not a list");
  std::vector<std::string> out;
  for (const json::Value& item : value.items()) {
    // A null is an empty string, as for clientcmd.
    if (!item.is_null() && !item.is_string()) {
      return Unusable(field, "holds something that is not a string");
    }
    out.push_back(item.ToString());
  }
  return out;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> VariableList(
    const json::Value& value, absl::string_view field) {
  if (!value.is_null() && !value.is_array()) return Unusable(field, "is not a list");
  std::vector<std::pair<std::string, std::string>> out;
  for (const json::Value& item : value.items()) {
    if (!item.is_object()) return Unusable(field, "holds something that is not a mapping");
    const auto name = StringField(item, "name"), content = StringField(item, "value");
    if (!name.ok() || !content.ok()) {
      return Unusable(field, "holds a name or a value that is not a string");
    }
    out.emplace_back(*name, *content);
  }
  return out;
}

// Reads the fields as, as-uid, as-groups and as-user-extra.
absl::Status ApplyImpersonation(const json::Value& user, ConnectionConfig& config) {
  ASSIGN_OR_RETURN(config.impersonate_user, StringField(user, "as"));
  ASSIGN_OR_RETURN(config.impersonate_uid, StringField(user, "as-uid"));
  ASSIGN_OR_RETURN(config.impersonate_groups, StringList(user["as-groups"], "as-groups"));
  const json::Value& extra = user["as-user-extra"];
  if (!extra.is_null() && !extra.is_object()) return Unusable("as-user-extra", "is not a mapping");
  for (const json::Member& member : extra.members()) {
    ASSIGN_OR_RETURN(std::vector<std::string> list, StringList(member.value, "as-user-extra"));
    config.impersonate_extra.emplace_back(std::string(member.name()), std::move(list));
  }
  const bool more = !config.impersonate_uid.empty() || !config.impersonate_groups.empty() ||
                    !config.impersonate_extra.empty();
  if (!more || !config.impersonate_user.empty()) return absl::OkStatus();
  // clientcmd's validation refuses this too: servers ignore the other fields without a user.
  return Unusable("as", "is missing beside as-uid, as-groups or as-user-extra");
}

absl::Status CheckServer(const std::string& server) {
  if (server.empty()) return Unusable("server", "is missing");
  if (absl::StartsWith(server, "https://") || absl::StartsWith(server, "http://")) {
    return absl::OkStatus();
  }
  constexpr char kWanted[] = "an http:// or https:// URL";
  // A password with a "/" would not be recognised as one.
  if (absl::StrContains(server, '@')) return Unusable("server", absl::StrCat("is not ", kWanted));
  return Unusable("server", absl::StrCat("is \"", server, "\", not ", kWanted));
}

// A pair in two files is read again when they change; otherwise its present bytes are taken.
absl::Status ApplyCertificate(const KubeconfigEntries::Entry& user, ConnectionConfig& config) {
  auto& pair = config.client_certificate;
  ASSIGN_OR_RETURN(pair.cert_pem, DataOrFile(user, "client-certificate"));
  ASSIGN_OR_RETURN(pair.key_pem, DataOrFile(user, "client-key"));
  config.client_certificate_origin =
      absl::StrCat(OriginOf(user, "client-certificate"), " with ", OriginOf(user, "client-key"));
  if (!pair.cert_pem.empty() && pair.key_pem.empty()) {
    return Unusable("client-key", "is missing beside client-certificate");
  }
  if (pair.cert_pem.empty() && !pair.key_pem.empty()) {
    return Unusable("client-certificate", "is missing beside client-key");
  }
  const bool inline_data = !user.value["client-certificate-data"].AsString().empty() ||
                           !user.value["client-key-data"].AsString().empty();
  if (pair.cert_pem.empty() || inline_data) return absl::OkStatus();
  config.client_certificate_file =
      ResolvePath(user.value["client-certificate"].AsString(), user.directory);
  config.client_key_file = ResolvePath(user.value["client-key"].AsString(), user.directory);
  return absl::OkStatus();
}

absl::Status CheckInteractive(const json::Value& exec) {
  ASSIGN_OR_RETURN(const std::string mode, StringField(exec, "interactiveMode"));
  if (mode.empty() || mode == "Never" || mode == "IfAvailable") return absl::OkStatus();
  if (mode == "Always") {
    return Unusable("exec.interactiveMode", "is Always, but there is no terminal to ask on");
  }
  return Unusable("exec.interactiveMode", absl::StrCat("is \"", mode, "\", which is unknown"));
}

absl::StatusOr<std::unique_ptr<ExecPlugin>> ParseExec(const json::Value& exec,
                                                      const std::string& directory) {
  if (!exec.is_object()) return Unusable("exec", "is not a mapping");
  auto plugin = std::make_unique<ExecPlugin>();
  ASSIGN_OR_RETURN(plugin->api_version, StringField(exec, "apiVersion"));
  if (plugin->api_version != "client.authentication.k8s.io/v1" &&
      plugin->api_version != "client.authentication.k8s.io/v1beta1") {
    return Unusable("exec.apiVersion",
                    absl::StrCat("is \"", plugin->api_version,
                                 "\", not client.authentication.k8s.io/v1 or v1beta1"));
  }
  ASSIGN_OR_RETURN(plugin->command, StringField(exec, "command"));
  if (plugin->command.empty()) return Unusable("exec.command", "is missing");
  // A bare name is searched in $PATH; one with a slash is relative to the kubeconfig's directory.
  if (absl::StrContains(plugin->command, "/")) {
    plugin->command = ResolvePath(plugin->command, directory);
  }
  ASSIGN_OR_RETURN(plugin->args, StringList(exec["args"], "exec.args"));
  ASSIGN_OR_RETURN(plugin->env, VariableList(exec["env"], "exec.env"));
  ASSIGN_OR_RETURN(plugin->install_hint, StringField(exec, "installHint"));
  ASSIGN_OR_RETURN(plugin->provide_cluster_info, BoolField(exec, "provideClusterInfo"));
  RETURN_IF_ERROR(CheckInteractive(exec));
  return plugin;
}

}  // namespace

absl::Status ApplyCluster(const KubeconfigEntries::Entry& cluster, ConnectionConfig& config) {
  const json::Value& value = cluster.value;
  ASSIGN_OR_RETURN(config.server, StringField(value, "server"));
  RETURN_IF_ERROR(CheckServer(config.server));
  ASSIGN_OR_RETURN(config.insecure_skip_tls_verify, BoolField(value, "insecure-skip-tls-verify"));
  ASSIGN_OR_RETURN(config.tls_server_name, StringField(value, "tls-server-name"));
  ASSIGN_OR_RETURN(config.proxy_url, StringField(value, "proxy-url"));
  ASSIGN_OR_RETURN(config.ca_pem, DataOrFile(cluster, "certificate-authority"));
  config.ca_origin = OriginOf(cluster, "certificate-authority");
  if (value["certificate-authority-data"].AsString().empty()) {
    config.ca_file = ResolvePath(value["certificate-authority"].AsString(), cluster.directory);
  }
  if (config.insecure_skip_tls_verify && !config.ca_pem.empty()) {
    return Unusable("certificate-authority", "contradicts insecure-skip-tls-verify");
  }
  return absl::OkStatus();
}

absl::Status ApplyUser(const KubeconfigEntries::Entry& user, ConnectionConfig& config) {
  const json::Value& value = user.value;
  if (!value["auth-provider"].is_null()) {
    return Unusable("auth-provider", "is no longer supported by Kubernetes; use exec");
  }
  RETURN_IF_ERROR(ApplyCertificate(user, config));
  ASSIGN_OR_RETURN(config.token, StringField(value, "token"));
  ASSIGN_OR_RETURN(const std::string token_file, StringField(value, "tokenFile"));
  config.token_file = ResolvePath(token_file, user.directory);
  ASSIGN_OR_RETURN(config.username, StringField(value, "username"));
  ASSIGN_OR_RETURN(config.password, StringField(value, "password"));
  RETURN_IF_ERROR(ApplyImpersonation(value, config));
  if (value["exec"].is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(config.exec, ParseExec(value["exec"], user.directory));
  return absl::OkStatus();
}

}  // namespace kube
