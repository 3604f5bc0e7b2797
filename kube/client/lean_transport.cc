// A Transport over non-blocking sockets, OpenSSL and Beast's parser. Calls run on the thread that
// waits for them, over connections that are kept (unary_call.h); streams share one thread
// (watch_stream.h). Blocking tasks, such as looking up a name or running a credential plugin for a
// stream, run on a few other threads (errands.h).
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/client/http_transport.h"
#include "kube/client/internal/connection_pool.h"
#include "kube/client/internal/credentials.h"
#include "kube/client/internal/endpoint.h"
#include "kube/client/internal/errands.h"
#include "kube/client/internal/event_loop.h"
#include "kube/client/internal/proxy.h"
#include "kube/client/internal/request_text.h"
#include "kube/client/internal/stream_delivery.h"
#include "kube/client/internal/tls_client.h"
#include "kube/client/internal/unary_call.h"
#include "kube/client/internal/watch_stream.h"

namespace kube {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Returns the host as in URLs: without the port that the scheme implies.
std::string HostHeaderOf(const Endpoint& server) {
  const bool usual = server.port == (server.scheme == "https" ? 443 : 80);
  std::string authority = server.Authority();
  if (usual) authority.resize(authority.rfind(':'));
  return authority;
}

// Everything that requests are made of, except the credentials. Shared with streams that wait for
// credentials.
class Server {
 public:
  static absl::StatusOr<std::shared_ptr<Server>> Create(const ConnectionConfig& config);

  CredentialSource& credentials() { return *credentials_; }
  const std::string& url() const { return url_; }
  Errands::Subject subject() const { return {url_, urgent_}; }
  size_t max_answer_bytes() const { return max_answer_bytes_; }
  const std::shared_ptr<EventLoop>& loop() const { return loop_; }

  // Returns the connections that use these credentials' certificate.
  absl::StatusOr<Peer> PeerFor(const Credentials& credentials);
  absl::StatusOr<std::string> TextOf(const HttpRequest& request,
                                     const Credentials& credentials) const;

 private:
  absl::StatusOr<std::shared_ptr<const Route>> RouteFor(const Credentials& credentials) const;

  std::string url_;  // For messages.
  std::string verified_name_;
  bool urgent_ = false;
  size_t max_answer_bytes_ = 0;  // 0: each request sets its limit.
  Endpoint endpoint_;
  ProxySettings proxy_;
  std::shared_ptr<TlsClient> proxy_tls_;
  Headers headers_;  // Headers of every request.
  std::string prefix_;
  std::unique_ptr<CredentialSource> credentials_;
  std::shared_ptr<EventLoop> loop_;
  absl::Mutex mu_;
  std::shared_ptr<const tls::ClientCredentials> identity_
      ABSL_GUARDED_BY(mu_);  // The identity that peer_ uses.
  Peer peer_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<std::shared_ptr<Server>> Server::Create(const ConnectionConfig& config) {
  auto server = std::make_shared<Server>();
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
  server->loop_ = EventLoop::Shared();
  return server;
}

absl::StatusOr<std::shared_ptr<const Route>> Server::RouteFor(
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

absl::StatusOr<Peer> Server::PeerFor(const Credentials& credentials) {
  absl::MutexLock lock(&mu_);
  if (identity_ == credentials.tls) return peer_;
  // Connections with an older certificate are not used again.
  ASSIGN_OR_RETURN(auto route, RouteFor(credentials));
  peer_ = {std::move(route), std::make_shared<ConnectionPool>(loop_)};
  identity_ = credentials.tls;
  return peer_;
}

absl::StatusOr<std::string> Server::TextOf(const HttpRequest& request,
                                           const Credentials& credentials) const {
  RequestText text{.method = request.method,
                   .target = absl::StrCat(prefix_, request.path),
                   .headers = headers_,
                   .body = request.body};
  text.headers.emplace_back("Accept", request.accept);
  if (!request.if_none_match.empty()) {
    text.headers.emplace_back("If-None-Match", request.if_none_match);
  }
  if (!request.user_agent.empty()) text.headers.emplace_back("User-Agent", request.user_agent);
  if (!credentials.authorization.empty()) {
    text.headers.emplace_back("Authorization", credentials.authorization);
  }
  if (!request.body.empty()) text.headers.emplace_back("Content-Type", request.content_type);
  const absl::Status usable = CheckRequest(text);
  if (!usable.ok()) return base::Annotate(usable, "request for ", request.path);
  return WriteRequest(text);
}

class LeanStream : public HttpStream {
 public:
  LeanStream(std::shared_ptr<EventLoop> loop, std::shared_ptr<StreamDelivery> delivery,
             std::shared_ptr<WatchStream> stream, base::StopSource stop)
      : loop_(std::move(loop)),
        delivery_(std::move(delivery)),
        stream_(std::move(stream)),
        stop_(std::move(stop)) {}
  ~LeanStream() override {
    stop_.request_stop();
    delivery_->Close();
    loop_->Post([stream = std::move(stream_)](Reactor& reactor) { stream->Cancel(reactor); });
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<StreamDelivery> delivery_;
  std::shared_ptr<WatchStream> stream_;
  base::StopSource stop_;  // Ends a wait for credentials.
};

class LeanTransport : public Transport {
 public:
  explicit LeanTransport(std::shared_ptr<Server> server) : server_(std::move(server)) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override;
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override;
  bool ReplaceToken(const std::string& token) override {
    return server_->credentials().ReplaceToken(token);
  }

 private:
  absl::StatusOr<HttpResponse> SendOnce(const HttpRequest& request, const Credentials& credentials,
                                        base::SteadyTime deadline, const base::StopToken& stop);
  absl::StatusOr<CredentialsPtr> GetCredentials(base::SteadyTime deadline,
                                                const base::StopToken& stop) {
    return server_->credentials().Get(deadline, stop);
  }

  const std::shared_ptr<Server> server_;
};

absl::StatusOr<HttpResponse> LeanTransport::SendOnce(const HttpRequest& request,
                                                     const Credentials& credentials,
                                                     base::SteadyTime deadline,
                                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Peer peer, server_->PeerFor(credentials));
  ASSIGN_OR_RETURN(const std::string text, server_->TextOf(request, credentials));
  size_t max_bytes = request.max_answer_bytes;
  if (server_->max_answer_bytes() > 0) max_bytes = std::min(max_bytes, server_->max_answer_bytes());
  auto answer = UnaryCall(peer, text, max_bytes, deadline, stop).Run();
  if (!answer.ok()) return base::Annotate(answer.status(), server_->url());
  return answer;
}

absl::StatusOr<HttpResponse> LeanTransport::Send(const HttpRequest& request,
                                                 const base::StopToken& stop) {
  if (StreamDelivery::InCallback()) {
    return absl::InternalError("a blocking call inside a stream's callback would stop all streams");
  }
  const base::SteadyTime deadline = SteadyNow() + request.timeout;
  ASSIGN_OR_RETURN(const CredentialsPtr first, GetCredentials(deadline, stop));
  auto answer = SendOnce(request, *first, deadline, stop);
  if (!answer.ok() || answer->code != 401) return answer;
  server_->credentials().Reject(first);
  ASSIGN_OR_RETURN(const CredentialsPtr second, GetCredentials(deadline, stop));
  if (second == first) return answer;
  answer = SendOnce(request, *second, deadline, stop);
  if (answer.ok() && answer->code == 401) server_->credentials().Reject(second);
  return answer;
}

// Makes the parts of a stream; runs where blocking is allowed unless the credentials are available.
absl::StatusOr<StreamRequest> PrepareStream(Server& server, const HttpRequest& request,
                                            const absl::StatusOr<CredentialsPtr>& credentials) {
  RETURN_IF_ERROR(credentials.status());
  ASSIGN_OR_RETURN(const Peer peer, server.PeerFor(**credentials));
  ASSIGN_OR_RETURN(std::string text, server.TextOf(request, **credentials));
  return StreamRequest{peer.route, std::move(text)};
}

std::unique_ptr<HttpStream> LeanTransport::Open(const HttpRequest& request,
                                                StreamCallbacks callbacks) {
  const auto used = std::make_shared<CredentialsPtr>();  // Set before the first callback.
  callbacks.on_head = [server = server_, used,
                       on_head = std::move(callbacks.on_head)](const HttpResponse& head) {
    if (head.code == 401) server->credentials().Reject(*used);
    on_head(head);
  };
  callbacks.on_end = [url = server_->url(), on_end = std::move(callbacks.on_end)](
                         absl::Status status) { on_end(base::Annotate(status, url)); };
  const auto delivery = std::make_shared<StreamDelivery>(std::move(callbacks));
  const auto stream = std::make_shared<WatchStream>(server_->loop(), delivery, request.timeout);
  base::StopSource stop;
  auto start = [server = server_, stream, used, request](absl::StatusOr<CredentialsPtr> given) {
    if (given.ok()) *used = *given;
    auto prepared = PrepareStream(*server, request, given);
    server->loop()->Post([stream, prepared = std::move(prepared)](Reactor& reactor) {
      stream->Start(reactor, prepared);
    });
  };
  if (CredentialsPtr fresh = server_->credentials().GetIfFresh(); fresh != nullptr) {
    start(std::move(fresh));
  } else {
    CredentialErrands().Run(server_->subject(), [server = server_, start, timeout = request.timeout,
                                                 token = stop.get_token()] {
      start(server->credentials().Get(SteadyNow() + timeout, token));
    });
  }
  return std::make_unique<LeanStream>(server_->loop(), delivery, stream, std::move(stop));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Transport>> NewHttpTransport(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<Server> server, Server::Create(config));
  return std::make_shared<LeanTransport>(std::move(server));
}

}  // namespace kube
