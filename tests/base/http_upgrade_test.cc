// Connections that change their protocol.
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/http_server.h"
#include "base/tls.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::HttpServerOptions;
using base::HttpTunnel;
using tests::RawClient;
using tests::RawResponse;
using tests::StartServer;
using tests::TlsRawClient;

constexpr char kUpgrade[] =
    "GET /exec HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo/1\r\n\r\n";

std::shared_ptr<HttpTunnel> Accept(HttpResponder& responder) {
  return responder.Upgrade({.code = 101, .headers = {{"Upgrade", "echo/1"}}});
}

// Sends everything back, and ends when the peer does.
base::HttpHandler Echo() {
  return [](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    if (request.UpgradeProtocol() != "echo/1") {
      return responder->Send({400, "text/plain", {}, "echo/1 only"});
    }
    const std::shared_ptr<HttpTunnel> tunnel = Accept(*responder);
    tunnel->Start({.on_data =
                       [tunnel](std::string bytes) {
                         tunnel->Write(std::move(bytes));
                         tunnel->OnRoom([tunnel] { tunnel->Read(); });
                       },
                   .on_end = [tunnel] { tunnel->EndWriting(); }});
    tunnel->Read();
  };
}

// Keeps the tunnel of the one connection that is made. Outlives the server.
class KeptTunnel {
 public:
  base::HttpHandler Handler(HttpTunnel::Callbacks callbacks = {}) {
    return [this, callbacks](HttpRequest, std::shared_ptr<HttpResponder> responder) {
      auto tunnel = Accept(*responder);
      tunnel->Start(callbacks);
      absl::MutexLock lock(&mu_);
      tunnel_ = std::move(tunnel);
    };
  }
  std::shared_ptr<HttpTunnel> Await() {
    const auto come = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return tunnel_ != nullptr; };
    absl::MutexLock lock(&mu_, absl::Condition(&come));
    return std::exchange(tunnel_, nullptr);
  }

 private:
  absl::Mutex mu_;
  std::shared_ptr<HttpTunnel> tunnel_ ABSL_GUARDED_BY(mu_);
};

// Collects what a tunnel's reader is given.
class Received {
 public:
  HttpTunnel::Callbacks Callbacks() {
    return {.on_data =
                [this](std::string bytes) {
                  absl::MutexLock lock(&mu_);
                  text_ += bytes;
                  ++blocks_;
                },
            .on_end = [this] { ended_.Notify(); },
            .on_closed = [this] { closed_.Notify(); }};
  }
  // Asks for one block and waits for it.
  std::string Next(HttpTunnel& tunnel) {
    absl::MutexLock lock(&mu_);
    const int before = blocks_;
    mu_.Unlock();
    tunnel.Read();
    mu_.Lock();
    const auto more = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return blocks_ > before; };
    mu_.AwaitWithTimeout(absl::Condition(&more), absl::Minutes(1));
    return std::exchange(text_, {});
  }
  bool AwaitEnd() { return ended_.WaitForNotificationWithTimeout(absl::Minutes(1)); }
  bool AwaitClosed() { return closed_.WaitForNotificationWithTimeout(absl::Minutes(1)); }

 private:
  absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  int blocks_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Notification ended_, closed_;
};

// A client whose connection has been upgraded, and the server's end of its tunnel.
struct Upgraded {
  explicit Upgraded(HttpServerOptions options = {})
      : server(StartServer(kept.Handler(received.Callbacks()), std::move(options))),
        client(server->port()) {
    client.Send(kUpgrade);
    tunnel = kept.Await();
  }

  KeptTunnel kept;
  Received received;
  std::unique_ptr<base::HttpServer> server;
  RawClient client;
  std::shared_ptr<HttpTunnel> tunnel;
};

TEST_CASE("an upgraded connection carries bytes both ways until both have ended") {
  auto server = StartServer(Echo());
  RawClient client(server->port());
  // The first bytes of the new protocol may come before the answer.
  client.Send(std::string(kUpgrade) + "early ");
  RawResponse head = client.ReadHead();
  CHECK(head.code == 101);
  CHECK(head.headers["connection"] == "Upgrade");
  CHECK(head.headers["upgrade"] == "echo/1");
  CHECK(head.headers.count("content-type") == 0);
  CHECK(head.headers.count("transfer-encoding") == 0);
  CHECK(client.ReadUntil("early ") == "early ");
  client.Send("GET / HTTP/1.1\r\n\r\n");
  CHECK(client.ReadUntil("\r\n\r\n") == "GET / HTTP/1.1\r\n\r\n");
  client.Send("last");
  client.EndSending();
  CHECK(client.ReadToEnd() == "last");
}

TEST_CASE("an upgrade may be refused, and the connection lives on") {
  auto server = StartServer(Echo());
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
  CHECK(client.ReadResponse().body == "echo/1 only");
  CHECK(client.Get("/").code == 400);
}

TEST_CASE("only HTTP/1.1 with both headers asks for an upgrade") {
  HttpRequest request;
  request.headers = {{"connection", "keep-alive, upgrade"}, {"upgrade", "SPDY/3.1"}};
  CHECK(request.UpgradeProtocol() == "SPDY/3.1");
  request.http10 = true;
  CHECK(request.UpgradeProtocol() == "");
  CHECK(HttpRequest{.headers = {{"upgrade", "websocket"}}}.UpgradeProtocol() == "");
  CHECK(HttpRequest{.headers = {{"connection", "Upgrade"}}}.UpgradeProtocol() == "");
}

TEST_CASE("megabytes pass through a tunnel, over TLS, too") {
  const auto authority = *tls::CertificateAuthority::Create("test authority");
  HttpServerOptions options;
  const bool secure = GENERATE(false, true);
  if (secure) {
    options.tls = tls::ServerOptions{*authority->Issue({.dns_names = {"localhost"}}), ""};
  }
  auto server = StartServer(Echo(), options);
  const auto credentials = *tls::ClientCredentials::Create({.ca_pem = authority->cert_pem()});
  std::unique_ptr<RawClient> client;
  if (secure) {
    client = std::make_unique<TlsRawClient>(server->port(), *credentials);
  } else {
    client = std::make_unique<RawClient>(server->port());
  }
  client->Send(kUpgrade);
  CHECK(client->ReadHead().code == 101);
  const std::string block(100'000, 'x');
  for (int i = 0; i < 30; ++i) {
    REQUIRE(client->Send(block + "!"));
    REQUIRE(client->ReadUntil("!").size() == block.size() + 1);
  }
}

TEST_CASE("a tunnel reads no further ahead than it says") {
  Upgraded u;
  u.client.ReadHead();
  std::string sent(150 << 10, 'x');
  // Fits into the sockets' buffers and the tunnel's together.
  REQUIRE(u.client.Send(sent));
  std::string got = u.received.Next(*u.tunnel);
  CHECK(got.size() <= 64 << 10);
  while (got.size() < sent.size()) got += u.received.Next(*u.tunnel);
  CHECK(got == sent);
}

TEST_CASE("a tunnel may end its own direction and read on") {
  Upgraded u;
  CHECK(u.tunnel->Write("that is all"));
  u.tunnel->EndWriting();
  CHECK_FALSE(u.tunnel->Write("more"));
  CHECK(u.client.ReadHead().code == 101);
  CHECK(u.client.ReadToEnd() == "that is all");
  u.client.Send("heard");
  CHECK(u.received.Next(*u.tunnel) == "heard");
  u.client.EndSending();
  u.tunnel->Read();
  CHECK(u.received.AwaitEnd());
  CHECK(u.received.AwaitClosed());
}

TEST_CASE("a tunnel that is dropped after its end sends what is left and closes") {
  Upgraded u;
  const std::string last(1 << 20, 'x');
  CHECK(u.tunnel->Write(last));
  u.tunnel->EndWriting();
  u.tunnel.reset();
  CHECK(u.client.ReadHead().code == 101);
  CHECK(u.client.ReadToEnd() == last);
  CHECK(u.received.AwaitClosed());  // Although the client has not closed its side.
}

TEST_CASE("a peer that has ended is still written to, and no byte of it is lost") {
  Upgraded u;
  u.client.ReadHead();
  u.client.Send("question");
  u.client.EndSending();
  CHECK(u.received.Next(*u.tunnel) == "question");
  u.tunnel->Read();
  CHECK(u.received.AwaitEnd());
  CHECK(u.tunnel->Write("answer"));
  u.tunnel->EndWriting();
  CHECK(u.client.ReadToEnd() == "answer");
  CHECK(u.received.AwaitClosed());
}

TEST_CASE("a tunnel ends when it is aborted, dropped, or cut") {
  Upgraded u;
  u.client.ReadHead();
  SECTION("aborted") { u.tunnel->Abort(); }
  SECTION("dropped") { u.tunnel.reset(); }
  SECTION("connections dropped") { u.server->DropConnections(); }
  SECTION("peer gone") {
    u.client.Disconnect();
    u.tunnel->Read();
    CHECK(u.received.AwaitEnd());
    u.tunnel->EndWriting();
  }
  CHECK(u.received.AwaitClosed());
}

TEST_CASE("a tunnel whose peer does not read is cut at the limit of the backlog") {
  HttpServerOptions options;
  options.max_stream_backlog_bytes = 1 << 20;
  Upgraded u(options);
  const std::string block(100 << 10, 'x');
  int written = 0;
  while (written < 1000 && u.tunnel->Write(block)) ++written;
  CHECK(written >= 10);
  CHECK(written < 1000);
  CHECK(u.received.AwaitClosed());
}

TEST_CASE("what the reader of a tunnel leaves untaken counts with what peers leave untaken") {
  HttpServerOptions options;
  options.max_outputs_bytes = 20 << 10;
  Upgraded u(options);
  u.client.ReadHead();
  u.client.Send(std::string(150 << 10, 'x'));
  CHECK(u.received.AwaitClosed());
}

TEST_CASE("a reader of a tunnel that takes each block passes on any number of bytes") {
  HttpServerOptions options;
  options.max_outputs_bytes = 500 << 10;
  options.stall_timeout = absl::Minutes(1);
  auto server = StartServer(Echo(), options);
  RawClient client(server->port());
  client.Send(kUpgrade);
  client.ReadHead();
  const std::string block(100'000, 'x');
  for (int i = 0; i < 20; ++i) {
    REQUIRE(client.Send(block + "!"));
    REQUIRE(client.ReadUntil("!").size() == block.size() + 1);
  }
}

TEST_CASE("a tunnel whose reader takes nothing is not cut for that") {
  HttpServerOptions options;
  options.stall_timeout = absl::Milliseconds(100);
  options.idle_timeout = absl::Milliseconds(300);
  Upgraded u(options);
  u.client.ReadHead();
  u.client.Send("x");
  // A connection without a request is closed later than one would be whose peer takes nothing.
  CHECK(RawClient(u.server->port()).EndsNow());
  CHECK(u.received.Next(*u.tunnel) == "x");
}

TEST_CASE("a tunnel that has nothing to take is not cut after the stall timeout") {
  HttpServerOptions options;
  options.stall_timeout = absl::Milliseconds(100);
  options.idle_timeout = absl::Milliseconds(300);
  auto server = StartServer(Echo(), options);
  RawClient client(server->port());
  client.Send(std::string(kUpgrade) + "first!");
  client.ReadUntil("!");
  // A connection without a request is closed later than a tunnel that stalls.
  CHECK(RawClient(server->port()).EndsNow());
  client.Send("alive!");
  CHECK(client.ReadUntil("!") == "alive!");
}

TEST_CASE("a quiet tunnel outlives the timeouts") {
  HttpServerOptions options;
  options.request_timeout = absl::Milliseconds(100);
  options.idle_timeout = absl::Milliseconds(100);
  auto server = StartServer(Echo(), options);
  RawClient client(server->port());
  client.Send(kUpgrade);
  CHECK(client.ReadHead().code == 101);
  // Connections without a request are closed after the timeouts.
  for (int i = 0; i < 3; ++i) CHECK(RawClient(server->port()).EndsNow());
  client.Send("alive!");
  CHECK(client.ReadUntil("!") == "alive!");
}

}  // namespace
