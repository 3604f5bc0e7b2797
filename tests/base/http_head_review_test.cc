// Requests whose heads somebody else decides about before their bodies are read.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"
#include "tests/support/eventually.h"

namespace {

using base::HttpResponse;
using tests::EchoHandler;
using tests::RawClient;
using tests::StartServer;
using Done = std::function<void(base::HttpHeadVerdict)>;

// Keeps the last question until the test answers it. Outlives the server.
class Reviewer {
 public:
  base::HttpServerOptions Options() {
    base::HttpServerOptions options;
    options.review_head = [this](const base::HttpRequest& head, Done done) {
      absl::MutexLock lock(&mu_);
      path_ = head.path;
      done_ = std::move(done);
      return true;
    };
    return options;
  }
  Done Await(const std::string& path) {
    const auto came = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return done_ && path_ == path; };
    absl::MutexLock lock(&mu_, absl::Condition(&came));
    return std::exchange(done_, nullptr);
  }

 private:
  absl::Mutex mu_;
  std::string path_ ABSL_GUARDED_BY(mu_);
  Done done_ ABSL_GUARDED_BY(mu_);
};

std::string Post(const std::string& path, const std::string& rest) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: a\r\n", rest);
}

TEST_CASE("a body is read after the review of its head") {
  Reviewer reviewer;
  auto server = StartServer(EchoHandler(), reviewer.Options());
  RawClient client(server->port());
  SECTION("when it comes along") {
    client.Send(Post("/a", "Content-Length: 2\r\n\r\nok"));
    reviewer.Await("/a")({});
    CHECK(client.ReadResponse().body == "ok");
    // The next request on the connection has a review of its own.
    client.Send(Post("/b", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
    reviewer.Await("/b")({});
    CHECK(client.ReadResponse().body == "ok");
    CHECK(client.Get("/without-body").code == 200);
  }
  SECTION("when the client waits for leave to send it") {
    client.Send(Post("/a", "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    reviewer.Await("/a")({});
    CHECK(client.ReadHead().code == 100);
    client.Send("ok");
    CHECK(client.ReadResponse().body == "ok");
  }
  SECTION("and never when it is refused") {
    client.Send(Post("/a", "Content-Length: 1000000\r\n\r\n"));
    client.Send(std::string(1000, 'x'));
    reviewer.Await("/a")({.refusal = HttpResponse{401, "text/plain", {}, "who?"}});
    const tests::RawResponse response = client.ReadResponse();
    CHECK(response.code == 401);
    CHECK(response.body == "who?");
    CHECK(client.EndsNow());
  }
}

TEST_CASE("a read that began while the request before was answered does not forestall a review") {
  Reviewer reviewer;
  std::atomic<int> handled = 0;
  const auto handle = [&, echo = EchoHandler()](base::HttpRequest request,
                                                std::shared_ptr<base::HttpResponder> responder) {
    if (request.path == "/a") ++handled;
    echo(std::move(request), std::move(responder));
  };
  auto server = StartServer(handle, reviewer.Options());
  RawClient client(server->port());
  client.Send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n" + Post("/a", "Content-Length: 2\r\n\r\n"));
  CHECK(client.ReadResponse().code == 200);
  const Done done = reviewer.Await("/a");
  client.Send("ok");
  // The server has had the time to read it.
  for (int i = 0; i < 20; ++i) CHECK(RawClient(server->port()).Get("/other").code == 200);
  CHECK(handled == 0);
  done({});
  CHECK(client.ReadResponse().body == "ok");
  CHECK(client.Get("/without-body").code == 200);
  CHECK(handled == 1);
}

TEST_CASE("a client that sends no more during a review is answered") {
  Reviewer reviewer;
  auto server = StartServer(EchoHandler(), reviewer.Options());
  RawClient client(server->port());
  client.Send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n" + Post("/a", "Content-Length: 2\r\n\r\nok"));
  CHECK(client.ReadResponse().code == 200);
  const Done done = reviewer.Await("/a");
  client.EndSending();
  // The server has had the time to see the end.
  for (int i = 0; i < 20; ++i) CHECK(RawClient(server->port()).Get("/other").code == 200);
  done({});
  CHECK(client.ReadResponse().body == "ok");
}

TEST_CASE("a review may end after the connection and the server") {
  Reviewer reviewer;
  auto server = StartServer(EchoHandler(), reviewer.Options());
  auto client = std::make_unique<RawClient>(server->port());
  client->Send(Post("/a", "Content-Length: 2\r\n\r\nok"));
  const Done first = reviewer.Await("/a");
  client.reset();
  first({});
  RawClient second(server->port());
  second.Send(Post("/b", "Content-Length: 2\r\n\r\nok"));
  const Done late = reviewer.Await("/b");
  CHECK(RawClient(server->port()).Get("/other").code == 200);
  server.reset();
  late({});
  CHECK(second.EndsNow());
}

TEST_CASE("a head that needs no review is not held up") {
  base::HttpServerOptions options;
  options.review_head = [](const base::HttpRequest&, const Done&) { return false; };
  auto server = StartServer(EchoHandler(), options);
  RawClient client(server->port());
  client.Send(Post("/a", "Content-Length: 2\r\n\r\nok"));
  CHECK(client.ReadResponse().body == "ok");
}

TEST_CASE("long bodies have a budget together, until their requests have ended") {
  std::atomic<int> refusals = 0;
  base::HttpServerOptions options;
  options.too_many_bodies = [&] {
    ++refusals;
    return base::HttpResponse{429, "text/plain", {{"Retry-After", "1"}}, "too many"};
  };
  options.max_bodies_bytes = 150;
  options.max_short_body_bytes = 10;
  auto server = StartServer(EchoHandler(), options);
  RawClient first(server->port()), second(server->port()), third(server->port());
  const std::string body(100, 'x');
  const std::string head = Post("/", "Content-Length: 100\r\n\r\n");
  first.Send(Post("/", "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"));
  CHECK(first.ReadHead().code == 100);
  second.Send(head + body);
  const tests::RawResponse refused = second.ReadResponse();
  CHECK(refused.code == 429);
  CHECK(refused.headers.at("retry-after") == "1");
  // A body of unknown length counts as the longest that there may be.
  RawClient chunked(server->port());
  chunked.Send(Post("/", "Transfer-Encoding: chunked\r\n\r\n"));
  CHECK(chunked.ReadResponse().code == 429);
  third.Send(Post("/", "Content-Length: 5\r\n\r\nshort"));
  CHECK(third.ReadResponse().body == "short");
  first.Send(body);
  CHECK(first.ReadResponse().body == body);
  third.Send(head + body);
  CHECK(third.ReadResponse().body == body);
  CHECK(refusals == 2);
}

TEST_CASE("one owner leaves as much room for bodies to the others as he has") {
  base::HttpServerOptions options;
  options.max_bodies_bytes = 400;
  options.max_short_body_bytes = 10;
  options.review_head = [](const base::HttpRequest& head, const Done& done) {
    done({.owner = head.path, .privileged = head.path == "/root"});
    return true;
  };
  auto server = StartServer(EchoHandler(), options);
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto begin = [&](const std::string& owner) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->Send(Post(owner, "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"));
    return clients.back()->ReadHead().code;
  };
  CHECK(begin("/greedy") == 100);
  CHECK(begin("/greedy") == 100);
  CHECK(begin("/greedy") == 429);
  CHECK(begin("/other") == 100);
  CHECK(begin("/other") == 429);
  CHECK(begin("/root") == 100);
  CHECK(begin("/third") == 429);
  CHECK(begin("/root") == 100);
  clients[0]->Send(std::string(100, 'x'));
  CHECK(clients[0]->ReadResponse().code == 200);
}

TEST_CASE("a body that comes too slowly gives its place to one that needs it") {
  base::HttpServerOptions options;
  options.max_bodies_bytes = 150;
  options.max_short_body_bytes = 10;
  auto server = StartServer(EchoHandler(), options);
  RawClient slow(server->port());
  slow.Send(Post("/", "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"));
  CHECK(slow.ReadHead().code == 100);
  const std::string body(100, 'x');
  CHECK(tests::Eventually([&] {
    RawClient other(server->port());
    other.Send(Post("/", "Content-Length: 100\r\n\r\n") + body);
    return other.ReadResponse().code == 200;
  }));
  CHECK(slow.ReadResponse().code == 429);
}

TEST_CASE("of too many long heads that do not end the oldest is cut") {
  base::HttpServerOptions options;
  options.max_heads_bytes = 25'000;
  auto server = StartServer(EchoHandler(), options);
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nLong: " + std::string(10'000, 'x');
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->Send(head);
    // The server has had the time to read it.
    for (int n = 0; n < 20; ++n) CHECK(RawClient(server->port()).Get("/other").code == 200);
  }
  CHECK(clients[0]->EndsNow());
  clients[2]->Send("\r\n\r\n");
  CHECK(clients[2]->ReadResponse().code == 200);
}

}  // namespace
