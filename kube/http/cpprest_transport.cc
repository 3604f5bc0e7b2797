// Send takes credentials, sends, and after a 401 rejects them and sends once more if the source
// then has others. A request that met a kept connection which the server had closed is sent again.
// Open starts a stream on the library's pool at once when fresh credentials are at hand; otherwise
// an errand gets them first, and closing the stream ends that wait. Connections are made in lanes,
// one for calls and one for streams. A change of the certificate replaces both lanes under mu_;
// what is under way keeps the old ones.

#include <cpprest/http_client.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/http/internal/answer_meter.h"
#include "kube/http/internal/cpprest_exchange.h"
#include "kube/http/internal/endpoint.h"
#include "kube/http/internal/errands.h"
#include "kube/http/internal/proxy.h"
#include "kube/http/internal/stream_delivery.h"
#include "kube/kubeconfig/credentials.h"

namespace kube {
namespace {

using web::http::client::http_client;
using web::http::client::http_client_config;

// The library's inactivity timers. Calls and streams have shorter limits of their own; these end
// what those cannot reach, such as a proxy that never answers.
constexpr auto kUnarySilence = std::chrono::seconds(120);
constexpr auto kStreamSilence = std::chrono::minutes(10);
// A pool may hold several connections that the server closed at the same time.
constexpr int kMaxResends = 4;
// The library reads a whole head, or chunk, into memory before it passes any of it on. Where the
// configuration sets no limit, a call over TLS is cut off at this size: more than the largest body
// that requests allow by default, and its head.
constexpr size_t kMaxReceived = 72 << 20;

// The reason why a server certificate was refused last; the library reports only that it was.
class Verdict {
 public:
  void Set(std::string text) {
    absl::MutexLock lock(&mu_);
    text_ = std::move(text);
  }
  std::string Get() const {
    absl::MutexLock lock(&mu_);
    return text_;
  }

 private:
  mutable absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
};

// Replaces OpenSSL's verification of a chain; `verdict` is the Verdict to fill.
int VerifyAndExplain(X509_STORE_CTX* chain, void* verdict) {
  const int ok = X509_verify_cert(chain);
  if (ok > 0) return ok;
  const int error = X509_STORE_CTX_get_error(chain);
  // The library also checks the name, in a callback that gives no reason.
  const bool by_name = error == X509_V_OK || error == X509_V_ERR_UNSPECIFIED ||
                       error == X509_V_ERR_HOSTNAME_MISMATCH ||
                       error == X509_V_ERR_IP_ADDRESS_MISMATCH;
  static_cast<Verdict*>(verdict)->Set(by_name ? "it is not valid for this host name"
                                              : X509_verify_cert_error_string(error));
  return ok;
}

// Returns the URL as the library needs it. It passes the host to the resolver unchanged, so an IPv6
// address has no brackets; its parser still finds the port after the last colon.
absl::StatusOr<web::uri> LibraryUri(const Endpoint& endpoint, absl::string_view what) {
  try {
    return web::uri(
        absl::StrCat(endpoint.scheme, "://", endpoint.host, ":", endpoint.port, endpoint.path));
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the URL is unusable: ", e.what()));
  }
}

// Returns the credentials of a header "Proxy-Authorization: Basic ...", the only such header that
// the library sends; nullopt for any other.
std::optional<web::credentials> CredentialsOf(const std::string& name, const std::string& value) {
  std::string decoded;
  absl::string_view basic = value;
  if (!absl::EqualsIgnoreCase(name, "Proxy-Authorization") ||
      !absl::ConsumePrefix(&basic, "Basic ") || !absl::Base64Unescape(basic, &decoded)) {
    return std::nullopt;
  }
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(decoded, absl::MaxSplits(':', 1));
  return web::credentials(parts.first, parts.second);
}

absl::StatusOr<web::web_proxy> LibraryProxy(const ProxySettings& proxy) {
  if (proxy.kind == ProxySettings::Kind::kNone) return web::web_proxy();
  const Endpoint endpoint{.scheme = "http", .host = proxy.host, .port = proxy.port};
  ASSIGN_OR_RETURN(const web::uri uri, LibraryUri(endpoint, "proxy"));
  web::web_proxy out(uri);
  for (const auto& [name, value] : proxy.headers) out.set_credentials(*CredentialsOf(name, value));
  if (!proxy.username.empty()) {
    out.set_credentials(web::credentials(proxy.username, proxy.password));
  }
  return out;
}

// Returns whether the library can serve the configuration. It knows http:// proxies with Basic
// credentials, and keeps one value for each name of a header.
absl::StatusOr<bool> IsServed(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(const ProxySettings proxy, ProxySettingsOf(config));
  const bool known_kind =
      proxy.kind == ProxySettings::Kind::kNone || proxy.kind == ProxySettings::Kind::kHttp;
  const bool known_headers = std::all_of(
      proxy.headers.begin(), proxy.headers.end(),
      [](const auto& header) { return CredentialsOf(header.first, header.second).has_value(); });
  return known_kind && known_headers && config.impersonate_groups.size() <= 1 &&
         config.impersonate_extra.empty();
}

class CpprestTransport : public Transport, public std::enable_shared_from_this<CpprestTransport> {
 public:
  static absl::StatusOr<std::shared_ptr<Transport>> Create(const ConnectionConfig& config);

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override;
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override;
  bool ReplaceToken(const std::string& token) override { return credentials_->ReplaceToken(token); }

 private:
  // Connections with the same TLS credentials. Watches keep theirs for minutes; with separate lanes
  // they do not disturb the reuse of the others.
  struct Lanes {
    std::shared_ptr<const tls::ClientCredentials> tls;
    std::shared_ptr<http_client> unary, streams;
  };

  CpprestTransport(const ConnectionConfig& config, const Endpoint& endpoint, const web::uri& uri,
                   std::unique_ptr<CredentialSource> credentials);
  http_client_config ClientConfig(const std::shared_ptr<const tls::ClientCredentials>& tls,
                                  size_t max_received) const;
  Lanes LanesFor(const Credentials& credentials);
  absl::StatusOr<web::http::http_request> MakeRequest(const HttpRequest& request,
                                                      const Credentials& credentials) const;
  absl::StatusOr<HttpResponse> SendOnce(const HttpRequest& request, const Credentials& credentials,
                                        base::SteadyTime deadline, const base::StopToken& stop);
  std::function<std::string()> VerdictReader() const;
  absl::Status Explain(const absl::Status& status) const;
  absl::Status StartStream(const HttpRequest& request, const CredentialsPtr& credentials,
                           const std::shared_ptr<CpprestStream>& exchange);

  const std::string server_;  // The server's URL, for messages.
  const Endpoint endpoint_;
  const web::uri uri_;
  const std::string host_header_;  // "" leaves the library's header.
  // The impersonation headers.
  const std::vector<std::pair<std::string, std::string>> impersonation_;
  const bool verify_;
  const size_t max_answer_bytes_;
  web::web_proxy proxy_;  // Set once, before the first request.
  const std::shared_ptr<Verdict> verdict_ = std::make_shared<Verdict>();
  // Shared with the callbacks of streams, which may outlive this object by a moment.
  const std::shared_ptr<CredentialSource> credentials_;
  absl::Mutex mu_;
  Lanes lanes_ ABSL_GUARDED_BY(mu_);
};

class StreamHandle : public HttpStream {
 public:
  StreamHandle(std::shared_ptr<CpprestStream> exchange, base::StopSource stop)
      : exchange_(std::move(exchange)), stop_(std::move(stop)) {}
  ~StreamHandle() override {
    stop_.request_stop();
    exchange_->Close();
  }

 private:
  const std::shared_ptr<CpprestStream> exchange_;
  base::StopSource stop_;  // Ends a wait for credentials.
};

CpprestTransport::CpprestTransport(const ConnectionConfig& config, const Endpoint& endpoint,
                                   const web::uri& uri,
                                   std::unique_ptr<CredentialSource> credentials)
    : server_(WithoutUserInfo(config.server)),
      endpoint_(endpoint),
      uri_(uri),
      // If this header is set, the library checks the certificate against it.
      host_header_(endpoint.scheme == "https" ? config.tls_server_name : ""),
      impersonation_(ImpersonationHeaders(config)),
      verify_(!config.insecure_skip_tls_verify),
      max_answer_bytes_(config.max_answer_bytes),
      credentials_(std::move(credentials)) {}

absl::StatusOr<std::shared_ptr<Transport>> CpprestTransport::Create(
    const ConnectionConfig& config) {
  InitializeHttp();
  ASSIGN_OR_RETURN(auto credentials, CredentialSource::Create(config, base::RealClock()));
  ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(config.server, "server"));
  ASSIGN_OR_RETURN(const web::uri uri, LibraryUri(endpoint, "server"));
  ASSIGN_OR_RETURN(const ProxySettings proxy, ProxySettingsOf(config));
  std::shared_ptr<CpprestTransport> transport(
      new CpprestTransport(config, endpoint, uri, std::move(credentials)));
  ASSIGN_OR_RETURN(transport->proxy_, LibraryProxy(proxy));
  return transport;
}

http_client_config CpprestTransport::ClientConfig(
    const std::shared_ptr<const tls::ClientCredentials>& tls, size_t max_received) const {
  http_client_config config;
  config.set_max_redirects(0);
  config.set_validate_certificates(verify_);
  // SNI does not allow IP addresses.
  if (host_header_.empty() && endpoint_.is_ip_address()) config.set_tlsext_sni_enabled(false);
  const std::string name = host_header_.empty() ? endpoint_.host : host_header_;
  config.set_proxy(proxy_);
  config.set_ssl_context_callback(
      [tls, name, verdict = verdict_, max = max_received](boost::asio::ssl::context& context) {
        absl::Status applied = tls->Apply(context.native_handle());
        // The library's own check also accepts a name in a certificate's subject.
        applied.Update(tls::RequireServerName(context.native_handle(), name));
        if (!applied.ok()) throw std::runtime_error(applied.ToString());
        if (max > 0) LimitAnswers(context.native_handle(), max);
        SSL_CTX_set_cert_verify_callback(context.native_handle(), &VerifyAndExplain, verdict.get());
      });
  return config;
}

CpprestTransport::Lanes CpprestTransport::LanesFor(const Credentials& credentials) {
  absl::MutexLock lock(&mu_);
  if (lanes_.tls == credentials.tls) return lanes_;
  // Connections with an older certificate are not used again.
  lanes_.tls = credentials.tls;
  http_client_config config =
      ClientConfig(credentials.tls, max_answer_bytes_ > 0 ? max_answer_bytes_ : kMaxReceived);
  config.set_timeout(kUnarySilence);
  lanes_.unary = std::make_shared<http_client>(uri_, config);
  config = ClientConfig(credentials.tls, max_answer_bytes_);
  config.set_timeout(kStreamSilence);
  lanes_.streams = std::make_shared<http_client>(uri_, config);
  return lanes_;
}

absl::StatusOr<web::http::http_request> CpprestTransport::MakeRequest(
    const HttpRequest& request, const Credentials& credentials) const {
  try {
    web::http::http_request out(request.method);
    out.set_request_uri(web::uri(request.path));
    auto& headers = out.headers();
    headers.add("Accept", request.accept);
    if (!request.if_none_match.empty()) headers.add("If-None-Match", request.if_none_match);
    if (!request.user_agent.empty()) headers.add("User-Agent", request.user_agent);
    if (!credentials.authorization.empty()) {
      headers.add("Authorization", credentials.authorization);
    }
    for (const auto& [name, value] : impersonation_) headers.add(name, value);
    if (!host_header_.empty()) headers.add("Host", host_header_);
    if (!request.body.empty()) out.set_body(std::string(request.body), request.content_type);
    return out;
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("request for ", request.path, ": ", e.what()));
  }
}

std::function<std::string()> CpprestTransport::VerdictReader() const {
  return [verdict = verdict_] { return verdict->Get(); };
}

absl::Status CpprestTransport::Explain(const absl::Status& status) const {
  return base::Annotate(status, server_);
}

absl::StatusOr<HttpResponse> CpprestTransport::SendOnce(const HttpRequest& request,
                                                        const Credentials& credentials,
                                                        base::SteadyTime deadline,
                                                        const base::StopToken& stop) {
  for (int sent = 1;; ++sent) {
    ASSIGN_OR_RETURN(web::http::http_request message, MakeRequest(request, credentials));
    const auto exchange = std::make_shared<UnaryExchange>(request.max_answer_bytes);
    exchange->Start(*LanesFor(credentials).unary, std::move(message), VerdictReader());
    auto answer = exchange->Await(deadline, stop);
    // The request was written into a kept connection that the server had closed; the library itself
    // sends again only when it notices that while reading.
    const bool stale = WasNotProcessed(answer.status()) &&
                       absl::StrContains(answer.status().message(), "before the request was sent");
    if (!stale || sent > kMaxResends) return answer;
  }
}

absl::StatusOr<HttpResponse> CpprestTransport::Send(const HttpRequest& request,
                                                    const base::StopToken& stop) {
  if (StreamDelivery::InCallback()) {
    return absl::InternalError("a blocking call inside a stream's callback would never end");
  }
  const base::SteadyTime deadline = base::RealClock().SteadyNow() + request.timeout;
  ASSIGN_OR_RETURN(const CredentialsPtr first, credentials_->Get(deadline, stop));
  auto answer = SendOnce(request, *first, deadline, stop);
  if (!answer.ok()) return Explain(answer.status());
  if (answer->code != 401) return answer;
  credentials_->Reject(first);
  ASSIGN_OR_RETURN(const CredentialsPtr second, credentials_->Get(deadline, stop));
  if (second == first) return answer;
  answer = SendOnce(request, *second, deadline, stop);
  if (!answer.ok()) return Explain(answer.status());
  if (answer->code == 401) credentials_->Reject(second);
  return answer;
}

absl::Status CpprestTransport::StartStream(const HttpRequest& request,
                                           const CredentialsPtr& credentials,
                                           const std::shared_ptr<CpprestStream>& exchange) {
  ASSIGN_OR_RETURN(web::http::http_request message, MakeRequest(request, *credentials));
  // Posted to the pool, so that no callback can come before Open() has returned.
  PostToPool(
      [exchange, message, client = LanesFor(*credentials).streams, verdict = VerdictReader()] {
        exchange->StartTimer();
        exchange->Start(*client, message, verdict);
      });
  return absl::OkStatus();
}

std::unique_ptr<HttpStream> CpprestTransport::Open(const HttpRequest& request,
                                                   StreamCallbacks callbacks) {
  const auto used = std::make_shared<CredentialsPtr>();  // Set before the first callback.
  callbacks.on_head = [source = credentials_, used,
                       on_head = std::move(callbacks.on_head)](const HttpResponse& head) {
    if (head.code == 401) source->Reject(*used);
    on_head(head);
  };
  callbacks.on_end = [server = server_, on_end = std::move(callbacks.on_end)](absl::Status status) {
    on_end(base::Annotate(status, server));
  };
  const auto exchange = std::make_shared<CpprestStream>(std::move(callbacks), request.timeout);
  const auto start = [self = shared_from_this(), used, request,
                      exchange](absl::StatusOr<CredentialsPtr> given) {
    if (given.ok()) *used = *given;
    const absl::Status started =
        given.ok() ? self->StartStream(request, *given, exchange) : given.status();
    if (!started.ok()) PostToPool([exchange, started] { exchange->OnEnd(started); });
  };
  base::StopSource stop;
  if (CredentialsPtr fresh = credentials_->GetIfFresh(); fresh != nullptr) {
    start(std::move(fresh));
  } else {
    CredentialErrands().Run(
        {.name = server_},
        [source = credentials_, start, timeout = request.timeout, token = stop.get_token()] {
          start(source->Get(base::RealClock().SteadyNow() + timeout, token));
        });
  }
  return std::make_unique<StreamHandle>(exchange, std::move(stop));
}

}  // namespace

void InitializeHttp(int threads) {
  static std::once_flag once;
  std::call_once(once, [threads] {
    try {
      crossplat::threadpool::initialize_with_threads(threads);
    } catch (const std::exception&) {
      // Other code in this process uses the library already; its pool serves us as well.
    }
  });
}

int FinishHttp(int exit_code, absl::Duration patience) {
  const base::SteadyTime deadline = base::RealClock().SteadyNow() + patience;
  const bool no_errand = AwaitNoErrand(patience);
  if (AwaitNoExchange(deadline) && no_errand) return exit_code;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(exit_code);
}

absl::StatusOr<std::shared_ptr<Transport>> NewCpprestTransport(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(const bool served, IsServed(config));
  return served ? CpprestTransport::Create(config) : NewHttpTransport(config);
}

}  // namespace kube
