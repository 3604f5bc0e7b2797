// Forwarded requests, over real connections.
#include "kube/http/forwarder.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "kube/http/transport.h"
#include "tests/kube/http/forward_reader.h"
#include "tests/kube/http/raw_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/support/eventually.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::SharedBytes;
using kube::EndToEndHeaders;
using kube::Forwarder;
using kube::ForwardRequest;
using kube::HeaderFields;
using tests::ForwardReader;
using tests::RawServer;
using tests::TestServer;

std::shared_ptr<Forwarder> NewForwarder(const kube::ConnectionConfig& config) {
  auto forwarder = Forwarder::Create(config);
  INFO(forwarder.status());
  REQUIRE(forwarder.ok());
  return *forwarder;
}

kube::ConnectionConfig PlainConfig(int port) {
  kube::ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", port);
  return config;
}

std::string ValueOf(const HeaderFields& fields, absl::string_view name) {
  std::string values;
  for (const auto& [field, value] : fields) {
    if (absl::EqualsIgnoreCase(field, name)) absl::StrAppend(&values, value, ";");
  }
  return values;
}

// Sends back what it got, headers as lines of the body.
void Describe(HttpRequest request, std::shared_ptr<HttpResponder> responder) {
  std::string text = absl::StrCat(request.method, " ", request.target, "\n");
  for (const auto& [name, value] : request.fields) absl::StrAppend(&text, name, ": ", value, "\n");
  responder->Send({201,
                   "text/plain",
                   {{"X-Twice", "a"}, {"X-Twice", "b"}, {"Keep-Alive", "5"}},
                   absl::StrCat(text, "\n", request.body)});
}

TEST_CASE("only headers that concern more than one connection are passed on") {
  const HeaderFields fields = {{"Accept", "a"},        {"Connection", "X-Mine, keep-alive"},
                               {"x-mine", "b"},        {"Keep-Alive", "5"},
                               {"Upgrade", "c"},       {"Transfer-Encoding", "chunked"},
                               {"Content-Length", ""}, {"Host", "d"},
                               {"TE", "trailers"},     {"Proxy-Authorization", "e"},
                               {"Expect", "f"},        {"Accept", "g"}};
  CHECK(EndToEndHeaders(fields) == HeaderFields{{"Accept", "a"}, {"Accept", "g"}});
}

TEST_CASE("a request is forwarded with its method, headers and body, and the answer comes back") {
  TestServer member(&Describe);
  kube::ConnectionConfig config = member.Config();
  config.server += "/base";
  config.token = "of-the-cluster";
  const auto forwarder = NewForwarder(config);
  const auto reader = ForwardReader::Start(*forwarder, {.method = "PATCH",
                                                        .path = "/api/v1/pods/a%20b?x=%2F",
                                                        .headers = {{"X-Custom", "1"},
                                                                    {"Authorization", "mine"},
                                                                    {"Impersonate-User", "bob"},
                                                                    {"Host", "proxy"},
                                                                    {"X-Custom", "2"}},
                                                        .body = "{}"});
  CHECK(reader->Head().code == 201);
  CHECK(ValueOf(reader->Head().headers, "x-twice") == "a;b;");
  CHECK(ValueOf(reader->Head().headers, "keep-alive") == "");
  CHECK(reader->Head().content_length == reader->Body().size());
  const std::string body = reader->Body();
  CHECK(absl::StartsWith(body, "PATCH /base/api/v1/pods/a%20b?x=%2F\n"));
  CHECK(absl::StrContains(body, "X-Custom: 1\nX-Custom: 2\nImpersonate-User: bob\n"));
  CHECK(absl::StrContains(body, "Authorization: Bearer of-the-cluster\n"));
  CHECK_FALSE(absl::StrContains(body, "mine"));
  CHECK(absl::StrContains(body, absl::StrCat("Host: ", config.server.substr(8, 15))));
  CHECK(absl::EndsWith(body, "\n\n{}"));
  CHECK(reader->End().ok());
}

TEST_CASE("forwards one after the other share a connection") {
  absl::Mutex mu;
  std::set<std::string> peers;
  TestServer member([&](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    absl::MutexLock lock(&mu);
    peers.insert(request.remote_address);
    responder->Send({.body = std::string(100, 'x')});
  });
  const auto forwarder = NewForwarder(member.Config());
  for (const char* method : {"GET", "HEAD", "POST", "GET", "DELETE", "GET"}) {
    const auto reader = ForwardReader::Start(*forwarder, {.method = method, .path = "/"});
    REQUIRE(reader->End().ok());
    CHECK(reader->Body().size() == (std::string(method) == "HEAD" ? 0 : 100));
    CHECK(reader->Head().content_length == 100u);
  }
  CHECK(peers.size() == 1);
  member.server().DropConnections();
  CHECK(ForwardReader::Start(*forwarder, {.method = "GET", .path = "/"})->End().ok());
  CHECK(peers.size() == 2);
}

TEST_CASE("an answer comes no faster than its reader takes it, whole and in order") {
  std::atomic<int> written = 0;
  constexpr int kPieces = 1000;
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    base::WritePieces(responder->StartStream({}), [&]() -> std::optional<SharedBytes> {
      if (written == kPieces) return std::nullopt;
      ++written;
      return std::make_shared<const std::string>(50'000, static_cast<char>('a' + written % 26));
    });
  });
  const auto forwarder = NewForwarder(member.Config());
  const auto reader = ForwardReader::Start(*forwarder, {.method = "GET", .path = "/"},
                                           /*by_hand=*/true);
  CHECK_FALSE(reader->Head().content_length.has_value());
  std::string body = reader->Next();
  CHECK(body.size() <= 128 << 10);
  CHECK(written < kPieces);
  CHECK_FALSE(reader->ended());
  while (body.size() < kPieces * 50'000) body += reader->Next();
  reader->stream->Read();  // The end may come after the last byte.
  CHECK(reader->End().ok());
  CHECK(body.size() == kPieces * 50'000);
  for (int i = 0; i < kPieces; ++i) REQUIRE(body[i * 50'000] == 'a' + (i + 1) % 26);
}

TEST_CASE("a watch's events arrive one by one, and cancelling ends it at the server") {
  absl::Notification closed;
  std::shared_ptr<base::HttpStream> stream;
  absl::Notification begun;
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    stream = responder->StartStream({});
    stream->OnClosed([&] { closed.Notify(); });
    begun.Notify();
  });
  const auto forwarder = NewForwarder(member.Config());
  const auto reader = ForwardReader::Start(
      *forwarder, {.method = "GET", .path = "/", .head_timeout = absl::InfiniteDuration()});
  begun.WaitForNotification();
  for (const char* event : {"one", "two", "three"}) {
    CHECK(stream->Write(event));
    CHECK(reader->Await(3) == event);
  }
  reader->stream->Cancel();
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
  CHECK_FALSE(reader->ended());
  stream.reset();
}

TEST_CASE("a server that cannot be reached or does not answer is reported") {
  RawServer silent([](int fd) { RawServer::AwaitEnd(fd); });
  auto reader =
      ForwardReader::Start(*NewForwarder(PlainConfig(silent.port())),
                           {.method = "GET", .path = "/", .head_timeout = absl::Milliseconds(50)});
  CHECK(absl::IsDeadlineExceeded(reader->End()));
  CHECK(absl::StrContains(reader->End().message(), "no answer within 50ms"));

  int port = 0;
  {
    RawServer gone([](int) {});
    port = gone.port();
  }
  reader = ForwardReader::Start(*NewForwarder(PlainConfig(port)), {.method = "PUT", .path = "/"});
  CHECK(absl::IsUnavailable(reader->End()));
  CHECK(kube::WasNotProcessed(reader->End()));
  CHECK(absl::StrContains(reader->End().message(), "connection refused"));

  reader =
      ForwardReader::Start(*NewForwarder(PlainConfig(port)),
                           {.method = "GET", .path = "/", .headers = {{"X-A", "b\r\nX-B: c"}}});
  CHECK(absl::IsInvalidArgument(reader->End()));
}

TEST_CASE("a body is let go of when the server has got it, before there is an answer") {
  RawServer silent([](int fd) {
    RawServer::ReadHead(fd);
    RawServer::AwaitEnd(fd);
  });
  auto share = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = share;
  const auto reader = ForwardReader::Start(*NewForwarder(PlainConfig(silent.port())),
                                           {.method = "POST",
                                            .path = "/",
                                            .body = std::string(100'000, 'x'),
                                            .body_share = std::move(share)});
  CHECK(tests::Eventually([&] { return held.expired(); }));
  CHECK_FALSE(reader->ended());
  reader->stream->Cancel();
}

TEST_CASE("an answer that breaks off is reported, before and after its head") {
  const std::string answer = GENERATE(as<std::string>(), "", "HTTP/1.1 200 OK\r\nContent-Le",
                                      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                                      "HTTP/1.1 101 Surprise\r\n\r\n", "rubbish\r\n\r\n");
  RawServer broken([&](int fd) {
    RawServer::ReadHead(fd);
    RawServer::WriteAll(fd, answer);
  });
  const auto reader = ForwardReader::Start(*NewForwarder(PlainConfig(broken.port())),
                                           {.method = "GET", .path = "/"});
  CHECK(absl::IsUnavailable(reader->End()));
  CHECK(reader->Body() == (absl::EndsWith(answer, "half") ? "half" : ""));
}

TEST_CASE("a kept connection that the server closes under a read is replaced") {
  std::atomic<int> requests = 0;
  // Closes with the second request instead of answering it, once.
  RawServer server([&](int fd) {
    while (!RawServer::ReadHead(fd).empty()) {
      if (++requests == 2) return;
      RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  const auto forwarder = NewForwarder(PlainConfig(server.port()));
  CHECK(ForwardReader::Start(*forwarder, {.method = "GET", .path = "/"})->Body() == "ok");
  SECTION("a read is sent again") {
    CHECK(ForwardReader::Start(*forwarder, {.method = "GET", .path = "/"})->Body() == "ok");
    CHECK(requests == 3);
  }
  SECTION("a write is not, because it may have been carried out") {
    const auto reader = ForwardReader::Start(*forwarder, {.method = "DELETE", .path = "/"});
    CHECK(absl::IsUnavailable(reader->End()));
    CHECK_FALSE(kube::WasNotProcessed(reader->End()));
    CHECK(requests == 2);
  }
}

TEST_CASE("a hundred forwards run at the same time") {
  absl::Mutex mu;
  std::vector<std::shared_ptr<HttpResponder>> waiting;
  TestServer member([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    absl::MutexLock lock(&mu);
    waiting.push_back(std::move(responder));
    if (waiting.size() < 100) return;
    for (const auto& one : waiting) one->Send({.body = std::string(200'000, 'x')});
    waiting.clear();
  });
  const auto forwarder = NewForwarder(member.Config());
  std::vector<std::shared_ptr<ForwardReader>> readers;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(ForwardReader::Start(*forwarder, {.method = "GET", .path = "/"}));
  }
  for (const auto& reader : readers) {
    REQUIRE(reader->End().ok());
    CHECK(reader->Body().size() == 200'000);
  }
}

// Sends everything back until its peer ends.
void Echo(HttpRequest request, std::shared_ptr<HttpResponder> responder) {
  if (request.path == "/refused") {
    return responder->Send({403, "text/plain", {}, "may not " + request.method});
  }
  const std::shared_ptr<base::HttpTunnel> tunnel = responder->Upgrade(
      {.code = 101,
       .headers = {{"Upgrade", std::string(request.UpgradeProtocol())}, {"X-Stream", "v5"}}});
  tunnel->Start({.on_data =
                     [tunnel](std::string bytes) {
                       if (absl::string_view(bytes) == "bye") return tunnel->EndWriting();
                       tunnel->Write(std::move(bytes));
                       tunnel->OnRoom([tunnel] { tunnel->Read(); });
                     },
                 .on_end = [tunnel] { tunnel->EndWriting(); }});
  tunnel->Read();
}

TEST_CASE("an upgraded connection carries bytes both ways") {
  TestServer member(&Echo, {.tls = GENERATE(true, false)});
  const auto forwarder = NewForwarder(member.Config());
  const auto reader =
      ForwardReader::Start(*forwarder, {.method = "POST", .path = "/exec", .upgrade = "SPDY/3.1"});
  CHECK(reader->Head().code == 101);
  CHECK(reader->Head().upgraded);
  CHECK(ValueOf(reader->Head().headers, "upgrade") == "SPDY/3.1;");
  CHECK(ValueOf(reader->Head().headers, "x-stream") == "v5;");
  const std::string block(300'000, 'x');
  for (int i = 0; i < 20; ++i) {
    REQUIRE(reader->stream->Write(block));
    REQUIRE(reader->Await(block.size()).size() == block.size());
  }
  SECTION("until this side ends") {
    CHECK(reader->stream->Write("last"));
    reader->stream->EndWriting();
    CHECK_FALSE(reader->stream->Write("later"));
  }
  SECTION("until the server ends") { CHECK(reader->stream->Write("bye")); }
  CHECK(reader->End().ok());
  CHECK_FALSE(reader->stream->HasRoom());
}

TEST_CASE("a refused upgrade is an answer like others") {
  TestServer member(&Echo);
  const auto forwarder = NewForwarder(member.Config());
  const auto reader = ForwardReader::Start(
      *forwarder, {.method = "GET", .path = "/refused", .upgrade = "websocket"});
  CHECK(reader->Head().code == 403);
  CHECK_FALSE(reader->Head().upgraded);
  CHECK(reader->Body() == "may not GET");
  CHECK(reader->End().ok());
}

TEST_CASE("a peer of an upgraded connection that does not read makes the writer wait") {
  TestServer member([](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    static std::shared_ptr<base::HttpTunnel> kept;
    kept = responder->Upgrade({.code = 101, .headers = {{"Upgrade", "x"}}});
  });
  const auto forwarder = NewForwarder(member.Config());
  const auto reader =
      ForwardReader::Start(*forwarder, {.method = "GET", .path = "/", .upgrade = "x"});
  CHECK(reader->Head().upgraded);
  CHECK(reader->stream->HasRoom());
  // More than the sockets' buffers hold.
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 30; ++i) REQUIRE(reader->stream->Write(block));
  CHECK_FALSE(reader->stream->HasRoom());
  absl::Notification room;
  reader->stream->OnRoom([&] { room.Notify(); });
  CHECK_FALSE(room.HasBeenNotified());
  reader->stream->Cancel();
  CHECK(room.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("a forward goes through the cluster's proxy, with its headers") {
  TestServer member(&Describe);
  const int member_port = member.server().port();
  absl::Mutex mu;
  std::string connect;
  RawServer proxy([&](int fd) {
    const std::string head = RawServer::ReadHead(fd);
    {
      absl::MutexLock lock(&mu);
      connect = head;
    }
    const int to_member = RawServer::Connect(member_port);
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\n\r\n");
    RawServer::Relay(fd, to_member);
    close(to_member);
  });
  kube::ConnectionConfig config = member.Config();
  config.proxy_url = absl::StrCat("http://user:secret@127.0.0.1:", proxy.port());
  config.proxy_headers = {{"X-Proxy", "yes"}};
  const auto reader =
      ForwardReader::Start(*NewForwarder(config), {.method = "GET", .path = "/through"});
  CHECK(absl::StartsWith(reader->Body(), "GET /through\n"));
  absl::MutexLock lock(&mu);
  CHECK(absl::StartsWith(connect, "CONNECT 127.0.0.1:"));
  CHECK(absl::StrContains(connect, "X-Proxy: yes\r\n"));
  CHECK(absl::StrContains(connect, "Proxy-Authorization: Basic "));
}

TEST_CASE("the member's certificate is verified unless that is switched off") {
  TestServer member(&Describe);
  kube::ConnectionConfig config = member.Config();
  config.ca_pem = (*tls::CertificateAuthority::Create("another"))->cert_pem();
  auto reader = ForwardReader::Start(*NewForwarder(config), {.method = "GET", .path = "/"});
  CHECK(absl::StrContains(reader->End().message(), "the server's certificate is refused"));
  CHECK(kube::WasNotProcessed(reader->End()));
  config.ca_pem = "";
  config.insecure_skip_tls_verify = true;
  CHECK(ForwardReader::Start(*NewForwarder(config), {.method = "GET", .path = "/"})->End().ok());
}

}  // namespace
