// Prepares once what all requests to a server have in common: its endpoint, its proxy, headers and
// credentials. Credentials can change while connections are open: the pool of connections belongs
// to one client certificate, and is replaced with it (mu_ guards the present pool and its
// certificate). Connections of the older pool are closed when the requests on them have ended.

#include "kube/http/internal/server_access.h"

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/http/internal/connection_pool.h"

namespace kube {
namespace {

// Returns the host as in URLs: without the port that the scheme implies.
std::string HostHeaderOf(const Endpoint& server) {
  const bool usual = server.port == (server.scheme == "https" ? 443 : 80);
  std::string authority = server.Authority();
  if (usual) authority.resize(authority.rfind(':'));
  return authority;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ServerAccess>> ServerAccess::Create(
    const ConnectionConfig& config, std::shared_ptr<EventLoop> loop) {
  auto server = std::make_shared<ServerAccess>();
  server->url_ = WithoutUserInfo(config.server);
  server->urgent_ = config.urgent;
  server->max_answer_bytes_ = config.max_answer_bytes;
  ASSIGN_OR_RETURN(server->endpoint_, ParseEndpoint(config.server, "server"));
  const Endpoint& endpoint = server->endpoint_;
  if (endpoint.scheme != "https" && endpoint.scheme != "http") {
    return absl::InvalidArgumentError("server: the URL is not an http:// or https:// one");
  }
  server->verified_name_ = config.tls_server_name.empty() ? endpoint.host : config.tls_server_name;
  ASSIGN_OR_RETURN(server->proxy_, ProxySettingsOf(config));
  if (server->proxy_.kind == ProxySettings::Kind::kHttps) {
    ASSIGN_OR_RETURN(const auto system_roots, tls::ClientCredentials::Create({}));
    ASSIGN_OR_RETURN(server->proxy_tls_, TlsClient::Create(system_roots, server->proxy_.host));
  }
  ASSIGN_OR_RETURN(server->credentials_, CredentialSource::Create(config, base::RealClock()));
  // An HTTP proxy gets plain requests itself, with the whole URL instead of the path, and its
  // credentials in each.
  const bool forwarded = endpoint.scheme == "http" &&
                         server->proxy_.kind != ProxySettings::Kind::kNone &&
                         server->proxy_.kind != ProxySettings::Kind::kSocks5;
  const std::string host = HostHeaderOf(endpoint);
  server->prefix_ = absl::StrCat(forwarded ? absl::StrCat("http://", host) : "", endpoint.path);
  server->headers_ = ImpersonationHeaders(config);
  server->headers_.emplace_back("Host", host);
  const std::string authorization = server->proxy_.Authorization();
  if (forwarded && !authorization.empty()) {
    server->headers_.emplace_back("Proxy-Authorization", authorization);
  }
  server->loop_ = std::move(loop);
  return server;
}

absl::StatusOr<std::shared_ptr<const Route>> ServerAccess::RouteFor(
    const Credentials& credentials) const {
  auto route = std::make_shared<Route>();
  route->server = endpoint_;
  route->proxy = proxy_;
  route->proxy_tls = proxy_tls_;
  route->urgent = urgent_;
  if (endpoint_.scheme == "https") {
    ASSIGN_OR_RETURN(route->tls, TlsClient::Create(credentials.tls, verified_name_));
  }
  return route;
}

absl::StatusOr<Peer> ServerAccess::PeerFor(const Credentials& credentials) {
  absl::MutexLock lock(&mu_);
  if (identity_ == credentials.tls) return peer_;
  // Connections with an older certificate are not used again.
  ASSIGN_OR_RETURN(auto route, RouteFor(credentials));
  peer_ = {std::move(route), std::make_shared<ConnectionPool>(loop_)};
  identity_ = credentials.tls;
  return peer_;
}

absl::StatusOr<std::string> ServerAccess::TextOf(const HttpRequest& request,
                                                 const Credentials& credentials) const {
  RequestText text{.method = request.method, .target = request.path, .body = request.body};
  text.headers.emplace_back("Accept", request.accept);
  if (!request.if_none_match.empty()) {
    text.headers.emplace_back("If-None-Match", request.if_none_match);
  }
  if (!request.user_agent.empty()) text.headers.emplace_back("User-Agent", request.user_agent);
  if (!request.body.empty()) text.headers.emplace_back("Content-Type", request.content_type);
  return TextOf(std::move(text), credentials);
}

absl::StatusOr<std::string> ServerAccess::TextOf(RequestText request,
                                                 const Credentials& credentials) const {
  const std::string path = std::exchange(request.target, absl::StrCat(prefix_, request.target));
  request.headers.insert(request.headers.begin(), headers_.begin(), headers_.end());
  if (!credentials.authorization.empty()) {
    request.headers.emplace_back("Authorization", credentials.authorization);
  }
  const absl::Status usable = CheckRequest(request);
  if (!usable.ok()) return base::Annotate(usable, "request for ", path);
  return WriteRequest(request);
}

}  // namespace kube
