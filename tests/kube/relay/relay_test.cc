// A reverse proxy made of a server, a relay and a member.
#include "kube/relay/relay.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/http_server.h"
#include "tests/base/raw_client.h"
#include "tests/kube/http/raw_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/support/eventually.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::SharedBytes;
using tests::RawClient;
using tests::RawResponse;
using tests::RawServer;
using tests::TestServer;

base::HttpResponse ErrorAnswer(const absl::Status& error) {
  return {absl::IsDeadlineExceeded(error) ? 504 : 502, "text/plain", {}, error.ToString()};
}

// Passes everything on to one server, as the user bob.
class Proxy {
 public:
  explicit Proxy(const kube::ConnectionConfig& config, kube::RelayOptions options = {})
      : forwarder_(*kube::Forwarder::Create(config)), options_(std::move(options)) {
    options_.on_error = &ErrorAnswer;
    if (options_.set_headers.empty()) options_.set_headers = {{"Impersonate-User", "bob"}};
    server_ = *base::HttpServer::Start(
        {}, [this](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
          kube::RelayOptions options = options_;
          options.path = request.target;
          kube::Relay(request, std::move(responder), *forwarder_, std::move(options));
        });
  }
  int port() const { return server_->port(); }

 private:
  std::shared_ptr<kube::Forwarder> forwarder_;
  kube::RelayOptions options_;
  std::unique_ptr<base::HttpServer> server_;
};

kube::ConnectionConfig PlainConfig(int port) {
  kube::ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", port);
  return config;
}

void Describe(HttpRequest request, std::shared_ptr<HttpResponder> responder) {
  std::string text = absl::StrCat(request.method, " ", request.target, "\n");
  for (const auto& [name, value] : request.headers) absl::StrAppend(&text, name, ": ", value, "\n");
  responder->Send({200, "text/plain", {{"X-Member", "yes"}}, text + "\n" + request.body});
}

TEST_CASE("a relayed request reaches the member as upstream's would, and its answer the client") {
  TestServer member(&Describe);
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(
      "POST /api/v1/pods?x=y HTTP/1.1\r\nHost: karmada:443\r\nAuthorization: secret\r\n"
      "X-Forwarded-For: 10.1.1.1\r\nImpersonate-User: admin\r\nimpersonate-extra-secret: x\r\n"
      "X-Remote-Group: secret\r\nAccept: a/b\r\n"
      "Content-Length: 4\r\n\r\nbody");
  RawResponse response = client.ReadResponse();
  CHECK(response.code == 200);
  CHECK(response.headers["content-type"] == "text/plain");
  CHECK(response.headers["x-member"] == "yes");
  const std::string& got = response.body;
  CHECK(absl::StartsWith(got, "POST /api/v1/pods?x=y\n"));
  CHECK(absl::StrContains(got, "\nhost: 127.0.0.1:"));
  CHECK(absl::StrContains(got, "\nimpersonate-user: bob\n"));
  CHECK(absl::StrContains(got, "\naccept: a/b\n"));
  CHECK(absl::StrContains(got, "\nx-forwarded-for: 10.1.1.1, 127.0.0.1\n"));
  CHECK(absl::StrContains(got, "\nx-forwarded-host: karmada:443\n"));
  CHECK(absl::StrContains(got, "\nx-forwarded-proto: http\n"));
  CHECK(absl::StrContains(got, "\nx-forwarded-uri: /api/v1/pods\n"));
  CHECK_FALSE(absl::StrContains(got, "secret"));  // Nor whom the client wants to be.
  CHECK(absl::EndsWith(got, "\n\nbody"));
  CHECK(client.Get("/again").code == 200);  // The client's connection is kept.
}

TEST_CASE("answers without a body keep their meaning") {
  TestServer member([](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    const int code = request.path == "/none" ? 204 : request.path == "/same" ? 304 : 200;
    responder->Send({code, "text/plain", {{"ETag", "\"1\""}}, code == 200 ? "whole body" : ""});
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send("HEAD / HTTP/1.1\r\n\r\n");
  CHECK(client.ReadHead().headers["content-length"] == "10");
  client.Send("GET /none HTTP/1.1\r\n\r\n");
  CHECK(client.ReadHead().code == 204);
  client.Send("GET /same HTTP/1.1\r\n\r\n");
  CHECK(client.ReadHead().headers["etag"] == "\"1\"");
  CHECK(client.Get("/").body == "whole body");
}

TEST_CASE("a client that reads slowly slows the member down, and gets everything") {
  std::atomic<int> written = 0;
  constexpr int kPieces = 1000;
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    base::WritePieces(responder->StartStream({}), [&]() -> std::optional<SharedBytes> {
      if (written == kPieces) return std::nullopt;
      ++written;
      return std::make_shared<const std::string>(60'000, 'x');
    });
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send("GET / HTTP/1.1\r\n\r\n");
  CHECK(client.ReadHead().code == 200);
  // Nothing moves any more: all queues on the way are full, and together they are short.
  CHECK(tests::Eventually([&] {
    const int before = written;
    absl::SleepFor(absl::Milliseconds(50));
    return before > 0 && written == before;
  }));
  CHECK(written < kPieces);
  size_t read = 0;
  for (std::string chunk = client.ReadChunk(); !chunk.empty(); chunk = client.ReadChunk()) {
    read += chunk.size();
  }
  CHECK(read == kPieces * 60'000);
}

TEST_CASE("a client that goes away ends the request at the member") {
  absl::Notification begun, closed;
  TestServer member([&](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    responder->OnClosed([&] { closed.Notify(); });
    static std::shared_ptr<HttpResponder> unanswered;
    static std::shared_ptr<base::HttpStream> stream;
    if (request.path == "/watch") {
      stream = responder->StartStream({.body = "event"});
    } else {
      unanswered = std::move(responder);
    }
    begun.Notify();
  });
  {
    Proxy proxy(member.Config());
    RawClient client(proxy.port());
    SECTION("during a watch") {
      client.Send("GET /watch HTTP/1.1\r\n\r\n");
      CHECK(client.ReadUntil("event") != "");
      client.Disconnect();
    }
    SECTION("before the answer") {
      client.Send("GET /silent HTTP/1.1\r\n\r\n");
      begun.WaitForNotification();
      client.Disconnect();
    }
    SECTION("with its server, before the answer") {
      client.Send("GET /silent HTTP/1.1\r\n\r\n");
      begun.WaitForNotification();
    }
  }
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("an answer that breaks off does not look complete, or becomes an error") {
  const bool is_short = GENERATE(true, false);
  RawServer member([&](int fd) {
    RawServer::ReadHead(fd);
    RawServer::WriteAll(fd, absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ",
                                         is_short ? "9" : "999999", "\r\n\r\nhalf"));
  });
  Proxy proxy(PlainConfig(member.port()));
  RawClient client(proxy.port());
  client.Send("GET / HTTP/1.1\r\n\r\n");
  RawResponse head = client.ReadHead();
  if (is_short) {
    CHECK(head.code == 502);
  } else {
    CHECK(head.code != 502);
    CHECK(client.ReadToEnd().size() < 999'999);
  }
}

TEST_CASE("a member that cannot be reached, or does not answer, becomes the caller's error") {
  RawServer silent([](int fd) { RawServer::AwaitEnd(fd); });
  Proxy slow(PlainConfig(silent.port()), {.head_timeout = absl::Milliseconds(50)});
  CHECK(RawClient(slow.port()).Get("/").code == 504);
  int port = 0;
  {
    RawServer gone([](int) {});
    port = gone.port();
  }
  Proxy proxy(PlainConfig(port));
  const RawResponse response = RawClient(proxy.port()).Get("/");
  CHECK(response.code == 502);
  CHECK(absl::StrContains(response.body, "connection refused"));
}

// Sends everything back; ends at "bye". Other paths answer by their names.
void Echo(HttpRequest request, std::shared_ptr<HttpResponder> responder) {
  if (request.path == "/refused") return responder->Send({403, "text/plain", {}, "not you"});
  if (request.path == "/ignored") return responder->Send({200, "text/plain", {}, "hello"});
  const std::shared_ptr<base::HttpTunnel> tunnel =
      responder->Upgrade({.code = 101,
                          .headers = {{"Upgrade", std::string(request.UpgradeProtocol())},
                                      {"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}}});
  tunnel->Start({.on_data =
                     [tunnel](std::string bytes) {
                       const bool last = absl::EndsWith(bytes, "bye");
                       tunnel->Write(std::move(bytes));
                       if (last) return tunnel->EndWriting();
                       tunnel->OnRoom([tunnel] { tunnel->Read(); });
                     },
                 .on_end = [tunnel] { tunnel->EndWriting(); }});
  tunnel->Read();
}

std::string UpgradeRequest(absl::string_view path) {
  return absl::StrCat("GET ", path,
                      " HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n");
}

TEST_CASE("an upgrade is relayed until either side ends") {
  TestServer member(&Echo);
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(UpgradeRequest("/exec") + "early!");
  RawResponse head = client.ReadHead();
  CHECK(head.code == 101);
  CHECK(head.headers["upgrade"] == "websocket");
  CHECK(head.headers["connection"] == "Upgrade");
  CHECK(head.headers["sec-websocket-protocol"] == "v5.channel.k8s.io");
  CHECK(client.ReadUntil("!") == "early!");
  const std::string block(100'000, 'x');
  for (int i = 0; i < 50; ++i) {
    REQUIRE(client.Send(block + "!"));
    REQUIRE(client.ReadUntil("!").size() == block.size() + 1);
  }
  SECTION("the member") {
    client.Send("bye");
    CHECK(client.ReadToEnd() == "bye");
  }
  SECTION("the client") {
    client.EndSending();
    CHECK(client.EndsNow());
  }
}

TEST_CASE("a client that does not read an upgraded connection holds the member back") {
  std::atomic<int> written = 0;
  absl::Notification closed;
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    const std::shared_ptr<base::HttpTunnel> tunnel =
        responder->Upgrade({.code = 101, .headers = {{"Upgrade", "websocket"}}});
    tunnel->Start({.on_closed = [&] { closed.Notify(); }});
    auto write = std::make_shared<std::function<void()>>();
    *write = [&written, tunnel, weak = std::weak_ptr(write)] {
      const auto self = weak.lock();
      while (written < 1000 && tunnel->HasRoom()) {
        tunnel->Write(std::string(100'000, 'x'));
        ++written;
      }
      if (written < 1000) return tunnel->OnRoom([self] { (*self)(); });
      tunnel->EndWriting();
    };
    (*write)();
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(UpgradeRequest("/exec"));
  CHECK(client.ReadHead().code == 101);
  CHECK(written < 1000);
  SECTION("then reads all of it") { CHECK(client.ReadToEnd().size() == 100'000'000); }
  SECTION("then goes away") { client.Disconnect(); }
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("what a member answers instead of an upgrade is relayed, unless it is no error") {
  TestServer member(&Echo);
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(UpgradeRequest("/refused"));
  RawResponse response = client.ReadResponse();
  CHECK(response.code == 403);
  CHECK(response.body == "not you");
  client.Send(UpgradeRequest("/ignored"));
  response = client.ReadResponse();
  CHECK(response.code == 502);
  CHECK(absl::StrContains(response.body, "invalid upgrade response: status code 200"));
}

TEST_CASE("a refusal may be answered in another way") {
  const std::string text = GENERATE(std::string("no"), std::string(50'000, 'n'));
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    responder->Send({403, "text/plain", {}, text});
  });
  const auto forwarder = *kube::Forwarder::Create(member.Config());
  bool replaces = GENERATE(true, false);
  std::atomic<int> asked = 0;
  const auto server = *base::HttpServer::Start(
      {}, [&](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
        kube::RelayOptions options{.path = "/", .on_error = &ErrorAnswer};
        options.on_forbidden = [&, responder](absl::string_view body) {
          ++asked;
          CHECK(body == text);
          if (replaces) responder->Send({200, "text/plain", {}, "another way"});
          return replaces;
        };
        kube::Relay(request, responder, *forwarder, std::move(options));
      });
  const bool is_short = text.size() < 32 << 10;
  const RawResponse response = RawClient(server->port()).Get("/");
  CHECK(asked == (is_short ? 1 : 0));
  CHECK(response.body == (is_short && replaces ? "another way" : text));
}

TEST_CASE("many clients are relayed at the same time, streams and upgrades") {
  TestServer member([](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    if (!request.UpgradeProtocol().empty()) return Echo(std::move(request), std::move(responder));
    responder->Send({200, "text/plain", {}, std::string(100'000, 'x')});
  });
  Proxy proxy(member.Config());
  std::atomic<int> good = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(proxy.port());
      if (i % 2 == 0) {
        if (client.Get("/").body.size() == 100'000) ++good;
        return;
      }
      client.Send(UpgradeRequest("/exec"));
      if (client.ReadHead().code != 101) return;
      client.Send("bye");
      if (client.ReadToEnd() == "bye") ++good;
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(good == 100);
}

}  // namespace
