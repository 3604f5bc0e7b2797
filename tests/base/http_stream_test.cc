// Answers that are sent in pieces.
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/http_server.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::HttpRequest;
using base::HttpResponder;
using base::HttpResponse;
using base::HttpServerOptions;
using base::HttpStream;
using tests::RawClient;
using tests::RawResponse;

// A server that streams on every request and gives the streams to the test.
class StreamServer {
 public:
  explicit StreamServer(HttpServerOptions options = {}, HttpResponse head = {})
      : server_(tests::StartServer(
            [this, head](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
              if (request.path == "/plain")
                return responder->Send({200, "text/plain", {}, "plain"});
              absl::MutexLock lock(&mu_);
              streams_.push_back(responder->StartStream(head));
            },
            options)) {}

  // Waits for a stream that was not returned yet, and returns the latest one.
  std::shared_ptr<HttpStream> NextStream() {
    const auto come = [this] { return !streams_.empty(); };
    absl::MutexLock lock(&mu_, absl::Condition(&come));
    std::shared_ptr<HttpStream> stream = std::move(streams_.back());
    streams_.pop_back();
    return stream;
  }

  base::HttpServer& server() { return *server_; }
  int port() const { return server_->port(); }

 private:
  absl::Mutex mu_;
  std::vector<std::shared_ptr<HttpStream>> streams_;
  std::unique_ptr<base::HttpServer> server_;
};

constexpr char kWatch[] = "GET /watch HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_CASE("what is written to a stream arrives at once, and its end lets the connection live on") {
  StreamServer server;
  RawClient client(server.port());
  client.Send(kWatch);
  const auto stream = server.NextStream();
  RawResponse head = client.ReadHead();
  CHECK(head.code == 200);
  CHECK(head.headers["transfer-encoding"] == "chunked");
  for (const char* text : {"one", "two\n", "three"}) {
    CHECK(stream->Write(text));
    CHECK(client.ReadChunk() == text);
  }
  CHECK(stream->Write(""));  // Must not be sent: an empty chunk ends the body.
  stream->Close();
  CHECK(client.ReadChunk() == "");
  CHECK_FALSE(stream->Write("too late"));
  CHECK(client.Get("/plain").body == "plain");
}

TEST_CASE("a stream's head may bring the first piece") {
  StreamServer server({}, {201, "application/json", {{"X-A", "b"}}, "first"});
  RawClient client(server.port());
  client.Send(kWatch);
  server.NextStream()->Close();
  RawResponse response = client.ReadResponse();
  CHECK(response.code == 201);
  CHECK(response.headers["x-a"] == "b");
  CHECK(response.body == "first");
}

TEST_CASE("a client of HTTP/1.0 gets the stream unchunked up to the end of the connection") {
  StreamServer server;
  RawClient client(server.port());
  client.Send("GET /watch HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto stream = server.NextStream();
  stream->Write("one");
  stream->Write("two");
  stream->Close();
  RawResponse head = client.ReadHead();
  CHECK(head.headers.count("transfer-encoding") == 0);
  CHECK(head.headers["connection"] == "close");
  CHECK(client.ReadToEnd() == "onetwo");
}

TEST_CASE("a stream hears when its peer goes away") {
  StreamServer server;
  RawClient client(server.port());
  client.Send(kWatch);
  const auto stream = server.NextStream();
  absl::Notification closed;
  stream->OnClosed([&] { closed.Notify(); });
  client.ReadHead();
  client.Disconnect();
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
  CHECK_FALSE(stream->Write("anyone?"));
  // A callback that is set after the stream has closed is called as well.
  absl::Notification told;
  stream->OnClosed([&] { told.Notify(); });
  CHECK(told.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("a stream hears of its own end, however it ends") {
  StreamServer server;
  RawClient client(server.port());
  client.Send(kWatch);
  auto stream = server.NextStream();
  absl::Notification closed;
  stream->OnClosed([&] { closed.Notify(); });
  SECTION("by Close") { stream->Close(); }
  SECTION("by Abort") { stream->Abort(); }
  SECTION("by being forgotten") { stream.reset(); }
  SECTION("by dropped connections") { server.server().DropConnections(); }
  SECTION("by a server that stops") { server.server().Stop(); }
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("an aborted or forgotten stream does not look complete") {
  StreamServer server;
  RawClient client(server.port());
  client.Send(kWatch);
  auto stream = server.NextStream();
  stream->Write("half");
  client.ReadUntil("half\r\n");
  SECTION("aborted") { stream->Abort(); }
  SECTION("forgotten") { stream.reset(); }
  CHECK(client.EndsNow());
}

TEST_CASE("a watcher that does not keep up is cut, the others are not") {
  HttpServerOptions options;
  options.max_stream_backlog_bytes = 1 << 20;
  StreamServer server(options);
  RawClient slow(server.port()), quick(server.port());
  slow.Send(kWatch);
  const auto slow_stream = server.NextStream();
  quick.Send(kWatch);
  const auto quick_stream = server.NextStream();
  absl::Notification closed;
  slow_stream->OnClosed([&] { closed.Notify(); });
  quick.ReadHead();

  const std::string event(100 << 10, 'x');
  int taken = 0;  // Events that fit into the sockets' buffers and the backlog.
  while (taken < 1000 && slow_stream->Write(event)) {
    ++taken;
    REQUIRE(quick_stream->Write(event));
    REQUIRE(quick.ReadChunk() == event);
  }
  CHECK(taken >= 10);
  CHECK(taken < 1000);
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
  CHECK_FALSE(slow_stream->Write("more"));
  CHECK(quick_stream->Write("still here"));
  CHECK(quick.ReadChunk() == "still here");
}

// Writes more than a client that does not read can take, then calls `end`; returns whether the
// stream is closed.
bool ClosesUnread(StreamServer& server, void (HttpStream::*end)()) {
  RawClient client(server.port());
  client.Send(kWatch);
  const auto stream = server.NextStream();
  absl::Notification closed;
  stream->OnClosed([&] { closed.Notify(); });
  for (int i = 0; i < 200; ++i) stream->Write(std::string(100 << 10, 'x'));
  (stream.get()->*end)();
  return closed.WaitForNotificationWithTimeout(absl::Minutes(1));
}

TEST_CASE("aborting works while the peer does not read") {
  StreamServer server;
  CHECK(ClosesUnread(server, &HttpStream::Abort));
}

TEST_CASE("the end of a stream does not wait for ever for a peer that does not read") {
  HttpServerOptions options;
  options.idle_timeout = absl::Milliseconds(300);
  StreamServer server(options);
  CHECK(ClosesUnread(server, &HttpStream::Close));
}

TEST_CASE("a quiet stream outlives the timeouts") {
  HttpServerOptions options;
  options.request_timeout = absl::Milliseconds(300);
  options.idle_timeout = absl::Milliseconds(300);
  StreamServer server(options);
  RawClient client(server.port());
  client.Send(kWatch);
  const auto stream = server.NextStream();
  client.ReadHead();
  // Connections without a request are closed after the timeouts, so three such closings in a row
  // show that the timeouts have passed.
  for (int i = 0; i < 3; ++i) CHECK(RawClient(server.port()).EndsNow());
  CHECK(stream->Write("alive"));
  CHECK(client.ReadChunk() == "alive");
}

TEST_CASE("pieces written by several threads arrive whole") {
  HttpServerOptions options;
  options.threads = 2;
  StreamServer server(options);
  RawClient client(server.port());
  client.Send(kWatch);
  const auto stream = server.NextStream();
  constexpr int kThreads = 4, kPieces = 200;
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kPieces; ++i) stream->Write(absl::StrCat(t, ":", i, "\n"));
    });
  }
  for (std::thread& writer : writers) writer.join();
  stream->Close();

  const std::string body = client.ReadResponse().body;
  std::vector<int> next(kThreads, 0);
  int lines = 0;
  for (absl::string_view line : absl::StrSplit(body, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, ':');
    REQUIRE(parts.size() == 2);
    const size_t thread = std::stoul(parts[0]);
    REQUIRE(std::stoi(parts[1]) == next.at(thread)++);  // Pieces of one thread keep their order.
    ++lines;
  }
  CHECK(lines == kThreads * kPieces);
}

TEST_CASE("a request sent ahead of a stream's end is served after it") {
  StreamServer server;
  RawClient client(server.port());
  client.Send(absl::StrCat(kWatch, "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n"));
  const auto stream = server.NextStream();
  stream->Write("x");
  stream->Close();
  CHECK(client.ReadResponse().body == "x");
  CHECK(client.ReadResponse().body == "plain");
}

TEST_CASE("an answer to HEAD stays without body when it is streamed") {
  StreamServer server;
  RawClient client(server.port());
  client.Send("HEAD /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto stream = server.NextStream();
  CHECK(stream->Write("never seen"));
  stream->Close();
  CHECK(client.ReadHead().code == 200);
  CHECK(client.Get("/plain").body == "plain");
}

}  // namespace
