// An aggregated API server on a real socket with TLS, and clients of it.
#ifndef TESTS_KUBE_AGGREGATION_AGGREGATED_SERVER_H_
#define TESTS_KUBE_AGGREGATION_AGGREGATED_SERVER_H_

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/snapshot.h"
#include "base/tls.h"
#include "kube/aggregation/handler_chain.h"
#include "tests/base/raw_client.h"
#include "tests/kube/aggregation/review_server.h"

namespace tests {

inline std::unique_ptr<tls::CertificateAuthority> NewAuthority(const std::string& name) {
  auto authority = tls::CertificateAuthority::Create(name);
  REQUIRE(authority.ok());
  return std::move(*authority);
}

inline std::shared_ptr<const tls::ClientAuthority> Trust(const tls::CertificateAuthority& of) {
  auto authority = tls::ClientAuthority::Create(of.cert_pem());
  REQUIRE(authority.ok());
  return *authority;
}

// Answers with the user and the header fields that it gets.
class EchoingHandler : public kube::aggregation::ApiHandler {
 public:
  using ApiRequest = kube::aggregation::ApiRequest;
  using Handling = std::function<void(ApiRequest, std::shared_ptr<base::HttpResponder>)>;

  bool MayBlock(const ApiRequest&) const override { return may_block; }
  void Handle(ApiRequest request, std::shared_ptr<base::HttpResponder> responder) override {
    if (handling) return handling(std::move(request), std::move(responder));
    json::Value fields = json::Value::Object();
    for (const auto& [name, value] : request.http.headers) fields.Set(name, value);
    for (const auto& [name, value] : request.http.fields) fields.Set("field " + name, value);
    const json::Value body = json::Value::Object(
        {{"user", kube::aggregation::UserJson(request.user, "name")}, {"fields", fields}});
    responder->Send({.body = json::Write(body)});
  }

  bool may_block = true;
  Handling handling;  // Set it before the first request.
};

struct Answer {
  int code = 0;
  std::map<std::string, std::string> headers;
  std::string text;
  json::Value body;

  std::string user() const { return body["user"]["name"].ToString(); }
  std::string groups() const { return json::Write(body["user"]["groups"]); }
  std::string message() const { return body["message"].ToString(); }
};

// The reviews' answers are set by `reviews`; everything may be done unless a test says otherwise.
class AggregatedServer {
 public:
  using Options = kube::aggregation::HandlerChain::Options;

  std::unique_ptr<tls::CertificateAuthority> clients = NewAuthority("clients");
  std::unique_ptr<tls::CertificateAuthority> proxies = NewAuthority("proxies");
  std::unique_ptr<tls::CertificateAuthority> servers = NewAuthority("servers");
  std::shared_ptr<ReviewServer> reviews = std::make_shared<ReviewServer>();
  EchoingHandler handler;
  metrics::Registry registry;
  kube::aggregation::AuditLog* audit = nullptr;

  ~AggregatedServer() { Stop(); }

  void Stop() {
    if (server_ != nullptr) server_->Stop();
    if (review_client_ != nullptr) review_client_->Stop();
    chain_.reset();
    server_.reset();
  }

  // Believes these authorities from now on.
  void Believe(const tls::CertificateAuthority* of_clients,
               const tls::CertificateAuthority* of_proxies) {
    auto config = std::make_shared<kube::aggregation::AuthenticationConfig>();
    if (of_clients != nullptr) config->clients = Trust(*of_clients);
    if (of_proxies != nullptr) {
      config->front_proxies = kube::aggregation::FrontProxies{
          Trust(*of_proxies),
          {"front-proxy-client"},
          {{"x-remote-user"}, {"x-remote-uid"}, {"x-remote-group"}, {"x-remote-extra-"}}};
    }
    config_.Set(std::move(config));
  }

  void Start(Options options = {}, const base::Clock& clock = base::RealClock()) {
    namespace agg = kube::aggregation;
    if (config_.Get() == nullptr) Believe(clients.get(), proxies.get());
    const auto config = [this] { return config_.Get(); };
    review_client_ = std::make_unique<agg::ReviewClient>(agg::ReviewClient::Options{}, reviews,
                                                         clock, &registry);
    authenticator_ = std::make_unique<agg::DelegatedAuthenticator>(
        agg::DelegatedAuthenticator::Options{}, config, review_client_.get(), clock);
    authorizer_ = std::make_unique<agg::DelegatedAuthorizer>(agg::DelegatedAuthorizer::Options{},
                                                             *review_client_, clock);
    chain_ = std::make_unique<agg::HandlerChain>(
        std::move(options), agg::HandlerChain::Parts{.authenticator = *authenticator_,
                                                     .authorizer = *authorizer_,
                                                     .handler = handler,
                                                     .config = config,
                                                     .audit = audit,
                                                     .registry = &registry,
                                                     .clock = clock});
    base::HttpServerOptions http;
    http.tls = tls::ServerOptions{.server = Issue(*servers, {.dns_names = {"localhost"}}),
                                  .any_client_certificate = true};
    auto server = base::HttpServer::Start(std::move(http), chain_->Handler());
    INFO(server.status().ToString());
    REQUIRE(server.ok());
    server_ = std::move(*server);
  }

  static tls::KeyPair Issue(tls::CertificateAuthority& authority,
                            const tls::CertificateAuthority::LeafOptions& options) {
    const auto pair = authority.Issue(options);
    REQUIRE(pair.ok());
    return *pair;
  }
  tls::KeyPair ProxyPair() { return Issue(*proxies, {.common_name = "front-proxy-client"}); }
  tls::KeyPair ClientPair(const std::string& name) {
    return Issue(*clients, {.common_name = name, .organizations = {"team"}});
  }

  std::unique_ptr<TlsRawClient> Connect(const tls::KeyPair& pair = {}) {
    const auto credentials =
        tls::ClientCredentials::Create({.ca_pem = servers->cert_pem(), .client = pair});
    REQUIRE(credentials.ok());
    auto client = std::make_unique<TlsRawClient>(server_->port(), **credentials);
    REQUIRE(client->secure());
    return client;
  }

  // Asks over an open connection. `fields` are lines with their ends.
  static Answer Ask(RawClient& client, const std::string& fields = "",
                    const std::string& target = "/api/v1/namespaces/a/pods/web",
                    const std::string& method = "GET") {
    client.Send(
        absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: localhost\r\n", fields, "\r\n"));
    const RawResponse response = client.ReadResponse();
    const auto body = json::Parse(response.body);
    return {response.code, response.headers, response.body, body.ok() ? *body : json::Value()};
  }
  Answer Ask(const tls::KeyPair& pair, const std::string& fields = "") {
    const auto client = Connect(pair);
    return Ask(*client, fields);
  }

  kube::aggregation::HandlerChain& chain() { return *chain_; }
  kube::aggregation::ReviewClient& review_client() { return *review_client_; }
  base::HttpServer& http() { return *server_; }

 private:
  base::Snapshot<kube::aggregation::AuthenticationConfig> config_;
  std::unique_ptr<kube::aggregation::ReviewClient> review_client_;
  std::unique_ptr<kube::aggregation::DelegatedAuthenticator> authenticator_;
  std::unique_ptr<kube::aggregation::DelegatedAuthorizer> authorizer_;
  std::unique_ptr<kube::aggregation::HandlerChain> chain_;
  std::unique_ptr<base::HttpServer> server_;
};

}  // namespace tests

#endif  // TESTS_KUBE_AGGREGATION_AGGREGATED_SERVER_H_
