// Long answers to readers that are slow, and what bounds them.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
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
using base::SharedBytes;
using tests::RawClient;
using tests::RawResponse;
using tests::StartServer;

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

SharedBytes Piece(size_t size, char c) { return std::make_shared<const std::string>(size, c); }

// Answers every request with `head` and `count` times `piece`, and counts how many were asked for.
struct PieceServer {
  HttpResponse head;
  SharedBytes piece;
  int count = 0;
  std::atomic<int> written = 0;

  base::HttpHandler Handler() {
    return [this](HttpRequest, std::shared_ptr<HttpResponder> responder) {
      auto left = std::make_shared<int>(count);
      base::WritePieces(responder->StartStream(head), [this, left]() -> std::optional<SharedBytes> {
        if ((*left)-- == 0) return std::nullopt;
        ++written;
        return piece;
      });
    };
  }
};

TEST_CASE("a long answer waits for its reader instead of being cut") {
  HttpServerOptions options;
  options.max_stream_backlog_bytes = 1 << 20;
  options.stream_window_bytes = 100 << 10;
  PieceServer pieces{.piece = Piece(50 << 10, 'x'), .count = 1000};
  auto server = StartServer(pieces.Handler(), options);
  RawClient client(server->port());
  client.Send(kGet);
  CHECK(client.ReadHead().code == 200);
  // Whatever the sockets hold, the 50 MB do not fit.
  CHECK(pieces.written < 1000);
  size_t read = 0;
  for (std::string chunk = client.ReadChunk(); !chunk.empty(); chunk = client.ReadChunk()) {
    read += chunk.size();
  }
  CHECK(read == 1000 * pieces.piece->size());
  CHECK(pieces.written == 1000);
  CHECK(client.Get("/").body.size() == read);  // The connection lives on.
}

TEST_CASE("pieces of a whole answer are sent as one body") {
  const SharedBytes large = Piece(100 << 10, 'l');
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    HttpResponse response{200, "text/plain", {}, "begin "};
    response.more_body = {Piece(3, 'a'), large, Piece(2, 'z')};
    responder->Send(std::move(response));
  });
  RawClient client(server->port());
  RawResponse response = client.Get("/");
  CHECK(response.headers["content-length"] == absl::StrCat(6 + 3 + large->size() + 2));
  CHECK(response.body == absl::StrCat("begin aaa", *large, "zz"));
}

TEST_CASE("a stream of known length is sent without chunks") {
  PieceServer pieces{.piece = Piece(1000, 'x'), .count = 5};
  pieces.head.body = "12345";
  pieces.head.stream_length = 5005;
  auto server = StartServer(pieces.Handler());
  RawClient client(server->port());
  RawResponse response = client.Get("/");
  CHECK(response.headers["transfer-encoding"] == "");
  CHECK(response.headers["content-length"] == "5005");
  CHECK(response.body == "12345" + std::string(5000, 'x'));
  client.Send("HEAD / HTTP/1.1\r\n\r\n");
  response = client.ReadHead();
  CHECK(response.headers["content-length"] == "5005");
  CHECK(client.Get("/").body.size() == 5005);
}

TEST_CASE("a stream that does not keep to its length is cut") {
  PieceServer pieces{.piece = Piece(1000, 'x'), .count = 5};
  pieces.head.stream_length = GENERATE(4999u, 5001u);
  auto server = StartServer(pieces.Handler());
  RawClient client(server->port());
  const RawResponse response = client.Get("/");
  CHECK(response.body.size() < *pieces.head.stream_length);
  CHECK(client.EndsNow());
}

TEST_CASE("who waits for room hears of a reader that goes away") {
  PieceServer pieces{.piece = Piece(1 << 20, 'x'), .count = 1000};
  absl::Notification gone;
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    const auto notify = std::shared_ptr<void>(nullptr, [&](void*) { gone.Notify(); });
    base::WritePieces(responder->StartStream({}),
                      [&, notify]() -> std::optional<SharedBytes> { return pieces.piece; });
  });
  RawClient client(server->port());
  client.Send(kGet);
  client.ReadHead();
  client.Disconnect();
  CHECK(gone.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("a reader that takes nothing at all is cut after the stall timeout") {
  HttpServerOptions options;
  options.stall_timeout = absl::Milliseconds(200);
  absl::Notification closed;
  auto server = StartServer(
      [&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
        auto stream = responder->StartStream({});
        stream->OnClosed([&] { closed.Notify(); });
        base::WritePieces(std::move(stream), [piece = Piece(1 << 20, 'x')] { return piece; });
      },
      options);
  RawClient client(server->port());
  client.Send(kGet);
  client.ReadHead();
  CHECK(closed.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_CASE("a handler that has not answered yet hears that its client is gone") {
  absl::Notification asked, gone;
  std::shared_ptr<HttpResponder> kept;
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    kept = std::move(responder);
    kept->OnClosed([&] { gone.Notify(); });
    asked.Notify();
  });
  RawClient client(server->port());
  client.Send(kGet);
  asked.WaitForNotification();
  SECTION("gone") { client.Disconnect(); }
  SECTION("cut by the server") { server->DropConnections(); }
  SECTION("answered") { kept->Send({}); }
  CHECK(gone.WaitForNotificationWithTimeout(absl::Minutes(1)));
  server->Stop();
}

TEST_CASE("an idle stream costs no more than its bytes: room is reported at once") {
  absl::Notification room;
  std::shared_ptr<HttpStream> stream;
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    stream = responder->StartStream({});
    CHECK(stream->HasRoom());
    stream->OnRoom([&] { room.Notify(); });
  });
  RawClient client(server->port());
  client.Send(kGet);
  CHECK(room.WaitForNotificationWithTimeout(absl::Minutes(1)));
  client.ReadHead();
  stream->Close();
  CHECK_FALSE(stream->HasRoom());
  server->Stop();
}

}  // namespace
