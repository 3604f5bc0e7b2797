// Servers that break rules, or do what is allowed but rare. Where cpprestsdk cannot do better, the
// lean transport alone is tested.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tests/kube/http/raw_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"

namespace kube {
namespace {

using tests::RawServer;

const char kChunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

ConnectionConfig ConfigOf(const RawServer& server) {
  ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", server.port());
  return config;
}

// Returns the result of a GET whose server answers with `text`, then with `endless` again and again
// if that is not empty, and then closes the connection.
absl::StatusOr<HttpResponse> AnswerTo(const std::string& text, const std::string& endless = "") {
  RawServer server([&](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    RawServer::WriteAll(fd, text);
    while (!endless.empty() && RawServer::WriteAll(fd, endless)) {
    }
  });
  return tests::Connect(ConfigOf(server))
      ->Send({.method = "GET", .path = "/", .max_answer_bytes = 1 << 20}, {});
}

// Waits for the end of a stream.
class End {
 public:
  StreamCallbacks Callbacks() {
    return {.on_head = [](const HttpResponse&) {},
            .on_data = [this](absl::string_view bytes) { bytes_ += bytes.size(); },
            .on_end =
                [this](absl::Status status) {
                  absl::MutexLock lock(&mu_);
                  status_ = std::move(status);
                  over_ = true;
                }};
  }
  absl::Status Await() {
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(&over_), absl::Minutes(1));
    return status_;
  }

 private:
  absl::Mutex mu_;
  bool over_ = false;
  absl::Status status_ = absl::UnknownError("no end came");
  size_t bytes_ = 0;
};

}  // namespace

TEST_CASE("Sizes of chunks that make no sense are refused") {
  tests::ForEachTransport();
  for (const char* size : {"-1", "ffffffffffffffffffff", "zz", ""}) {
    CAPTURE(size);
    const auto answer = AnswerTo(absl::StrCat(kChunked, size, "\r\nabc\r\n0\r\n\r\n"));
    CHECK_FALSE(answer.ok());
  }
}

TEST_CASE("A body that ends with its connection is read whole") {
  tests::ForEachTransport();
  const auto answer = AnswerTo("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
  INFO(answer.status());
  REQUIRE(answer.ok());
  CHECK(answer->body == "hello");
}

TEST_CASE("Bodies are limited however they are sent") {
  tests::ForEachTransport();
  const std::string block(10'000, 'x');
  CHECK(absl::IsResourceExhausted(
      AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", block).status()));
  CHECK(absl::IsResourceExhausted(
      AnswerTo(kChunked, absl::StrCat("2710\r\n", block, "\r\n")).status()));
  CHECK(absl::IsResourceExhausted(AnswerTo("HTTP/1.1 200 OK\r\n\r\n", block).status()));
}

TEST_CASE("Heads and chunks are limited before they are in memory") {
  tests::LeanTransportOnly();
  const std::string block(10'000, 'x');
  CHECK(absl::IsResourceExhausted(AnswerTo("HTTP/1.1 200 OK\r\nX: ", block).status()));
  CHECK(absl::IsResourceExhausted(
      AnswerTo("HTTP/1.1 200 OK\r\n", absl::StrCat("X: ", block.substr(0, 100), "\r\n")).status()));
  CHECK(
      absl::IsResourceExhausted(AnswerTo(absl::StrCat(kChunked, "7fffffff\r\n"), block).status()));
  CHECK_FALSE(AnswerTo(absl::StrCat(kChunked, "1;"), block).ok());
}

TEST_CASE("Interim answers are passed over") {
  tests::LeanTransportOnly();
  const auto answer = AnswerTo(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
      "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
  INFO(answer.status());
  REQUIRE(answer.ok());
  CHECK(answer->code == 201);
  CHECK(answer->body == "ok");
}

TEST_CASE("A server that closes each connection without a word costs no request") {
  tests::ForEachTransport();
  RawServer server([](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto transport = tests::Connect(ConfigOf(server));
  for (int i = 0; i < 20; ++i) {
    const auto answer = transport->Send({.method = "GET", .path = "/"}, {});
    INFO(answer.status());
    REQUIRE(answer.ok());
  }
}

// Answers one request of a connection, and closes it when the next one has come completely.
class ClosesOnSecond {
 public:
  int seen() const { return seen_; }
  ConnectionConfig Config() const { return ConfigOf(server_); }

 private:
  void Serve(int fd) {
    if (!Take(fd)) return;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    Take(fd);
  }
  bool Take(int fd) {
    const std::string head = RawServer::ReadHead(fd);
    if (absl::StrContains(head, "Content-Length: 4")) RawServer::ReadBytes(fd, 4);
    seen_ += !head.empty();
    return !head.empty();
  }

  std::atomic<int> seen_ = 0;
  RawServer server_{[this](int fd) { Serve(fd); }};
};

TEST_CASE("A write that the server may have seen is not sent again, a read is") {
  tests::LeanTransportOnly();
  const std::string method = GENERATE("POST", "PATCH", "PUT", "DELETE", "GET");
  ClosesOnSecond server;
  const auto transport = tests::Connect(server.Config());
  REQUIRE(transport->Send({.method = "GET", .path = "/"}, {}).ok());
  HttpRequest request{.method = method, .path = "/"};
  if (method != "GET" && method != "DELETE") request.body = "body";
  const auto answer = transport->Send(request, {});
  CAPTURE(method, answer.status());
  if (method == "GET") {
    CHECK(answer.ok());
    CHECK(server.seen() == 3);
    return;
  }
  CHECK(absl::IsUnavailable(answer.status()));
  CHECK_FALSE(WasNotProcessed(answer.status()));
  CHECK(server.seen() == 2);
}

TEST_CASE("A kept connection that was closed before a write begins costs nothing") {
  tests::LeanTransportOnly();
  std::atomic<int> seen = 0;
  RawServer server([&](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    ++seen;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto transport = tests::Connect(ConfigOf(server));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(transport->Send({.method = "POST", .path = "/"}, {}).ok());
    // The server accepts this connection after it has closed the previous one.
    const int next = RawServer::Connect(server.port());
    shutdown(next, SHUT_WR);
    RawServer::AwaitEnd(next);
    close(next);
  }
  CHECK(seen == 20);
}

TEST_CASE("A stream breaks off when its server does") {
  tests::ForEachTransport();
  const char* sent = GENERATE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
                              "HTTP/1.1 200 OK\r\nContent-Le", "220 smtp.example.com ESMTP\r\n");
  CAPTURE(sent);
  RawServer server([&](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    RawServer::WriteAll(fd, sent);
  });
  End end;
  const auto stream =
      tests::Connect(ConfigOf(server))->Open({.method = "GET", .path = "/"}, end.Callbacks());
  const absl::Status status = end.Await();
  CHECK(absl::IsUnavailable(status));
}

TEST_CASE("A stream whose head does not end is refused") {
  tests::LeanTransportOnly();
  RawServer server([&](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\n");
    while (RawServer::WriteAll(fd, absl::StrCat("X: ", std::string(100, 'x'), "\r\n"))) {
    }
  });
  End end;
  const auto stream =
      tests::Connect(ConfigOf(server))->Open({.method = "GET", .path = "/"}, end.Callbacks());
  CHECK(absl::IsResourceExhausted(end.Await()));
}

TEST_CASE("A stream whose head comes by drops ends in time") {
  tests::LeanTransportOnly();
  RawServer server([&](int fd) {
    if (RawServer::ReadHead(fd).empty()) return;
    RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nX: ");
    // Fast enough for the longest silence, and too slow for the limit of a head.
    while (RawServer::WriteAll(fd, "x")) absl::SleepFor(absl::Milliseconds(10));
  });
  End end;
  const auto stream = tests::Connect(ConfigOf(server))
                          ->Open({.method = "GET", .path = "/", .timeout = absl::Milliseconds(500)},
                                 end.Callbacks());
  const absl::Status status = end.Await();
  CHECK(absl::IsUnavailable(status));
  CHECK(absl::StrContains(status.message(), "the head of the answer has not come whole"));
}

TEST_CASE("A call without a file descriptor for waiting fails at once, and says so") {
  tests::LeanTransportOnly();
  ConnectionConfig config;
  config.server = "http://localhost:1";  // Nobody listens there.
  const auto transport = tests::Connect(config);
  const auto failure = [&] {
    // A thread of its own, which has made no call before.
    absl::Status sent;
    std::thread([&] {
      sent = transport->Send({.method = "GET", .path = "/"}, {}).status();
    }).join();
    return sent;
  };
  // Sanitizers check each type once, for which they need a descriptor.
  CHECK_FALSE(absl::StrContains(failure().message(), "no file descriptor"));
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 3;  // Standard input, output and error.
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const absl::Status without = failure();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(absl::IsUnavailable(without));
  CHECK(absl::StrContains(without.message(), "no file descriptor"));
  CHECK_FALSE(absl::StrContains(failure().message(), "no file descriptor"));
}

TEST_CASE("A callback that throws ends its stream and no other") {
  tests::ForEachTransport();
  tests::TestServer server([](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
    auto stream = responder->StartStream({});
    stream->Write("x");
    stream->Close();
  });
  const auto transport = tests::Connect(server.Config());
  End thrown, other;
  StreamCallbacks callbacks = thrown.Callbacks();
  callbacks.on_data = [](absl::string_view) { throw std::runtime_error("no"); };
  const auto first = transport->Open({.method = "GET", .path = "/"}, std::move(callbacks));
  CHECK_FALSE(thrown.Await().ok());
  const auto second = transport->Open({.method = "GET", .path = "/"}, other.Callbacks());
  CHECK(other.Await().ok());
}

TEST_CASE("A stream may be destroyed at any time") {
  tests::ForEachTransport();
  // A server that accepts and sends nothing, so that the handshake hangs.
  RawServer silent([](int fd) { RawServer::AwaitEnd(fd); });
  tests::TestServer talkative(
      [](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
        auto stream = responder->StartStream({});
        for (int i = 0; i < 100; ++i) stream->Write("x");
        stream->Close();
      });
  ConnectionConfig hanging = talkative.Config();
  hanging.server = absl::StrCat("https://127.0.0.1:", silent.port());
  ConnectionConfig unknown = talkative.Config();
  unknown.server = "https://no-such-host.invalid";
  for (const ConnectionConfig& config : {hanging, talkative.Config(), unknown}) {
    CAPTURE(config.server);
    for (int i = 0; i < 20; ++i) {
      End end;
      auto stream = tests::Connect(config)->Open({.method = "GET", .path = "/"}, end.Callbacks());
      absl::SleepFor(absl::Microseconds(i * i * 20));
      stream.reset();  // `end` is destroyed next: a late callback would be a use after free.
    }
  }
}

TEST_CASE("A host that cannot be resolved is named, and nothing was done") {
  tests::ForEachTransport();
  ConnectionConfig config;
  config.server = "https://no-such-host.invalid:6443";
  config.ignore_proxy_environment = true;
  const auto transport = tests::Connect(config);
  const absl::Status error = transport->Send({.method = "POST", .path = "/"}, {}).status();
  CHECK(absl::IsUnavailable(error));
  CHECK(WasNotProcessed(error));
  CHECK_THAT(std::string(error.message()),
             Catch::StartsWith("https://no-such-host.invalid:6443: ") &&
                 Catch::Contains("cannot be resolved") && !Catch::Contains("closed by the peer"));
}

TEST_CASE("Errors of calls and streams do not show the password of the server's URL") {
  tests::ForEachTransport();
  RawServer server([](int fd) { RawServer::ReadHead(fd); });
  ConnectionConfig config = ConfigOf(server);
  config.server = absl::StrCat("http://user:secret@127.0.0.1:", server.port());
  const auto transport = tests::Connect(config);
  const std::string named = absl::StrCat("http://127.0.0.1:", server.port(), ": ");
  const absl::Status sent = transport->Send({.method = "GET", .path = "/"}, {}).status();
  CHECK_THAT(std::string(sent.message()), Catch::StartsWith(named));
  End end;
  const auto stream = transport->Open({.method = "GET", .path = "/"}, end.Callbacks());
  CHECK_THAT(std::string(end.Await().message()), Catch::StartsWith(named));
}

TEST_CASE("A replaced token is used by the next request, on the same connection") {
  tests::ForEachTransport();
  absl::Mutex mu;
  std::string seen;
  RawServer server([&](int fd) {
    for (std::string head; !(head = RawServer::ReadHead(fd)).empty();) {
      absl::MutexLock lock(&mu);
      seen = head;
      RawServer::WriteAll(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  ConnectionConfig config = ConfigOf(server);
  config.token = "one";
  const auto transport = tests::Connect(config);
  CHECK(transport->Send({.method = "GET", .path = "/"}, {}).ok());
  CHECK(transport->ReplaceToken("two"));
  CHECK(transport->Send({.method = "GET", .path = "/"}, {}).ok());
  absl::MutexLock lock(&mu);
  CHECK_THAT(seen, Catch::Contains("Bearer two\r\n"));
  CHECK(server.connections() == 1);
}

TEST_CASE("The subject of a certificate is not a name of the server, and hosts know no capitals") {
  tests::ForEachTransport();
  const auto echo = [](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send({});
  };
  const auto get = [](const ConnectionConfig& config) {
    return tests::Connect(config)->Send({.method = "GET", .path = "/"}, {}).status();
  };
  tests::TestServer by_subject(
      echo, {.leaf = {.common_name = "localhost", .dns_names = {"other.example"}}});
  const absl::Status refused = get(by_subject.Config("localhost"));
  CHECK(absl::IsUnavailable(refused));
  CHECK_THAT(std::string(refused.message()), Catch::Contains("not valid for this host name"));
  tests::TestServer subject_only(echo, {.leaf = {.common_name = "localhost"}});
  CHECK_FALSE(get(subject_only.Config("localhost")).ok());
  tests::TestServer by_name(echo, {.leaf = {.common_name = "s", .dns_names = {"localhost"}}});
  CHECK(get(by_name.Config("LOCALhost")).ok());
}

}  // namespace kube
