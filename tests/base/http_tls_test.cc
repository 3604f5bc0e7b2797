// The HTTP server behind TLS.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/http_server.h"
#include "base/tls.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::HttpServerOptions;
using tests::RawClient;
using tests::TlsRawClient;
using tls::CertificateAuthority;
using tls::ClientCredentials;

std::unique_ptr<CertificateAuthority> NewAuthority() {
  auto authority = CertificateAuthority::Create("test authority");
  REQUIRE(authority.ok());
  return std::move(*authority);
}

// A server that answers with the client's identity, and clients of it.
class SecureServer {
 public:
  explicit SecureServer(absl::Duration request_timeout = absl::Minutes(1))
      : authority_(NewAuthority()) {
    HttpServerOptions options;
    const auto pair = authority_->Issue(
        {.common_name = "server", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}});
    REQUIRE(pair.ok());
    options.tls = tls::ServerOptions{*pair, authority_->cert_pem()};
    options.request_timeout = request_timeout;
    server_ = tests::StartServer(
        [](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
          const auto& peer = request.peer;
          responder->Send({200,
                           "text/plain",
                           {},
                           peer.common_name + "|" + absl::StrJoin(peer.organizations, ",")});
        },
        options);
  }

  // Returns credentials that trust the server, with a client certificate of `authority` if it is
  // not nullptr.
  std::shared_ptr<const ClientCredentials> Credentials(CertificateAuthority* authority = nullptr) {
    ClientCredentials::Options options;
    options.ca_pem = authority_->cert_pem();
    if (authority != nullptr) {
      const auto pair = authority->Issue(
          {.common_name = "system:admin", .organizations = {"system:masters", "team-ä"}});
      REQUIRE(pair.ok());
      options.client = *pair;
    }
    auto credentials = ClientCredentials::Create(options);
    REQUIRE(credentials.ok());
    return *credentials;
  }

  CertificateAuthority& authority() { return *authority_; }
  int port() const { return server_->port(); }

 private:
  std::unique_ptr<CertificateAuthority> authority_;
  std::unique_ptr<base::HttpServer> server_;
};

TEST_CASE("a client certificate shows the handler who asks, for every request") {
  SecureServer server;
  TlsRawClient client(server.port(), *server.Credentials(&server.authority()));
  REQUIRE(client.secure());
  CHECK(client.Get("/").body == "system:admin|system:masters,team-ä");
  CHECK(client.Get("/").body == "system:admin|system:masters,team-ä");
}

TEST_CASE("a client without certificate is served without identity") {
  SecureServer server;
  TlsRawClient client(server.port(), *server.Credentials());
  REQUIRE(client.secure());
  CHECK(client.Get("/").body == "|");
}

TEST_CASE("a certificate of an authority that is not trusted is refused") {
  SecureServer server;
  const auto stranger = NewAuthority();
  TlsRawClient client(server.port(), *server.Credentials(stranger.get()));
  CHECK(client.Get("/").code == 0);
}

TEST_CASE("large bodies pass both ways") {
  const auto authority = NewAuthority();
  HttpServerOptions options;
  const auto pair = authority->Issue({.dns_names = {"localhost"}});
  REQUIRE(pair.ok());
  options.tls = tls::ServerOptions{*pair, ""};
  auto server = tests::StartServer(tests::EchoHandler(), options);
  const auto credentials = ClientCredentials::Create({.ca_pem = authority->cert_pem()});
  REQUIRE(credentials.ok());
  TlsRawClient client(server->port(), **credentials);
  const std::string body(3 << 20, 'x');
  client.Send(absl::StrCat("POST / HTTP/1.1\r\nContent-Length: ", body.size(), "\r\n\r\n"));
  client.Send(body);
  CHECK(client.ReadResponse().body == body);
}

TEST_CASE("a connection closed after its answer ends with TLS's own goodbye") {
  SecureServer server;
  TlsRawClient client(server.port(), *server.Credentials());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(client.ReadResponse().code == 200);
  CHECK(client.EndsNow());
  CHECK(client.saw_close_notify());
}

TEST_CASE("who does not speak TLS, or says nothing, is cut") {
  SecureServer server(absl::Milliseconds(200));
  RawClient client(server.port());
  SECTION("plain HTTP") { client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"); }
  SECTION("nothing") {}
  CHECK(client.ReadResponse().code == 0);
  CHECK(client.EndsNow());
}

TEST_CASE("who begins handshakes and does not complete them keeps nobody else out") {
  const auto authority = NewAuthority();
  HttpServerOptions options;
  const auto pair = authority->Issue({.dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}});
  REQUIRE(pair.ok());
  options.tls = tls::ServerOptions{*pair, ""};
  options.max_handshakes = 3;
  auto server = tests::StartServer(tests::EchoHandler(), options);
  const auto credentials = ClientCredentials::Create({.ca_pem = authority->cert_pem()});
  REQUIRE(credentials.ok());
  // Completed ones do not count.
  std::vector<std::unique_ptr<TlsRawClient>> served;
  for (int i = 0; i < 5; ++i) {
    served.push_back(std::make_unique<TlsRawClient>(server->port(), **credentials));
    CHECK(served.back()->Get("/").code == 200);
  }
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<RawClient>(server->port()));
  // The first byte of a handshake.
  silent[1]->Send("\x16");
  CHECK(silent[0]->EndsNow());
  TlsRawClient late(server->port(), **credentials);
  CHECK(late.Get("/").code == 200);
  for (const auto& client : served) CHECK(client->Get("/").code == 200);
}

TEST_CASE("unusable server certificates are reported at start") {
  HttpServerOptions options;
  options.tls = tls::ServerOptions{{"no certificate", "no key"}, ""};
  const auto server = base::HttpServer::Start(options, tests::EchoHandler());
  CHECK(server.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(server.status().message() == "server certificate: certificate: no PEM block found");
}

}  // namespace
