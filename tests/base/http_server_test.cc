#include "base/http_server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"
#include "tests/support/eventually.h"

namespace {

using base::HttpHandler;
using base::HttpRequest;
using base::HttpResponder;
using base::HttpResponse;
using base::HttpServer;
using base::HttpServerOptions;
using tests::EchoHandler;
using tests::KeptRequest;
using tests::RawClient;
using tests::RawResponse;
using tests::StartServer;

TEST_CASE("a handler's answer arrives with code, type, headers and body") {
  auto server = StartServer([](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    responder->Send({429, "text/plain", {{"Retry-After", "1"}}, "slow down"});
  });
  RawClient client(server->port());
  RawResponse response = client.Get("/");
  CHECK(response.code == 429);
  CHECK(response.headers["content-type"] == "text/plain");
  CHECK(response.headers["retry-after"] == "1");
  CHECK(response.body == "slow down");
}

TEST_CASE("a line break in a header value cannot start another header") {
  auto server = StartServer([](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    responder->Send({200, "text/plain", {{"Warning", "a\r\nSet-Cookie: b"}}, ""});
  });
  RawClient client(server->port());
  RawResponse response = client.Get("/");
  CHECK(response.headers["warning"] == "a  Set-Cookie: b");
  CHECK(response.headers.count("set-cookie") == 0);
}

TEST_CASE("a request is taken apart for its handler") {
  HttpRequest seen;
  auto server = StartServer([&](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    seen = std::move(request);
    responder->Send({});
  });
  RawClient client(server->port());
  client.Send(
      "PATCH /api/v1/a%20b%2Fc%zz?labelSelector=a%3Db+c&watch&x=1&x=2 HTTP/1.1\r\n"
      "Host: test\r\nX-Thing: one\r\nAccept: a\r\naccept: b\r\nContent-Length: 4\r\n\r\nbody");
  REQUIRE(client.ReadResponse().code == 200);
  CHECK(seen.method == "PATCH");
  CHECK(seen.target == "/api/v1/a%20b%2Fc%zz?labelSelector=a%3Db+c&watch&x=1&x=2");
  CHECK(seen.path == "/api/v1/a b/c%zz");
  CHECK(seen.Query("labelSelector") == "a=b c");
  CHECK(seen.Query("x") == "1");
  CHECK(seen.Query("absent") == "");
  CHECK(seen.query.size() == 4);
  CHECK(seen.Header("x-thing") == "one");
  CHECK(seen.Header("accept") == "a, b");
  CHECK(seen.Header("absent") == "");
  CHECK(seen.body == "body");
  CHECK(seen.peer.common_name == "");
}

TEST_CASE("a target with scheme and host is understood") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("GET http://test:80/a?b=c HTTP/1.1\r\nHost: test\r\n\r\n");
  CHECK(client.ReadResponse().headers["x-path"] == "/a");
}

TEST_CASE("one connection serves request after request") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  for (int i = 0; i < 50; ++i) {
    const std::string body(static_cast<size_t>(i) * 1000, 'x');
    client.Send(absl::StrCat(
        "POST /", i, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
    const RawResponse response = client.ReadResponse();
    REQUIRE(response.code == 200);
    REQUIRE(response.body == body);
  }
}

TEST_CASE("requests sent ahead are answered in order") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&requests, "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\n",
                    100 + i);
  }
  client.Send(requests);
  for (int i = 0; i < 200; ++i) REQUIRE(client.ReadResponse().body == absl::StrCat(100 + i));
}

TEST_CASE("a chunked request body is put together, in whatever pieces it comes") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  const absl::string_view request =
      "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  for (const char c : request) client.Send(absl::string_view(&c, 1));
  CHECK(client.ReadResponse().body == "hello world");
}

TEST_CASE("answers that have no body say so in the way the protocol wants") {
  auto server = StartServer([](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    responder->Send({request.path == "/gone" ? 204 : 200, "text/plain", {}, "text"});
  });
  RawClient client(server->port());
  client.Send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
  CHECK(client.ReadHead().headers["content-length"] == "4");
  client.Send("DELETE /gone HTTP/1.1\r\nHost: test\r\n\r\n");
  RawResponse deleted = client.ReadHead();
  CHECK(deleted.code == 204);
  CHECK(deleted.headers.count("content-length") == 0);
  // The bodies were not sent: the next answer starts where the last head ended.
  CHECK(client.Get("/").body == "text");
}

TEST_CASE(
    "a request that cannot be served is refused with the right code and the connection ends") {
  struct Case {
    const char* name;
    std::string request;
    int code;
  };
  const std::string large(5000, 'x');
  const std::vector<Case> cases = {
      {"body too large by its length",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n" + large, 413},
      {"chunked body too large",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + large +
           "\r\n0\r\n\r\n",
       413},
      {"header too large", "GET / HTTP/1.1\r\nHost: a\r\nX: " + large + "\r\n\r\n", 431},
      {"header without end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + large, 431},
      {"no HTTP", "hello there\r\n\r\n", 400},
      {"broken length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12", 400},
      {"broken chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
  };
  HttpServerOptions options;
  options.max_body_bytes = 4000;
  options.max_header_bytes = 2000;
  auto server = StartServer(EchoHandler(), options);
  for (const Case& c : cases) {
    INFO(c.name);
    RawClient client(server->port());
    client.Send(c.request);
    RawResponse response = client.ReadResponse();
    CHECK(response.code == c.code);
    CHECK(response.headers["connection"] == "close");
    CHECK(client.EndsNow());
  }
}

TEST_CASE("headers and trailers are limited in sum, also when each line arrives apart") {
  HttpServerOptions options;
  options.max_header_bytes = 2000;
  auto server = StartServer(EchoHandler(), options);
  for (const std::string& begin :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")}) {
    CAPTURE(begin);
    RawClient client(server->port());
    client.Send(begin);
    const std::string value(80, 'x');
    for (int i = 0; i < 40; ++i) client.Send("X-" + std::to_string(i) + ": " + value + "\r\n");
    CHECK(client.ReadResponse().code == 431);
  }
}

TEST_CASE("a client that still sends its too large body gets to read why it is refused") {
  HttpServerOptions options;
  options.max_body_bytes = 1000;
  auto server = StartServer(EchoHandler(), options);
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
  client.Send(std::string(4000000, 'x'));
  CHECK(client.ReadResponse().code == 413);
}

TEST_CASE("a client that asks first is told to go on with its body") {
  auto server = StartServer(EchoHandler());
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.ReadHead().code == 100);
  client.Send("ok");
  CHECK(client.ReadResponse().body == "ok");
}

TEST_CASE("a request may be refused by its head before its body comes") {
  HttpServerOptions options;
  options.check_head = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.Header("authorization") == "good") return std::nullopt;
    return HttpResponse{401, "text/plain", {}, head.method + " " + head.path + head.body};
  };
  auto server = StartServer(EchoHandler(), options);
  const std::string post = "POST /a?b HTTP/1.1\r\nHost: a\r\n";
  const std::string expects = "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  SECTION("at once, though the client would wait for leave to send it") {
    RawClient client(server->port());
    client.Send(post + expects);
    const RawResponse response = client.ReadResponse();
    CHECK(response.code == 401);
    CHECK(response.body == "POST /a");
    CHECK(client.EndsNow());
  }
  SECTION("also when the body comes along") {
    RawClient client(server->port());
    const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    client.Send(GENERATE_COPY(post + "Content-Length: 2\r\n\r\nok", post + chunked));
    CHECK(client.ReadResponse().body == "POST /a");
    CHECK(client.EndsNow());
  }
  SECTION("and is served when nothing speaks against it") {
    RawClient client(server->port());
    client.Send(post + "Authorization: good\r\n" + expects);
    CHECK(client.ReadHead().code == 100);
    client.Send("ok");
    CHECK(client.ReadResponse().body == "ok");
  }
  SECTION("requests without a body are the handler's alone") {
    RawClient client(server->port());
    CHECK(client.Get("/").code == 200);
  }
}

TEST_CASE("in a full server a new connection takes the place of the one that waits longest") {
  HttpServerOptions options;
  options.max_connections = 3;
  auto server = StartServer(EchoHandler(), options);
  RawClient silent(server->port());
  RawClient slow(server->port());
  slow.Send("GET / HTTP/1.1\r\n");
  RawClient served(server->port());
  CHECK(served.Get("/").code == 200);  // This shows that the other two were accepted before.
  RawClient first_newcomer(server->port());
  CHECK(first_newcomer.Get("/").code == 200);
  RawClient second_newcomer(server->port());
  CHECK(second_newcomer.Get("/").code == 200);
  CHECK(silent.EndsNow());
  CHECK(slow.EndsNow());
  CHECK(served.Get("/").code == 200);
}

TEST_CASE("in a full server that answers on all connections the longest answer makes room") {
  HttpServerOptions options;
  options.max_connections = 2;
  absl::Mutex mu;
  std::vector<std::shared_ptr<base::HttpResponder>> kept;
  auto server = StartServer(
      [&](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
        absl::MutexLock lock(&mu);
        kept.push_back(std::move(responder));
      },
      options);
  const auto await = [&](size_t count) {
    const auto come = [&] { return kept.size() == count; };
    absl::MutexLock lock(&mu);
    return mu.AwaitWithTimeout(absl::Condition(&come), absl::Minutes(1));
  };
  RawClient first(server->port());
  first.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(await(1));
  RawClient second(server->port());
  second.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(await(2));
  RawClient third(server->port());
  third.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(await(3));
  CHECK(first.EndsNow());
  for (const auto& responder : kept) responder->Send({200, "text/plain", {}, "ok"});
  CHECK(second.ReadResponse().body == "ok");
  CHECK(third.ReadResponse().body == "ok");
}

TEST_CASE("a connection that never asks anything has a limit of its own") {
  HttpServerOptions options;
  options.first_request_timeout = absl::Milliseconds(10);
  auto server = StartServer(EchoHandler(), options);
  CHECK(RawClient(server->port()).EndsNow());
}

TEST_CASE("the answer to a body that is too long can be chosen") {
  HttpServerOptions options;
  options.max_body_bytes = 3;
  options.body_too_long = {413, "application/json", {}, "{}"};
  auto server = StartServer(EchoHandler(), options);
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
  CHECK(client.ReadResponse().body == "{}");
}

TEST_CASE("the connection ends after the answer when the client wants that") {
  auto server = StartServer(EchoHandler());
  const std::string request = GENERATE(as<std::string>(), "GET / HTTP/1.0\r\n\r\n",
                                       "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  RawClient client(server->port());
  client.Send(request);
  RawResponse response = client.ReadResponse();
  CHECK(response.code == 200);
  CHECK(response.headers["connection"] == "close");
  CHECK(client.EndsNow());
}

TEST_CASE("an answer may come later and from another thread") {
  std::vector<std::thread> workers;
  absl::Mutex mu;
  auto server = StartServer([&](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    absl::MutexLock lock(&mu);
    workers.emplace_back([path = request.path, responder = std::move(responder)] {
      responder->Send({200, "text/plain", {}, path});
    });
  });
  RawClient client(server->port());
  for (int i = 0; i < 20; ++i)
    REQUIRE(client.Get(absl::StrCat("/", i)).body == absl::StrCat("/", i));
  server->Stop();
  for (std::thread& worker : workers) worker.join();
}

TEST_CASE("a handler can cut the connection, on purpose or by forgetting to answer") {
  auto server = StartServer([](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
    if (request.path == "/abort") responder->Abort();
  });
  for (const char* path : {"/abort", "/forget"}) {
    RawClient client(server->port());
    CHECK(client.Get(path).code == 0);
    CHECK(client.EndsNow());
  }
}

TEST_CASE("clients that are too slow are cut") {
  HttpServerOptions options;
  options.request_timeout = absl::Milliseconds(40);
  options.idle_timeout = absl::Milliseconds(40);
  auto server = StartServer(EchoHandler(), options);
  SECTION("between requests") {
    RawClient client(server->port());
    CHECK(client.Get("/").code == 200);
    CHECK(client.EndsNow());
  }
  SECTION("within the head") {
    RawClient client(server->port());
    client.Send("GET / HT");
    CHECK(client.EndsNow());
  }
  SECTION("within the body") {
    RawClient client(server->port());
    client.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    CHECK(client.EndsNow());
  }
}

TEST_CASE("a handler that takes longer than the timeouts is still heard") {
  HttpServerOptions options;
  options.request_timeout = absl::Milliseconds(10);
  options.idle_timeout = absl::Milliseconds(10);
  KeptRequest kept;
  auto server = StartServer(kept.Handler(), options);
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  HttpResponder& responder = kept.Await();
  // A sweep for timeouts that cuts the second of these began when the first was overdue for long.
  for (int i = 0; i < 2; ++i) {
    RawClient slow(server->port());
    slow.Send("GET / HT");
    CHECK(slow.EndsNow());
  }
  responder.Send({200, "text/plain", {}, "late"});
  CHECK(client.ReadResponse().body == "late");
}

TEST_CASE("dropping connections leaves the server listening") {
  auto server = StartServer(EchoHandler());
  RawClient idle(server->port());
  REQUIRE(idle.Get("/").code == 200);
  server->DropConnections();
  CHECK(idle.EndsNow());
  RawClient next(server->port());
  CHECK(next.Get("/").code == 200);
}

TEST_CASE(
    "a stopped server ends its connections, lets its handlers' handles be, and frees its port") {
  std::shared_ptr<HttpResponder> kept;
  absl::Notification called;
  auto server = StartServer([&](HttpRequest, std::shared_ptr<HttpResponder> responder) {
    kept = std::move(responder);
    called.Notify();
  });
  const int port = server->port();
  RawClient waiting(port);
  waiting.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  called.WaitForNotification();
  server->Stop();
  server->Stop();  // A second stop does nothing.
  CHECK(waiting.EndsNow());
  server.reset();
  kept->Send({});
  kept.reset();

  HttpServerOptions same_port;
  same_port.address = absl::StrCat("127.0.0.1:", port);
  auto again = StartServer(EchoHandler(), same_port);
  RawClient client(port);
  CHECK(client.Get("/").code == 200);
}

TEST_CASE("an address that cannot be listened on is named") {
  auto server = StartServer(EchoHandler());
  const std::string taken = absl::StrCat("127.0.0.1:", server->port());
  const auto second = HttpServer::Start({.address = taken}, EchoHandler());
  CHECK(second.status().code() == absl::StatusCode::kUnavailable);
  CHECK(absl::StrContains(second.status().message(), taken));
  for (const char* broken : {"", "localhost", "host:port", "1.2.3.4:70000", "::1:80"}) {
    INFO(broken);
    const auto refused = HttpServer::Start({.address = broken}, EchoHandler());
    CHECK(refused.status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("an empty host listens on every address, a name on that of the host") {
  const std::string address = GENERATE(as<std::string>(), ":0", "0.0.0.0:0", "localhost:0");
  HttpServerOptions options;
  options.address = address;
  auto server = StartServer(EchoHandler(), options);
  if (address == "localhost:0") return;  // The address may be the IPv6 one.
  RawClient client(server->port());
  CHECK(client.Get("/").code == 200);
}

TEST_CASE("many clients are served by several threads") {
  HttpServerOptions options;
  options.threads = 3;
  auto server = StartServer(EchoHandler(), options);
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(server->port());
      for (int j = 0; j < 50; ++j) {
        const std::string path = absl::StrCat("/", i, "/", j);
        if (client.Get(path).headers["x-path"] == path) ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(right == 8 * 50);
}

}  // namespace
