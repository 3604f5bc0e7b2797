// Proxies that only the lean transport supports.
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/http/internal/connection.h"
#include "tests/kube/http/raw_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"

namespace kube {
namespace {

using tests::RawServer;
using tests::TestServer;

void Hello(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
  responder->Send({.body = request.target});
}

// A SOCKS5 proxy. If `credentials`, it asks for the user "u" with password "p".
class SocksProxy {
 public:
  explicit SocksProxy(bool credentials)
      : credentials_(credentials), server_([this](int fd) { Serve(fd); }) {}
  std::string Url(const std::string& user = "") const {
    return absl::StrCat("socks5://", user, "127.0.0.1:", server_.port());
  }
  std::string target() const {
    absl::MutexLock lock(&mu_);
    return target_;
  }
  char refusal = 0;

 private:
  void Serve(int fd) {
    const std::string greeting = RawServer::ReadBytes(fd, 2);
    if (greeting.size() != 2) return;
    const std::string methods = RawServer::ReadBytes(fd, greeting[1]);
    RawServer::WriteAll(fd, credentials_ ? "\x05\x02" : absl::string_view("\x05\x00", 2));
    if (credentials_) {
      const std::string given = RawServer::ReadBytes(fd, 5);
      const bool good = given == "\x01\x01u\x01p";
      RawServer::WriteAll(fd, good ? absl::string_view("\x01\x00", 2) : "\x01\x01");
      if (!good) return RawServer::AwaitEnd(fd);
    }
    const std::string request = RawServer::ReadBytes(fd, 5);
    if (request.size() != 5) return;
    const size_t length = request[3] == 1 ? 3 : request[3] == 4 ? 15 : request[4];
    const std::string rest = RawServer::ReadBytes(fd, length + 2);
    {
      absl::MutexLock lock(&mu_);
      target_ = request[3] == 3 ? rest.substr(0, length) : "address";
    }
    const auto high = static_cast<unsigned char>(rest[length]);
    const auto low = static_cast<unsigned char>(rest[length + 1]);
    RawServer::WriteAll(fd, absl::StrCat("\x05", std::string(1, refusal),
                                         absl::string_view("\x00\x01\x00\x00\x00\x00\x00\x00", 8)));
    if (refusal != 0) return RawServer::AwaitEnd(fd);
    const int server = RawServer::Connect(high << 8 | low);
    RawServer::Relay(fd, server);
    close(server);
  }

  const bool credentials_;
  mutable absl::Mutex mu_;
  std::string target_;
  RawServer server_;
};

absl::StatusOr<HttpResponse> Get(const ConnectionConfig& config) {
  return (*NewHttpTransport(config))->Send({.method = "GET", .path = "/x"}, {});
}

}  // namespace

TEST_CASE("A SOCKS proxy passes on to a server by name or address, with and without credentials") {
  TestServer server(
      &Hello,
      {.leaf = {.common_name = "s", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}}});
  for (const bool credentials : {true, false}) {
    for (const char* host : {"localhost", "127.0.0.1"}) {
      CAPTURE(credentials, host);
      SocksProxy proxy(credentials);
      ConnectionConfig config = server.Config(host);
      config.proxy_url = proxy.Url(credentials ? "u:p@" : "");
      const auto answer = Get(config);
      INFO(answer.status());
      REQUIRE(answer.ok());
      CHECK(answer->body == "/x");
      CHECK(proxy.target() == (std::string(host) == "localhost" ? "localhost" : "address"));
    }
  }
}

TEST_CASE("A SOCKS proxy that refuses says why") {
  TestServer server(&Hello);
  SocksProxy proxy(true);
  ConnectionConfig config = server.Config();
  std::string why;
  SECTION("wrong credentials") {
    config.proxy_url = proxy.Url("u:q@");
    why = "it refuses the credentials";
  }
  SECTION("no credentials") {
    config.proxy_url = proxy.Url();
    why = "it wants credentials";
  }
  SECTION("the server") {
    proxy.refusal = 5;
    config.proxy_url = proxy.Url("u:p@");
    why = "connection refused (5)";
  }
  const absl::Status error = Get(config).status();
  CHECK(absl::IsUnavailable(error));
  CHECK(WasNotProcessed(error));
  CHECK_THAT(std::string(error.message()),
             Catch::Contains("the proxy socks5://127.0.0.1:") && Catch::Contains(why));
}

TEST_CASE("An HTTP proxy gets the headers of the configuration, and the URL's credentials") {
  TestServer server(&Hello);
  absl::Mutex mu;
  std::string head;
  RawServer proxy([&](int fd) {
    const std::string got = RawServer::ReadHead(fd);
    absl::MutexLock lock(&mu);
    head = got;
    RawServer::WriteAll(fd, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  ConnectionConfig config = server.Config();
  config.proxy_url = absl::StrCat("http://u:p@127.0.0.1:", proxy.port());
  config.proxy_headers = {{"X-Tenant", "a"}, {"proxy-authorization", "Bearer t"}};
  CHECK_THAT(std::string(Get(config).status().message()), Catch::Contains("code 403"));
  absl::MutexLock lock(&mu);
  CHECK_THAT(head, Catch::Contains("X-Tenant: a\r\n"));
  CHECK_THAT(head, Catch::Contains("Proxy-Authorization: Basic dTpw\r\n"));
  CHECK_THAT(head, !Catch::Contains("Bearer"));
}

TEST_CASE("Without TLS an HTTP proxy is given the whole request") {
  tests::ForEachTransport();
  absl::Mutex mu;
  std::string head;
  RawServer proxy([&](int fd) {
    const std::string got = RawServer::ReadHead(fd);
    if (got.empty()) return;
    absl::MutexLock lock(&mu);
    head = got;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  ConnectionConfig config;
  config.server = "http://api.example.com:8080/prefix";
  config.proxy_url = absl::StrCat("http://u:p@127.0.0.1:", proxy.port());
  const auto answer = tests::Connect(config)->Send({.method = "GET", .path = "/x?y"}, {});
  INFO(answer.status());
  REQUIRE(answer.ok());
  absl::MutexLock lock(&mu);
  CHECK_THAT(head, Catch::StartsWith("GET http://api.example.com:8080/prefix/x?y HTTP/1.1\r\n"));
  CHECK_THAT(head, Catch::Contains("api.example.com:8080\r\n"));
  CHECK_THAT(head, Catch::Contains("Proxy-Authorization: Basic dTpw\r\n"));
}

TEST_CASE("A proxy whose name cannot be resolved, or who is not there, is named") {
  TestServer server(&Hello);
  ConnectionConfig config = server.Config();
  config.proxy_url = "http://no-such-proxy.invalid:3128";
  CHECK_THAT(std::string(Get(config).status().message()),
             Catch::Contains("no-such-proxy.invalid") && Catch::Contains("cannot be resolved"));
  int port = 0;
  {
    RawServer gone([](int) {});
    port = gone.port();
  }
  config.proxy_url = absl::StrCat("http://127.0.0.1:", port);
  const absl::Status error = Get(config).status();
  CHECK(WasNotProcessed(error));
  CHECK_THAT(std::string(error.message()),
             Catch::EndsWith(absl::StrCat(": cannot connect to the proxy http://127.0.0.1:", port,
                                          ": connection refused")));
}

TEST_CASE("TLS with a server goes through TLS with its proxy") {
  TestServer server(&Hello);
  TestServer proxy_identity(&Hello);  // Only its authority is used.
  const tls::KeyPair pair =
      *proxy_identity.authority().Issue({.common_name = "p", .ip_addresses = {"127.0.0.1"}});
  SSL_CTX* ctx = SSL_CTX_new(TLS_server_method());
  REQUIRE(tls::ConfigureServer(ctx, {.server = pair}).ok());
  // Forwards one direction after the other, which is enough for one request and its answer.
  RawServer proxy([&](int fd) {
    SSL* ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    std::string head;
    char c = 0;
    if (SSL_accept(ssl) == 1) {
      while (!absl::EndsWith(head, "\r\n\r\n") && SSL_read(ssl, &c, 1) == 1) head.push_back(c);
      SSL_write(ssl, "HTTP/1.1 200 OK\r\n\r\n", 19);
      const int upstream = RawServer::Connect(server.server().port());
      char block[4096];
      bool open = true;
      while (open) {
        pollfd fds[] = {{fd, POLLIN, 0}, {upstream, POLLIN, 0}};
        if (SSL_pending(ssl) == 0 && poll(fds, 2, 10'000) <= 0) break;
        if (SSL_pending(ssl) > 0 || fds[0].revents != 0) {
          const int got = SSL_read(ssl, block, sizeof block);
          open = got > 0 && RawServer::WriteAll(upstream, absl::string_view(block, got));
        } else {
          const ssize_t got = read(upstream, block, sizeof block);
          open = got > 0 && SSL_write(ssl, block, static_cast<int>(got)) > 0;
        }
      }
      close(upstream);
    }
    SSL_free(ssl);
  });
  auto route = std::make_shared<Route>();
  route->server = *ParseEndpoint(server.Config().server, "server");
  route->proxy.kind = ProxySettings::Kind::kHttps;
  route->proxy.host = "127.0.0.1";
  route->proxy.port = proxy.port();
  const auto trust = [](const TestServer& of) {
    return *tls::ClientCredentials::Create({.ca_pem = of.Config().ca_pem});
  };
  route->proxy_tls = *TlsClient::Create(trust(proxy_identity), "127.0.0.1");
  route->tls = *TlsClient::Create(trust(server), "127.0.0.1");
  {
    Connection connection(route, {*NumericAddress("127.0.0.1", proxy.port())});
    const auto await = [&] {
      pollfd ready = {connection.fd(), connection.wants(), 0};
      poll(&ready, 1, 10'000);
    };
    absl::StatusOr<bool> established = false;
    while (established.ok() && !*established) {
      established = connection.Establish();
      if (established.ok() && !*established) await();
    }
    INFO(established.status());
    REQUIRE(established.ok());
    CHECK(connection.Write("GET /through HTTP/1.1\r\nHost: h\r\n\r\n").state == IoState::kDone);
    std::string answer;
    char block[1000];
    while (!absl::EndsWith(answer, "/through")) {
      const IoResult got = connection.Read(block, sizeof block);
      if (got.state == IoState::kDone) {
        answer.append(block, got.bytes);
      } else {
        REQUIRE(got.state == IoState::kWantRead);
        await();
      }
    }
  }
  SSL_CTX_free(ctx);
}

}  // namespace kube
