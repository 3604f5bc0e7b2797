// Requests that are unusual, broken or hostile.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/http_server.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::HttpServerOptions;
using base::HttpStream;
using tests::EchoHandler;
using tests::KeptRequest;
using tests::RawClient;
using tests::StartServer;

TEST_CASE("a client that has said all it wants still gets its answers") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send(
      "GET /one HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  client.EndSending();
  CHECK(client.ReadResponse().headers["x-path"] == "/one");
  CHECK(client.ReadResponse().body == "body");
  CHECK(client.EndsNow());
}

TEST_CASE("a client that has said all it wants gets an answer that comes late") {
  KeptRequest kept;
  auto server = StartServer(kept.Handler());
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.EndSending();
  kept.Await().Send({200, "text/plain", {}, std::string(1 << 20, 'x')});
  CHECK(client.ReadResponse().body.size() == 1 << 20);
  CHECK(client.EndsNow());
}

TEST_CASE("an answer that never comes does not keep the connection of a client that has ended") {
  HttpServerOptions options;
  options.idle_timeout = absl::Milliseconds(300);
  std::shared_ptr<HttpResponder> kept;
  auto server = StartServer(
      [&](HttpRequest, std::shared_ptr<HttpResponder> responder) { kept = std::move(responder); },
      options);
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.EndSending();
  CHECK(client.EndsNow());
  server->Stop();
}

TEST_CASE("a client that ends within its request is dropped") {
  auto server = StartServer(EchoHandler());
  const std::string begun = GENERATE(
      as<std::string>(), "", "GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf",
      "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  RawClient client(server->port());
  client.Send(begun);
  client.EndSending();
  const std::string answer = client.ReadToEnd();
  CHECK((answer.empty() || answer == "HTTP/1.1 100 Continue\r\n\r\n"));
  CHECK(client.EndsNow());
}

TEST_CASE("a refused client that has ended reads why") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("rubbish\r\n\r\n");
  client.EndSending();
  CHECK(client.ReadResponse().code == 400);
  CHECK(client.EndsNow());
}

TEST_CASE("a stream ends when its client ends, even if that was before the stream began") {
  KeptRequest kept;
  auto server = StartServer(kept.Handler());
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  HttpResponder& responder = kept.Await();
  std::shared_ptr<HttpStream> stream;
  SECTION("before") {
    client.EndSending();
    stream = responder.StartStream({});
  }
  SECTION("after") {
    stream = responder.StartStream({});
    stream->Write("x");
    client.ReadUntil("x\r\n");
    client.EndSending();
  }
  absl::Notification closed;
  stream->OnClosed([&] { closed.Notify(); });
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
  CHECK_FALSE(stream->Write("anyone?"));
  server->Stop();
}

TEST_CASE("line breaks before a request are passed over") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\n");
  CHECK(client.ReadResponse().body == "x");
  client.Send("\n\r\n");
  CHECK(client.Get("/y").headers["x-path"] == "/y");
}

// A server that takes such a body for the next request can be made to answer a request that its
// client never sent.
TEST_CASE("a body whose end cannot be known is refused") {
  auto server = StartServer(EchoHandler());
  const std::string encoding =
      GENERATE(as<std::string>(), "gzip", "identity", "gzip, chunked", "chunked, gzip",
               "chunked\r\nTransfer-Encoding: gzip", "chunked\r\nTransfer-Encoding: chunked",
               "chunked\r\nContent-Length: 5", "xchunked");
  INFO(encoding);
  RawClient client(server->port());
  client.Send(absl::StrCat("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ", encoding,
                           "\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"));
  const int code = client.ReadResponse().code;
  CHECK((code == 400 || code == 501));
  CHECK(client.EndsNow());
}

TEST_CASE("chunk extensions and trailers are read, but not without end") {
  HttpServerOptions options;
  options.max_header_bytes = 4000;
  auto server = StartServer(EchoHandler(), options);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  SECTION("small ones") {
    RawClient client(server->port());
    client.Send(head + "2;name=\"value\"\r\nok\r\n0\r\nX-Trailer: a\r\n\r\n");
    CHECK(client.ReadResponse().body == "ok");
    CHECK(client.Get("/next").code == 200);
  }
  SECTION("an endless extension") {
    RawClient client(server->port());
    client.Send(head + "2;" + std::string(100'000, 'x'));
    CHECK(client.ReadResponse().code == 431);
  }
  SECTION("an endless trailer") {
    RawClient client(server->port());
    client.Send(head + "2\r\nok\r\n0\r\nX: " + std::string(100'000, 'x'));
    CHECK(client.ReadResponse().code == 431);
  }
}

TEST_CASE("a client of HTTP/1.0 is not asked to go on") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  client.Send("ok");
  CHECK(client.ReadResponse().code == 200);
}

TEST_CASE("a client of HTTP/1.0 may keep its connection if it asks") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  for (int i = 0; i < 3; ++i) {
    client.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    auto response = client.ReadResponse();
    CHECK(response.code == 200);
    CHECK(response.headers["connection"] == "keep-alive");
  }
}

TEST_CASE("a body of exactly the limit is taken") {
  HttpServerOptions options;
  options.max_body_bytes = 1000;
  auto server = StartServer(EchoHandler(), options);
  const std::string body(1000, 'x');
  RawClient client(server->port());
  client.Send(absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", body));
  CHECK(client.ReadResponse().body == body);
  client.Send(
      absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n", body,
                   "\r\n0\r\n\r\n"));
  CHECK(client.ReadResponse().body == body);
}

TEST_CASE("a client that sends ahead more than it reads is held back, and loses nothing") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  const std::string body(60'000, 'x');
  const std::string request =
      absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  for (int i = 0; i < 10; ++i) REQUIRE(client.Send(request));
  for (int i = 0; i < 10; ++i) REQUIRE(client.ReadResponse().body == body);
}

TEST_CASE("a server that stops does not wait for a client that does not read") {
  std::shared_ptr<HttpStream> stream;
  absl::Notification started;
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    stream = responder->StartStream({});
    started.Notify();
  });
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  started.WaitForNotification();
  for (int i = 0; i < 100; ++i) stream->Write(std::string(100'000, 'x'));
  absl::Notification closed;
  stream->OnClosed([&] { closed.Notify(); });
  server->Stop();
  CHECK(closed.HasBeenNotified());
  CHECK_FALSE(stream->Write("more"));
}

}  // namespace
