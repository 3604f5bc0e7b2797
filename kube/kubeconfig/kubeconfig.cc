// Finds the configuration in controller-runtime's order: the file of a flag, the files of
// $KUBECONFIG merged, the service account of the pod, ~/.kube/config. Of several files the first
// definition of a name counts, and relative names of files in it are resolved against the directory
// of the file that has it; so entries keep their directory until a context is resolved. Everything
// is read once: whoever follows changes of files loads again; only token files, certificate files
// and files of authorities are named in the result and read later.
//
// Errors name file, context and entry. They never quote values, which may be secrets.

#include "kube/kubeconfig/kubeconfig.h"

#include <cstdlib>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/kubeconfig/connection_origin.h"
#include "kube/kubeconfig/current_context.h"
#include "kube/kubeconfig/internal/kubeconfig_files.h"

namespace kube {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns kNotFound if the file does not exist, and kOutOfRange if it is empty or has only
// comments.
absl::Status MergeFile(const std::string& path, KubeconfigEntries& entries) {
  const absl::StatusOr<std::string> text = base::ReadFile(path);
  if (!text.ok()) {
    return {text.status().code(), absl::StrCat("kubeconfig ", text.status().message())};
  }
  const absl::StatusOr<bool> says_something = entries.Merge(*text, DirectoryOf(path));
  if (!says_something.ok()) {
    return base::Annotate(says_something.status(), "kubeconfig ", path);
  }
  if (*says_something) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("kubeconfig ", path, " is empty"));
}

// Errors name `files`, also those about PEM text that appear only when a connection is made with
// it.
absl::StatusOr<ConnectionConfig> ResolveFrom(const std::string& files,
                                             const KubeconfigEntries& entries,
                                             const std::string& context) {
  auto config = entries.Resolve(context);
  if (!config.ok()) return base::Annotate(config.status(), "kubeconfig ", files);
  // The texts are used when the PEM is parsed, which is long after this function.
  for (std::string* origin : {&config->ca_origin, &config->client_certificate_origin}) {
    if (!origin->empty()) *origin = absl::StrCat("kubeconfig ", files, ": ", *origin);
  }
  return config;
}

absl::StatusOr<KubeconfigEntries> EntriesOfFile(const std::string& path) {
  KubeconfigEntries entries;
  const absl::Status merged = MergeFile(path, entries);
  if (absl::IsOutOfRange(merged)) return absl::InvalidArgumentError(merged.message());
  RETURN_IF_ERROR(merged);
  return entries;
}

// Reads the files of $KUBECONFIG. Missing and empty ones are skipped, as by kubectl, if another one
// says something.
absl::StatusOr<KubeconfigEntries> EntriesOfList(const std::string& list) {
  KubeconfigEntries entries;
  bool found = false;
  for (const absl::string_view part : absl::StrSplit(list, ':', absl::SkipEmpty())) {
    const absl::Status merged = MergeFile(std::string(part), entries);
    // A list may name a file that does not exist yet.
    if (absl::IsNotFound(merged) || absl::IsOutOfRange(merged)) continue;
    RETURN_IF_ERROR(merged);
    found = true;
  }
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat("none of the files in $KUBECONFIG (", list, ") exists and is not empty"));
  }
  return entries;
}

absl::StatusOr<ConnectionConfig> LoadFile(const std::string& path, const std::string& context) {
  ASSIGN_OR_RETURN(const KubeconfigEntries entries, EntriesOfFile(path));
  return ResolveFrom(path, entries, context);
}

absl::StatusOr<ConnectionConfig> LoadList(const std::string& list, const std::string& context) {
  ASSIGN_OR_RETURN(const KubeconfigEntries entries, EntriesOfList(list));
  return ResolveFrom(list, entries, context);
}

bool IsInPod(const ConfigEnvironment& environment) {
  return !environment.variable("KUBERNETES_SERVICE_HOST").empty() &&
         !environment.variable("KUBERNETES_SERVICE_PORT").empty();
}

std::string DefaultPath(const ConfigEnvironment& environment) {
  return absl::StrCat(environment.variable("HOME"), "/.kube/config");
}

ConfigEnvironment OwnEnvironment() {
  ConfigEnvironment environment;
  environment.variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return environment;
}

auto PartsOf(const ExecPlugin& p) {
  return std::tie(p.api_version, p.command, p.args, p.env, p.install_hint, p.provide_cluster_info,
                  p.cluster_config);
}

bool SamePlugin(const std::unique_ptr<ExecPlugin>& a, const std::unique_ptr<ExecPlugin>& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return PartsOf(*a) == PartsOf(*b);
}

// A new field of ConnectionConfig has to be added here, if it belongs to the connection, and to
// operator= below.
auto PartsButForToken(const ConnectionConfig& c) {
  return std::tie(c.server, c.ca_pem, c.ca_file, c.insecure_skip_tls_verify, c.tls_server_name,
                  c.proxy_url, c.proxy_headers, c.ignore_proxy_environment, c.max_answer_bytes,
                  c.urgent, c.client_certificate.cert_pem, c.client_certificate.key_pem,
                  c.token_file, c.username, c.password, c.impersonate_user, c.impersonate_uid,
                  c.impersonate_groups, c.impersonate_extra, c.client_certificate_file,
                  c.client_key_file);
}

bool SameButForToken(const ConnectionConfig& a, const ConnectionConfig& b) {
  return PartsButForToken(a) == PartsButForToken(b) && SamePlugin(a.exec, b.exec);
}

// The files of a service account are mounted by the kubelet, which renews the token and replaces
// the authority; that is why they are named.
absl::StatusOr<ConnectionConfig> InCluster(const ConfigEnvironment& environment) {
  const std::string host = environment.variable("KUBERNETES_SERVICE_HOST");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT");
  ConnectionConfig config;
  const bool is_ipv6 = absl::StrContains(host, ':');
  config.server = absl::StrCat("https://", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", ":", port);
  config.token_file = absl::StrCat(environment.service_account_directory, "/token");
  config.ca_file = absl::StrCat(environment.service_account_directory, "/ca.crt");
  config.ca_origin = absl::StrCat("file ", config.ca_file);
  auto ca = base::ReadContent(config.ca_file);
  if (!ca.ok()) return base::Annotate(ca.status(), "in-cluster configuration");
  config.ca_pem = std::move(*ca);
  RETURN_IF_ERROR(
      base::Annotate(base::ReadContent(config.token_file).status(), "in-cluster configuration"));
  return config;
}

}  // namespace

ConnectionConfig::ConnectionConfig(const ConnectionConfig& other) { *this = other; }

ConnectionConfig& ConnectionConfig::operator=(const ConnectionConfig& other) {
  if (this == &other) return *this;
  server = other.server;
  ca_pem = other.ca_pem;
  ca_file = other.ca_file;
  insecure_skip_tls_verify = other.insecure_skip_tls_verify;
  tls_server_name = other.tls_server_name;
  proxy_url = other.proxy_url;
  proxy_headers = other.proxy_headers;
  ignore_proxy_environment = other.ignore_proxy_environment;
  max_answer_bytes = other.max_answer_bytes;
  urgent = other.urgent;
  client_certificate = other.client_certificate;
  token = other.token;
  token_file = other.token_file;
  username = other.username;
  password = other.password;
  exec = other.exec == nullptr ? nullptr : std::make_unique<ExecPlugin>(*other.exec);
  impersonate_user = other.impersonate_user;
  impersonate_uid = other.impersonate_uid;
  impersonate_groups = other.impersonate_groups;
  impersonate_extra = other.impersonate_extra;
  default_namespace = other.default_namespace;
  client_certificate_file = other.client_certificate_file;
  client_key_file = other.client_key_file;
  ca_origin = other.ca_origin;
  client_certificate_origin = other.client_certificate_origin;
  return *this;
}

bool DifferOnlyInToken(const ConnectionConfig& a, const ConnectionConfig& b) {
  // A token file takes precedence, so a token beside one is not what authenticates.
  const auto by_token = [](const ConnectionConfig& c) {
    return !c.token.empty() && c.token_file.empty();
  };
  return by_token(a) && by_token(b) && a.token != b.token && SameButForToken(a, b);
}

bool SameConnection(const ConnectionConfig& a, const ConnectionConfig& b) {
  return a.token == b.token && SameButForToken(a, b);
}

std::string ResolvePath(absl::string_view path, const std::string& directory) {
  if (path.empty() || directory.empty() || absl::StartsWith(path, "/")) return std::string(path);
  return absl::StrCat(directory, "/", path);
}

absl::Status KubeconfigEntries::MergeSection(const json::Value& list, const char* field,
                                             const std::string& directory, Section& section) {
  if (!list.is_null() && !list.is_array()) {
    return absl::InvalidArgumentError(absl::StrCat("field ", field, "s is not a list"));
  }
  for (const json::Value& item : list.items()) {
    const std::string name = item["name"].ToString();
    // The first definition wins.
    section.try_emplace(name, Entry{item[field], directory});
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> KubeconfigEntries::Merge(absl::string_view text,
                                              const std::string& directory) {
  auto parsed = yaml::ParseAll(text);
  RETURN_IF_ERROR(parsed.status());
  if (parsed->empty()) return false;
  const json::Value& root = parsed->front();
  if (!root.is_object()) return absl::InvalidArgumentError("not a kubeconfig: not a mapping");
  if (const auto kind = root["kind"].AsString("Config"); kind != "Config") {
    return absl::InvalidArgumentError(absl::StrCat("not a kubeconfig: kind is \"", kind, "\""));
  }
  if (current_context_.empty()) current_context_ = root["current-context"].ToString();
  RETURN_IF_ERROR(MergeSection(root["clusters"], "cluster", directory, clusters_));
  RETURN_IF_ERROR(MergeSection(root["users"], "user", directory, users_));
  RETURN_IF_ERROR(MergeSection(root["contexts"], "context", directory, contexts_));
  return true;
}

absl::StatusOr<ConnectionConfig> KubeconfigEntries::Resolve(const std::string& context) const {
  const std::string& name = context.empty() ? current_context_ : context;
  if (name.empty()) return absl::InvalidArgumentError("current-context is not set");
  const auto found = contexts_.find(name);
  if (found == contexts_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("context \"", name, "\" does not exist"));
  }
  const std::string cluster_name = found->second.value["cluster"].ToString();
  const auto cluster = clusters_.find(cluster_name);
  if (cluster == clusters_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("context \"", name, "\": cluster \"", cluster_name, "\" does not exist"));
  }
  ConnectionConfig config;
  config.default_namespace = found->second.value["namespace"].ToString();
  RETURN_IF_ERROR(base::Annotate(ApplyCluster(cluster->second, config), "context \"", name,
                                 "\": cluster \"", cluster_name, "\""));
  config.ca_origin = absl::StrCat("cluster \"", cluster_name, "\", ", config.ca_origin);
  const std::string user_name = found->second.value["user"].ToString();
  if (user_name.empty()) return config;  // A context may be anonymous, as kubectl allows.
  const auto user = users_.find(user_name);
  if (user == users_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("context \"", name, "\": user \"", user_name, "\" does not exist"));
  }
  RETURN_IF_ERROR(base::Annotate(ApplyUser(user->second, config), "context \"", name, "\": user \"",
                                 user_name, "\""));
  config.client_certificate_origin =
      absl::StrCat("user \"", user_name, "\", ", config.client_certificate_origin);
  if (config.exec != nullptr) {
    for (const json::Value& extension : cluster->second.value["extensions"].items()) {
      // It is the cluster's, but for the user's plugin.
      if (extension["name"].AsString() != "client.authentication.k8s.io/exec") continue;
      config.exec->cluster_config = extension["extension"];
    }
  }
  return config;
}

absl::StatusOr<ConnectionConfig> ParseKubeconfig(absl::string_view text,
                                                 const std::string& directory,
                                                 const std::string& context) {
  KubeconfigEntries entries;
  RETURN_IF_ERROR(entries.Merge(text, directory).status());
  return entries.Resolve(context);
}

absl::StatusOr<ConnectionConfig> LoadConnectionConfigFrom(const KubeconfigOptions& options,
                                                          const ConfigEnvironment& environment) {
  if (!options.path.empty()) return LoadFile(options.path, options.context);
  const std::string list = environment.variable("KUBECONFIG");
  if (!list.empty()) return LoadList(list, options.context);
  if (IsInPod(environment)) return InCluster(environment);
  const std::string path = DefaultPath(environment);
  auto config = LoadFile(path, options.context);
  if (absl::IsNotFound(config.status())) {
    return absl::NotFoundError(absl::StrCat(
        "no kubeconfig: neither --kubeconfig nor $KUBECONFIG is set, this is not a pod, and ", path,
        " does not exist"));
  }
  return config;
}

absl::StatusOr<std::string> CurrentContextFrom(const KubeconfigOptions& options,
                                               const ConfigEnvironment& environment) {
  const std::string list = options.path.empty() ? environment.variable("KUBECONFIG") : "";
  const bool is_default = options.path.empty() && list.empty();
  if (is_default && IsInPod(environment)) return "";
  if (!options.context.empty()) return options.context;
  const std::string path = is_default ? DefaultPath(environment) : options.path;
  ASSIGN_OR_RETURN(const KubeconfigEntries entries,
                   list.empty() ? EntriesOfFile(path) : EntriesOfList(list));
  return entries.current_context();
}

absl::StatusOr<ConnectionConfig> LoadConnectionConfig(const KubeconfigOptions& options) {
  return LoadConnectionConfigFrom(options, OwnEnvironment());
}

absl::StatusOr<std::string> CurrentContext(const KubeconfigOptions& options) {
  return CurrentContextFrom(options, OwnEnvironment());
}

std::string OriginOfConnection() {
  const ConfigEnvironment environment = OwnEnvironment();
  const std::string list = environment.variable("KUBECONFIG");
  if (!list.empty()) return absl::StrCat("$KUBECONFIG (", list, ")");
  return IsInPod(environment) ? "" : DefaultPath(environment);
}

}  // namespace kube
