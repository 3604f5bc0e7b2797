// Serves the webhook over HTTPS. A certificate is made at each start unless one is given; its
// authority is then written into the manifests, so they have to be applied again after a restart
// without --cert-file. Requests are answered on the server's threads: AnswerTo keeps nothing and
// does not wait.

#include "examples/webhook/server.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/pem_files.h"
#include "base/status.h"
#include "base/tls.h"
#include "examples/webhook/messages.h"
#include "kube/meta/selector.h"

namespace example {

namespace {

struct Certificate {
  tls::KeyPair pair;
  std::string ca_pem;
};

bool IsIpAddress(absl::string_view host) {
  return absl::StrContains(host, ':') ||
         host.find_first_not_of("0123456789.") == absl::string_view::npos;
}

absl::StatusOr<Certificate> MakeCertificate(const std::string& host) {
  ASSIGN_OR_RETURN(const auto authority,
                   tls::CertificateAuthority::Create("karmada-webhook-example"));
  tls::CertificateAuthority::LeafOptions leaf = {.common_name = host};
  (IsIpAddress(host) ? leaf.ip_addresses : leaf.dns_names).push_back(host);
  ASSIGN_OR_RETURN(tls::KeyPair pair, authority->Issue(leaf));
  return Certificate{std::move(pair), authority->cert_pem()};
}

absl::StatusOr<Certificate> LoadCertificate(const ServerOptions& options) {
  if (options.certificate_file.empty() && options.key_file.empty()) {
    return MakeCertificate(options.host);
  }
  Certificate loaded;
  if (!options.ca_file.empty()) {
    ASSIGN_OR_RETURN(loaded.ca_pem, tls::ReadCertificates({"--ca-file", options.ca_file}));
  }
  ASSIGN_OR_RETURN(loaded.pair, tls::ReadKeyPair({"--cert-file", options.certificate_file},
                                                 {"--key-file", options.key_file}));
  // A certificate that signs itself vouches for itself.
  if (options.ca_file.empty()) loaded.ca_pem = loaded.pair.cert_pem;
  return loaded;
}

void Log(const base::HttpRequest& request, int code) {
  const json::Value asked = json::Parse(request.body).value_or(json::Value())["request"];
  base::LogInfo("answered", {{"path", request.path},
                             {"operation", asked["operation"].AsString()},
                             {"namespace", asked["namespace"].AsString()},
                             {"name", asked["name"].AsString()},
                             {"code", code}});
}

}  // namespace

absl::StatusOr<RunningServer> StartServer(const ServerOptions& options) {
  if (!IsIpAddress(options.host)) {
    RETURN_IF_ERROR(base::Annotate(kube::ValidateDns1123Subdomain(options.host), "--host \"",
                                   options.host, "\""));
  }
  ASSIGN_OR_RETURN(Certificate certificate, LoadCertificate(options));
  base::HttpServerOptions http = {.address = options.address};
  http.tls = tls::ServerOptions{.server = std::move(certificate.pair)};
  RunningServer running;
  const auto handle = [log = options.log_requests](
                          const base::HttpRequest& request,
                          const std::shared_ptr<base::HttpResponder>& responder) {
    base::HttpResponse response = AnswerTo(request);
    if (log) Log(request, response.code);
    responder->Send(std::move(response));
  };
  ASSIGN_OR_RETURN(running.server, base::HttpServer::Start(std::move(http), handle));
  const bool ipv6 = absl::StrContains(options.host, ':');
  running.url = absl::StrCat("https://", ipv6 ? "[" : "", options.host, ipv6 ? "]" : "", ":",
                             running.server->port());
  running.ca_pem = std::move(certificate.ca_pem);
  return running;
}

absl::StatusOr<std::string> FilledManifests(const std::string& directory,
                                            const RunningServer& running) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(directory, " has no manifests (*.yaml); give --manifests the directory ",
                     "examples/webhook/manifests of the source tree"));
  }
  // Their names begin with numbers where the order of applying matters.
  std::sort(files.begin(), files.end());
  std::string out;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, base::ReadContent(file));
    absl::StrAppend(&out, "---\n", text);
  }
  return absl::StrReplaceAll(
      out, {{"{{url}}", running.url}, {"{{caBundle}}", absl::Base64Escape(running.ca_pem)}});
}

}  // namespace example
