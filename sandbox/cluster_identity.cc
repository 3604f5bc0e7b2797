#include "sandbox/cluster_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/signing_request.h"
#include "base/json.h"
#include "base/status.h"
#include "base/yaml.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

absl::Status FileError(const std::string& what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

absl::Status WriteAll(int fd, const std::string& path, absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t n = write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("writing", path);
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

json::Value Named(absl::string_view field, const std::string& name, json::Value value) {
  return json::Value::Object({{"name", name}, {field, std::move(value)}});
}

struct ServerAddress {
  std::string name;
  std::string url;
  std::string ca_pem;
};

json::Value Credentials(const tls::KeyPair& certificate) {
  return json::Value::Object({{"client-certificate-data", absl::Base64Escape(certificate.cert_pem)},
                              {"client-key-data", absl::Base64Escape(certificate.key_pem)}});
}

// Returns a kubeconfig with one context, which has the name of the server.
std::string Kubeconfig(const ServerAddress& server, const std::string& user,
                       const json::Value& credentials) {
  const json::Value cluster = json::Value::Object(
      {{"server", server.url}, {"certificate-authority-data", absl::Base64Escape(server.ca_pem)}});
  const json::Value context = json::Value::Object({{"cluster", server.name}, {"user", user}});
  return yaml::Write(json::Value::Object(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"current-context", server.name},
       {"clusters", json::Value::Array({Named("cluster", server.name, cluster)})},
       {"users", json::Value::Array({Named("user", user, credentials)})},
       {"contexts", json::Value::Array({Named("context", server.name, context)})}}));
}

}  // namespace

absl::StatusOr<ClusterIdentity> MakeIdentity(const std::string& cluster) {
  ClusterIdentity identity;
  ASSIGN_OR_RETURN(identity.authority, tls::CertificateAuthority::Create(cluster + "-ca"));
  tls::CertificateAuthority& ca = *identity.authority;
  identity.ca_pem = ca.cert_pem();
  tls::CertificateAuthority::LeafOptions server;
  server.common_name = cluster;
  server.dns_names = {"localhost", cluster};
  server.ip_addresses = {"127.0.0.1", "::1"};
  ASSIGN_OR_RETURN(identity.server, ca.Issue(server));
  tls::CertificateAuthority::LeafOptions admin;
  admin.common_name = kAdministrator;
  admin.organizations = {"system:masters"};
  ASSIGN_OR_RETURN(identity.admin, ca.Issue(admin));
  return identity;
}

absl::StatusOr<std::string> AgentKubeconfig(const std::string& plane, const std::string& url,
                                            const ClusterIdentity& identity,
                                            const std::string& member) {
  tls::CertificateAuthority::LeafOptions agent;
  agent.common_name = absl::StrCat(api::kAgentUserPrefix, member);
  agent.organizations = {api::kAgentGroup};
  ASSIGN_OR_RETURN(const tls::KeyPair certificate, identity.authority->Issue(agent));
  return Kubeconfig({plane, url, identity.ca_pem}, agent.common_name, Credentials(certificate));
}

std::string AdminKubeconfig(const std::string& cluster, const std::string& url,
                            const ClusterIdentity& identity) {
  const json::Value credentials = identity.admin_token.empty()
                                      ? Credentials(identity.admin)
                                      : json::Value::Object({{"token", identity.admin_token}});
  return Kubeconfig({cluster, url, identity.ca_pem}, cluster + "-admin", credentials);
}

absl::Status WritePrivateFile(const std::string& path, const std::string& contents) {
  const std::string temporary = path + ".new";
  unlink(temporary.c_str());  // It may be left from a crash, with other permissions.
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return FileError("creating", temporary);
  const absl::Status written = WriteAll(fd, temporary, contents);
  close(fd);
  RETURN_IF_ERROR(written);
  if (rename(temporary.c_str(), path.c_str()) != 0) return FileError("renaming to", path);
  return absl::OkStatus();
}

}  // namespace sandbox
