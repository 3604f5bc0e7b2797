#include "kube/http/http_transport.h"

#include "kube/http/http_transports.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "tests/kube/http/raw_server.h"
#include "tests/kube/http/test_server.h"
#include "tests/kube/http/transports.h"
#include "tests/support/temp_directory.h"

namespace kube {
namespace {

using tests::Connect;
using tests::TestServer;

// Answers with a description of the request as the body.
void Echo(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
  std::string seen = absl::StrCat(request.method, " ", request.target, " body=", request.body);
  for (const char* name : {"accept", "content-type", "authorization", "user-agent", "host",
                           "impersonate-user", "accept-encoding"}) {
    if (const auto value = request.Header(name); !value.empty()) {
      absl::StrAppend(&seen, " ", name, "=", value);
    }
  }
  if (!request.peer.common_name.empty()) absl::StrAppend(&seen, " cn=", request.peer.common_name);
  responder->Send({.headers = {{"X-Answer", "Yes"}}, .body = seen});
}

absl::StatusOr<HttpResponse> Get(const ConnectionConfig& config) {
  return Connect(config)->Send({.method = "GET", .path = "/x"}, {});
}

// Keeps requests unanswered.
class Holder {
 public:
  base::HttpHandler Handler() {
    return [this](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
      absl::MutexLock lock(&mu_);
      held_.push_back(std::move(responder));
    };
  }
  void AwaitRequest() { AwaitRequests(1); }
  void AwaitRequests(size_t count) {
    absl::MutexLock lock(&mu_);
    const auto have_come = [&]()
                               ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return held_.size() >= count; };
    mu_.Await(absl::Condition(&have_come));
  }

 private:
  absl::Mutex mu_;
  std::vector<std::shared_ptr<base::HttpResponder>> held_;
};

}  // namespace

TEST_CASE("A request reaches the server with its headers, and the answer comes back whole") {
  tests::ForEachTransport();
  for (const bool tls : {true, false}) {
    CAPTURE(tls);
    TestServer server(&Echo, {.tls = tls});
    ConnectionConfig config = server.Config();
    config.token = "t";
    config.impersonate_user = "somebody";
    const auto answer = Connect(config)->Send({.method = "PATCH",
                                               .path = "/api/v1/a%2Fb?x=a%20b%2Cc",
                                               .accept = "application/json;x=y",
                                               .content_type = "application/merge-patch+json",
                                               .body = "{}",
                                               .user_agent = "me"},
                                              {});
    INFO(answer.status());
    REQUIRE(answer.ok());
    CHECK(answer->code == 200);
    CHECK(answer->headers.at("x-answer") == "Yes");
    CHECK(answer->body ==
          absl::StrCat("PATCH /api/v1/a%2Fb?x=a%20b%2Cc body={} accept=application/json;x=y ",
                       "content-type=application/merge-patch+json authorization=Bearer t ",
                       "user-agent=me host=127.0.0.1:", server.server().port(),
                       " impersonate-user=somebody"));
  }
}

TEST_CASE("urgent requests do not wait for the others, and share their connections") {
  Holder holder;
  const base::HttpHandler hold = holder.Handler();
  std::set<std::string> clients;
  TestServer server([&](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    if (request.path == "/held") return hold(std::move(request), std::move(responder));
    clients.insert(request.remote_address);
    responder->Send({.code = 200});
  });
  const HttpTransports transports = *NewHttpTransports(server.Config());
  const auto answers = [&](Transport& transport, absl::Duration timeout) {
    return transport.Send({.method = "GET", .path = "/x", .timeout = timeout}, {}).ok();
  };
  CHECK(answers(*transports.ordinary, absl::Seconds(30)));
  CHECK(answers(*transports.urgent, absl::Seconds(30)));
  CHECK(clients.size() == 1);

  constexpr int kPlaces = 100;
  base::StopSource stop;
  std::vector<std::thread> waiting;
  for (int i = 0; i < kPlaces; ++i) {
    waiting.emplace_back([&] {
      const auto answer =
          transports.ordinary->Send({.method = "GET", .path = "/held"}, stop.get_token());
      CHECK(absl::IsCancelled(answer.status()));
    });
  }
  holder.AwaitRequests(kPlaces);
  CHECK_FALSE(answers(*transports.ordinary, absl::Milliseconds(50)));
  CHECK(answers(*transports.urgent, absl::Seconds(30)));
  stop.request_stop();
  for (std::thread& thread : waiting) thread.join();
}

TEST_CASE("A server URL with a path is a prefix of every request") {
  tests::ForEachTransport();
  TestServer server(&Echo);
  ConnectionConfig config = server.Config();
  config.server += "/clusters/m1";
  CHECK_THAT(Get(config)->body, Catch::StartsWith("GET /clusters/m1/x "));
}

TEST_CASE("That nothing changed is an answer without a body, and the connection is kept") {
  tests::ForEachTransport();
  for (const char* head :
       {"HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\nContent-Length: 9\r\n\r\n"}) {
    CAPTURE(head);
    std::atomic<int> asked = 0;
    tests::RawServer server([&](int fd) {
      for (std::string request; !(request = tests::RawServer::ReadHead(fd)).empty();) {
        // cpprestsdk writes no space before header values.
        if (absl::StrContains(absl::StrReplaceAll(request, {{" ", ""}}), "If-None-Match:\"1\"\r\n"))
          ++asked;
        tests::RawServer::WriteAll(fd, head);
      }
    });
    ConnectionConfig config;
    config.server = absl::StrCat("http://127.0.0.1:", server.port());
    const auto transport = Connect(config);
    for (int i = 1; i <= 2; ++i) {
      const auto answer =
          transport->Send({.method = "GET", .path = "/apis", .if_none_match = "\"1\""}, {});
      INFO(answer.status());
      REQUIRE(answer.ok());
      CHECK(answer->code == 304);
      CHECK(answer->body.empty());
      CHECK(answer->headers.at("etag") == "\"1\"");
      CHECK(asked == i);
    }
    CHECK(server.connections() == 1);
  }
}

TEST_CASE("Error codes are answers") {
  tests::ForEachTransport();
  TestServer server([](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send({.code = 503, .headers = {{"Retry-After", "3"}}, .body = "later"});
  });
  const auto answer = Get(server.Config());
  REQUIRE(answer.ok());
  CHECK(answer->code == 503);
  CHECK(answer->headers.at("retry-after") == "3");
  CHECK(answer->body == "later");
}

TEST_CASE(
    "An answer that is larger than the caller allows is refused, one that is as large is not") {
  tests::ForEachTransport();
  TestServer server([](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send({.body = std::string(1000, 'x')});
  });
  const auto transport = Connect(server.Config());
  const auto send = [&](size_t limit) {
    return transport->Send({.method = "GET", .path = "/x", .max_answer_bytes = limit}, {});
  };
  CHECK(send(999).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(send(999).status().message()),
             Catch::Contains("the answer is larger than 999 bytes"));
  CHECK(send(1000)->body.size() == 1000);
}

TEST_CASE("Servers are reached by IPv6 address") {
  tests::ForEachTransport();
  TestServer server(&Echo, {.address = "[::1]:0"});
  const auto answer = Get(server.Config("[::1]"));
  INFO(answer.status());
  CHECK(answer.ok());
}

TEST_CASE(
    "A server that proves itself badly is refused with the reason, before the request is sent") {
  tests::ForEachTransport();
  std::atomic<int> requests = 0;
  auto count = [&](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
    ++requests;
    responder->Send({});
  };
  auto error_of = [&](const TestServer& server, const ConnectionConfig& config) {
    const absl::Status error = Get(config).status();
    CHECK(absl::IsUnavailable(error));
    CHECK(WasNotProcessed(error));
    CHECK_THAT(std::string(error.message()), Catch::StartsWith(server.Config().server + ": "));
    return std::string(error.message());
  };
  SECTION("another authority") {
    TestServer server(count), other(count);
    ConnectionConfig config = server.Config();
    config.ca_pem = other.Config().ca_pem;
    const std::string error = error_of(server, config);
    CHECK_THAT(error, Catch::Contains("TLS handshake: the server's certificate is refused: "));
    CHECK_THAT(error, Catch::Contains("certificate in certificate chain") ||
                          Catch::Contains("unable to get local issuer"));
  }
  SECTION("another name") {
    TestServer server(count, {.leaf = {.common_name = "s", .dns_names = {"other.example"}}});
    CHECK_THAT(error_of(server, server.Config()), Catch::Contains("not valid for this host name"));
  }
  SECTION("expired") {
    TestServer server(count, {.leaf = {.common_name = "s",
                                       .ip_addresses = {"127.0.0.1"},
                                       .valid_for = absl::Hours(1),
                                       .not_before = absl::Now() - absl::Hours(2)}});
    CHECK_THAT(error_of(server, server.Config()), Catch::Contains("certificate has expired"));
  }
  SECTION("no TLS") {
    TestServer server(count, {.tls = false});
    ConnectionConfig config = server.Config();
    config.server = absl::StrCat("https://127.0.0.1:", server.server().port());
    CHECK_THAT(std::string(Get(config).status().message()), Catch::Contains("TLS handshake: "));
  }
  CHECK(requests == 0);
}

TEST_CASE("tls-server-name replaces the host in the certificate's check") {
  tests::ForEachTransport();
  TestServer server(&Echo, {.leaf = {.common_name = "s", .dns_names = {"other.example"}}});
  ConnectionConfig config = server.Config();
  config.tls_server_name = "other.example";
  const auto answer = Get(config);
  INFO(answer.status());
  CHECK(answer.ok());
  config.tls_server_name = "127.0.0.1";
  CHECK_FALSE(Get(config).ok());
}

TEST_CASE("Verification can be switched off") {
  tests::ForEachTransport();
  TestServer server(&Echo, {.leaf = {.common_name = "s", .dns_names = {"other.example"}}});
  ConnectionConfig config = server.Config();
  config.ca_pem.clear();
  config.insecure_skip_tls_verify = true;
  const auto answer = Get(config);
  INFO(answer.status());
  CHECK(answer.ok());
}

TEST_CASE("The server sees who a client certificate speaks for") {
  tests::ForEachTransport();
  TestServer server(&Echo);
  ConnectionConfig config = server.Config();
  config.client_certificate = *server.authority().Issue(
      {.common_name = "system:admin", .organizations = {"system:masters"}});
  CHECK_THAT(Get(config)->body, Catch::EndsWith(" cn=system:admin"));
}

TEST_CASE("A token that was rotated is read again on a 401 and the request sent once more") {
  tests::ForEachTransport();
  const tests::TempDirectory dir;
  std::atomic<int> requests = 0;
  TestServer server([&](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    ++requests;
    responder->Send({.code = request.Header("authorization") == "Bearer new" ? 200 : 401});
  });
  ConnectionConfig config = server.Config();
  config.token_file = dir.Write("token", "old");
  const auto transport = Connect(config);
  CHECK(transport->Send({.method = "GET", .path = "/"}, {})->code == 401);
  CHECK(requests == 1);  // Sending the same token again would be useless.
  dir.Write("token", "new");
  CHECK(transport->Send({.method = "POST", .path = "/", .body = "{}"}, {})->code == 200);
  CHECK(requests == 3);
}

TEST_CASE("An exec plugin's client certificate is used, and a refused one replaced") {
  tests::ForEachTransport();
  const tests::TempDirectory dir;
  TestServer server([](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send(
        {.code = request.peer.common_name == "new" ? 200 : 401, .body = request.peer.common_name});
  });
  auto credential = [&](const std::string& name) {
    const tls::KeyPair pair = *server.authority().Issue({.common_name = name});
    return json::Write(json::Value::Object(
        {{"kind", "ExecCredential"},
         {"apiVersion", "client.authentication.k8s.io/v1beta1"},
         {"status", json::Value::Object({{"clientCertificateData", pair.cert_pem},
                                         {"clientKeyData", pair.key_pem}})}}));
  };
  dir.Write("next", credential("new"));
  dir.Write("current", credential("old"));
  ConnectionConfig config = server.Config();
  config.exec = std::make_unique<ExecPlugin>();
  config.exec->api_version = "client.authentication.k8s.io/v1beta1";
  config.exec->command = dir.WriteScript(
      "plugin", absl::StrCat("cd ", dir.path(), "\ncat current\ncp next current\n"));
  const auto answer = Get(config);
  INFO(answer.status());
  REQUIRE(answer.ok());
  CHECK(answer->code == 200);
  CHECK(answer->body == "new");
}

TEST_CASE("A request ends at its deadline or when stopped") {
  tests::ForEachTransport();
  Holder holder;
  TestServer server(holder.Handler());
  const auto transport = Connect(server.Config());
  const absl::Time before = absl::Now();
  CHECK(absl::IsDeadlineExceeded(
      transport->Send({.method = "GET", .path = "/", .timeout = absl::Milliseconds(100)}, {})
          .status()));
  base::StopSource stop;
  std::thread stopper([&] {
    holder.AwaitRequest();
    stop.request_stop();
  });
  CHECK(absl::IsCancelled(
      transport->Send({.method = "GET", .path = "/"}, stop.get_token()).status()));
  stopper.join();
  CHECK(absl::Now() - before < absl::Minutes(1));
}

TEST_CASE("A transport may go away while its requests are being cancelled") {
  tests::ForEachTransport();
  Holder holder;
  TestServer server(holder.Handler());
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(Connect(server.Config())
                    ->Send({.method = "GET", .path = "/", .timeout = absl::Milliseconds(i)}, {})
                    .ok());
  }
}

TEST_CASE("Connections that the server closed while they were idle lose no request") {
  tests::ForEachTransport();
  std::atomic<int> requests = 0;
  TestServer server([&](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    ++requests;
    responder->Send({.body = absl::StrCat(request.body.size())});
  });
  const auto transport = Connect(server.Config());
  int sent = 0;
  for (const size_t size : {0, 10, 1 << 20}) {
    for (const char* method : {"GET", "POST"}) {
      // A write is not repeated if the connection ends while it is being sent, which may happen
      // here.
      if (method != std::string("GET") && tests::CurrentTransport().name == "lean") continue;
      // Several kept connections, all of them stale afterwards.
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] { (void)transport->Send({.method = "GET", .path = "/"}, {}); });
      }
      for (std::thread& thread : threads) thread.join();
      sent += 4;
      server.server().DropConnections();
      CAPTURE(size, method);
      const auto answer = transport->Send(
          {.method = method, .path = "/", .content_type = "a/b", .body = std::string(size, 'x')},
          {});
      INFO(answer.status());
      REQUIRE(answer.ok());
      CHECK(answer->body == absl::StrCat(size));
    }
  }
  CHECK(requests == sent);
}

TEST_CASE(
    "A connection that breaks before or inside the answer is an error that may have been "
    "processed") {
  tests::ForEachTransport();
  TestServer server([](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    if (request.path == "/before") return responder->Abort();
    auto stream = responder->StartStream({});
    stream->Write("half of");
    stream->Abort();
  });
  for (const char* path : {"/before", "/inside"}) {
    CAPTURE(path);
    const absl::Status error =
        Connect(server.Config())->Send({.method = "GET", .path = path}, {}).status();
    CHECK(absl::IsUnavailable(error));
    CHECK_FALSE(WasNotProcessed(error));
    CHECK_THAT(std::string(error.message()), Catch::Contains("the connection broke"));
  }
}

TEST_CASE("A server that is not there is unavailable, and certainly did nothing") {
  tests::ForEachTransport();
  std::string url;
  {
    TestServer server(&Echo);
    url = server.Config().server;
  }
  ConnectionConfig config;
  config.server = url;
  const absl::Status error = Get(config).status();
  CHECK(absl::IsUnavailable(error));
  CHECK(WasNotProcessed(error));
  CHECK_THAT(std::string(error.message()),
             Catch::StartsWith(url + ": cannot connect") && Catch::Contains("refused"));
}

TEST_CASE("An answer that is too large is cut off") {
  tests::ForEachTransport();
  TestServer server(
      [](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
        responder->Send({.body = std::string(request.path == "/x" ? 65 << 20 : 63 << 20, 'x')});
      },
      {.tls = false});
  // A busy machine takes long for so much.
  const auto get = [transport = Connect(server.Config())](const char* path) {
    return transport->Send({.method = "GET", .path = path, .timeout = absl::Minutes(5)}, {});
  };
  CHECK(absl::IsResourceExhausted(get("/x").status()));
  const auto whole = get("/y");
  REQUIRE(whole.ok());
  CHECK(whole->body.size() == 63 << 20);
}

TEST_CASE("Unusable configurations are refused when the transport is made") {
  tests::ForEachTransport();
  ConnectionConfig config;
  for (const char* server : {"", "https://", "ftp://h", "https://h:port"}) {
    CAPTURE(server);
    config.server = server;
    CHECK(absl::IsInvalidArgument(tests::MakeTransport(config).status()));
  }
  config.server = "https://h";
  config.ca_pem = "nonsense";
  CHECK(absl::IsInvalidArgument(tests::MakeTransport(config).status()));
  config.ca_pem.clear();
  config.proxy_url = "ftp://p";
  CHECK(absl::IsInvalidArgument(tests::MakeTransport(config).status()));
}

TEST_CASE("Many threads share one transport") {
  tests::ForEachTransport();
  TestServer server(&Echo);
  const auto transport = Connect(server.Config());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto answer = transport->Send({.method = "POST", .path = "/", .body = "b"}, {});
        if (answer.ok() && absl::StartsWith(answer->body, "POST / body=b ")) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 160);
}

}  // namespace kube
