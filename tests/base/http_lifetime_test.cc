// How long connections live, and what changes while they do: limits, draining, certificates.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/http_server.h"
#include "base/tls.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::HttpServerOptions;
using tests::EchoHandler;
using tests::KeptRequest;
using tests::RawClient;
using tests::RawResponse;
using tests::StartServer;
using tests::TlsRawClient;
using tls::CertificateAuthority;
using tls::ClientAuthority;
using tls::ClientCredentials;

TEST_CASE("a connection is closed with the answer to the last request that it may serve") {
  HttpServerOptions options;
  options.max_requests_per_connection = 2;
  auto server = StartServer(EchoHandler(), options);
  RawClient client(server->port());
  CHECK(client.Get("/").headers.count("connection") == 0);
  CHECK(client.Get("/").headers["connection"] == "close");
  CHECK(client.EndsNow());
}

TEST_CASE("a connection is closed when it has become old, or at random") {
  HttpServerOptions options;
  SECTION("old") { options.max_connection_age = absl::ZeroDuration(); }
  SECTION("at random") { options.close_chance = 1; }
  auto server = StartServer(EchoHandler(), options);
  RawClient client(server->port());
  CHECK(client.Get("/").headers["connection"] == "close");
  CHECK(client.EndsNow());
}

TEST_CASE("an answer may close its connection") {
  auto server = StartServer([](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    responder->Send({.body = "bye", .close_connection = true});
  });
  RawClient client(server->port());
  RawResponse response = client.Get("/");
  CHECK(response.body == "bye");
  CHECK(response.headers["connection"] == "close");
  CHECK(client.EndsNow());
}

TEST_CASE("a server that drains finishes what runs and closes what waits") {
  KeptRequest kept;
  auto server = StartServer(kept.Handler());
  RawClient idle(server->port()), busy(server->port());
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  HttpResponder& responder = kept.Await();
  bool drained = false;
  std::thread draining([&] { drained = server->Drain(absl::Minutes(1)); });
  CHECK(idle.EndsNow());
  responder.Send({200, "text/plain", {}, "finished"});
  RawResponse response = busy.ReadResponse();
  CHECK(response.body == "finished");
  CHECK(busy.EndsNow());
  busy.Disconnect();
  draining.join();
  CHECK(drained);
  CHECK_FALSE(RawClient(server->port()).connected());
  server->Stop();
}

TEST_CASE("a request that comes while a server drains is told not to keep the connection") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\n");  // Half of a request is not idle.
  client.Send("X-Wait: a\r\n");
  RawClient probe(server->port());
  CHECK(probe.Get("/").code == 200);  // The server has had time to read the half, as a rule.
  std::thread draining([&] { server->Drain(absl::Minutes(1)); });
  CHECK(probe.EndsNow());
  probe.Disconnect();
  client.Send("\r\n");
  RawResponse response = client.ReadResponse();
  // Where the half had not been read yet, the connection counted as idle and was closed.
  if (response.code != 0) CHECK(response.headers["connection"] == "close");
  client.Disconnect();
  draining.join();
}

TEST_CASE("draining gives up at its deadline") {
  KeptRequest kept;
  auto server = StartServer(kept.Handler());
  RawClient busy(server->port());
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  kept.Await();
  CHECK_FALSE(server->Drain(absl::Milliseconds(10)));
  server->Stop();
  CHECK(busy.EndsNow());
}

std::unique_ptr<CertificateAuthority> NewAuthority(const std::string& name) {
  return *CertificateAuthority::Create(name);
}

tls::KeyPair ServerPair(CertificateAuthority& authority) {
  return *authority.Issue({.common_name = "server", .dns_names = {"localhost"}});
}

std::shared_ptr<const ClientCredentials> Trusting(const CertificateAuthority& authority,
                                                  const tls::KeyPair& client = {}) {
  return *ClientCredentials::Create({.ca_pem = authority.cert_pem(), .client = client});
}

TEST_CASE("a replaced certificate is shown to new connections, and the open ones stay") {
  const auto before = NewAuthority("before"), after = NewAuthority("after");
  HttpServerOptions options;
  options.tls = tls::ServerOptions{ServerPair(*before), ""};
  auto server = StartServer(EchoHandler(), options);
  TlsRawClient open(server->port(), *Trusting(*before));
  CHECK(open.Get("/").code == 200);

  CHECK(server->ReplaceTls({{"rubbish", "rubbish"}, ""}).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(TlsRawClient(server->port(), *Trusting(*before)).secure());
  CHECK(server->ReplaceTls({ServerPair(*after), ""}).ok());
  CHECK(TlsRawClient(server->port(), *Trusting(*after)).secure());
  CHECK_FALSE(TlsRawClient(server->port(), *Trusting(*before)).secure());
  CHECK(open.Get("/").code == 200);
}

TEST_CASE("a server without TLS has nothing to replace") {
  auto server = StartServer(EchoHandler());
  CHECK(server->ReplaceTls({}).code() == absl::StatusCode::kFailedPrecondition);
}

// A directory with tls.crt and tls.key.
class CertificateDirectory {
 public:
  CertificateDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "certXXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~CertificateDirectory() { std::filesystem::remove_all(path_); }
  void Write(const tls::KeyPair& pair) {
    std::ofstream(path_ + "/tls.crt") << pair.cert_pem;
    std::ofstream(path_ + "/tls.key") << pair.key_pem;
  }
  base::HttpCertificateFiles files() const {
    return {path_ + "/tls.crt", path_ + "/tls.key", absl::Milliseconds(20)};
  }

 private:
  std::string path_;
};

bool BecomesSecure(int port, const CertificateAuthority& authority) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (absl::Now() < deadline) {
    if (TlsRawClient(port, *Trusting(authority)).secure()) return true;
  }
  return false;
}

TEST_CASE("certificate files are read again when they change, without dropping connections") {
  const auto before = NewAuthority("before"), after = NewAuthority("after");
  CertificateDirectory directory;
  directory.Write(ServerPair(*before));
  HttpServerOptions options;
  options.tls.emplace();
  options.certificate_files = directory.files();
  auto server = StartServer(EchoHandler(), options);
  TlsRawClient open(server->port(), *Trusting(*before));
  CHECK(open.Get("/").code == 200);

  // A certificate with the key of another one changes nothing.
  directory.Write({ServerPair(*after).cert_pem, ServerPair(*after).key_pem});
  CHECK(TlsRawClient(server->port(), *Trusting(*before)).secure());
  directory.Write(ServerPair(*after));
  CHECK(BecomesSecure(server->port(), *after));
  CHECK(open.Get("/").code == 200);
}

TEST_CASE("certificate files that cannot be read are reported at the start") {
  HttpServerOptions options;
  options.tls.emplace();
  options.certificate_files = base::HttpCertificateFiles{"/nowhere/tls.crt", "/nowhere/tls.key"};
  const auto server = base::HttpServer::Start(options, EchoHandler());
  CHECK(server.status().code() == absl::StatusCode::kNotFound);
  CHECK(absl::StrContains(server.status().message(), "/nowhere/tls.crt"));
}

// A server that asks for any certificate, and answers with what two authorities make of it.
class JudgingServer {
 public:
  JudgingServer(const CertificateAuthority& clients, const CertificateAuthority& proxies)
      : clients_(*ClientAuthority::Create(clients.cert_pem())),
        proxies_(*ClientAuthority::Create(proxies.cert_pem())),
        own_(NewAuthority("server")) {
    HttpServerOptions options;
    options.tls = tls::ServerOptions{.server = ServerPair(*own_),
                                     .client_ca_pem = clients.cert_pem() + proxies.cert_pem(),
                                     .any_client_certificate = true};
    server_ = StartServer(
        [this](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
          CHECK(request.peer.common_name.empty());
          CHECK(request.secure);
          responder->Send(
              {200,
               "text/plain",
               {},
               request.peer_certificates == nullptr
                   ? "none"
                   : absl::StrCat(Judge(*clients_, request), ";", Judge(*proxies_, request))});
        },
        options);
  }
  std::string Ask(const tls::KeyPair& client = {}) {
    return TlsRawClient(server_->port(), *Trusting(*own_, client)).Get("/").body;
  }

 private:
  static std::string Judge(const ClientAuthority& authority, const HttpRequest& request) {
    const auto identity = authority.Verify(*request.peer_certificates);
    if (!identity.ok()) return std::string(identity.status().message());
    return absl::StrCat(identity->common_name, "|", absl::StrJoin(identity->organizations, ","));
  }

  std::shared_ptr<const ClientAuthority> clients_, proxies_;
  std::unique_ptr<CertificateAuthority> own_;
  std::unique_ptr<base::HttpServer> server_;
};

TEST_CASE("several authorities judge a client's certificate, and any client may come in") {
  const auto clients = NewAuthority("clients"), proxies = NewAuthority("proxies"),
             strangers = NewAuthority("strangers");
  const CertificateAuthority::LeafOptions leaf = {.common_name = "bob", .organizations = {"dev"}};
  CertificateAuthority::LeafOptions old = leaf;
  old.not_before = absl::Now() - absl::Hours(2);
  old.valid_for = absl::Hours(1);
  const std::string unknown = "client certificate: unable to get local issuer certificate";
  JudgingServer server(*clients, *proxies);
  CHECK(server.Ask() == "none");
  CHECK(server.Ask(*clients->Issue(leaf)) == "bob|dev;" + unknown);
  CHECK(server.Ask(*proxies->Issue(leaf)) == unknown + ";bob|dev");
  CHECK(server.Ask(*strangers->Issue(leaf)) == unknown + ";" + unknown);
  CHECK(server.Ask(*clients->Issue(old)) ==
        "client certificate: certificate has expired;" + unknown);
}

// A client that knows nothing newer than TLS 1.2.
class OldCredentials : public ClientCredentials {
 public:
  explicit OldCredentials(std::shared_ptr<const ClientCredentials> base) : base_(std::move(base)) {}
  absl::Status Apply(ssl_ctx_st* ctx) const override {
    const absl::Status applied = base_->Apply(ctx);
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    return applied;
  }

 private:
  const std::shared_ptr<const ClientCredentials> base_;
};

TEST_CASE("a server may refuse TLS 1.2") {
  const auto authority = NewAuthority("server");
  HttpServerOptions options;
  options.tls = tls::ServerOptions{.server = ServerPair(*authority)};
  SECTION("it is accepted by default") {
    auto server = StartServer(EchoHandler(), options);
    CHECK(TlsRawClient(server->port(), OldCredentials(Trusting(*authority))).secure());
  }
  SECTION("refused") {
    options.tls->only_tls13 = true;
    auto server = StartServer(EchoHandler(), options);
    CHECK(TlsRawClient(server->port(), *Trusting(*authority)).secure());
    CHECK_FALSE(TlsRawClient(server->port(), OldCredentials(Trusting(*authority))).secure());
  }
}

}  // namespace
