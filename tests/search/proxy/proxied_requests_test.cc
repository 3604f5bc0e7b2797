// The proxy on real sockets: a client, the handler, and a member behind it.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "search/proxy/proxy_handler.h"
#include "search/proxy/relaying_forwarder.h"
#include "tests/base/raw_client.h"
#include "tests/kube/http/test_server.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

using base::HttpRequest;
using base::HttpResponder;
using tests::RawClient;
using tests::RawResponse;
using tests::TestServer;
using ResponderPtr = std::shared_ptr<HttpResponder>;

// Every pod is in the member.
class OneMember : public CachedReads, public MemberForwarders {
 public:
  explicit OneMember(const kube::ConnectionConfig& config)
      : forwarder_(std::make_shared<RelayingForwarder>("cluster member1",
                                                       *kube::Forwarder::Create(config))) {}

  std::vector<std::string> ClustersOf(const kube::Gvr&) override { return {"member1"}; }
  Holders HoldersOf(const kube::Gvr&, const kube::ObjectKey&) override {
    return {{"member1"}, {}, 1};
  }
  void Answer(kube::aggregation::ApiRequest, const ReadTerms&, ResponderPtr) override {}
  absl::StatusOr<std::shared_ptr<Forwarder>> For(const std::string&) override {
    return std::static_pointer_cast<Forwarder>(forwarder_);
  }
  std::shared_ptr<Forwarder> forwarder() { return forwarder_; }

 private:
  std::shared_ptr<RelayingForwarder> forwarder_;
};

// Serves the proxy to the user bob.
class Proxy {
 public:
  explicit Proxy(const kube::ConnectionConfig& member)
      : member_(member),
        handler_({[](const kube::server::RequestInfo& info, const std::string&) {
                    return info.gvr.resource == "pods";
                  },
                  member_, member_, member_.forwarder(),
                  [](absl::string_view) { return std::nullopt; }, base::RealClock()}) {
    server_ = *base::HttpServer::Start({}, [this](HttpRequest http, ResponderPtr responder) {
      kube::aggregation::ApiRequest request;
      request.http = std::move(http);
      request.user = {.name = "bob", .uid = "1", .groups = {"dev"}, .extra = {}};
      request.stop = stop_.get_token();
      handler_.Handle(std::move(request), std::move(responder));
    });
  }
  int port() const { return server_->port(); }
  void Drain() { stop_.request_stop(); }

 private:
  base::StopSource stop_;
  OneMember member_;
  ProxyHandler handler_;
  std::unique_ptr<base::HttpServer> server_;
};

// Describes the request in the answer.
void Describe(HttpRequest request, ResponderPtr responder) {
  std::string text = absl::StrCat(request.method, " ", request.target, "\n");
  for (const auto& [name, value] : request.headers) absl::StrAppend(&text, name, ": ", value, "\n");
  responder->Send({.code = 200, .content_type = "text/plain", .body = text + request.body});
}

TEST_CASE("a member gets the request of the caller, and no credentials") {
  TestServer member(&Describe);
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(absl::StrCat("GET ", kProxyUrl,
                           "/api/v1/namespaces/ns/pods/web/log?follow=true HTTP/1.1\r\n"
                           "Host: karmada:443\r\nImpersonate-User: admin\r\nCookie: c\r\n"
                           "X-Remote-Group: system:masters\r\nAccept: a/b\r\n\r\n"));
  const RawResponse response = client.ReadResponse();
  CHECK(response.code == 200);
  const std::string& got = response.body;
  CHECK(absl::StartsWith(got, "GET /api/v1/namespaces/ns/pods/web/log?follow=true\n"));
  CHECK(absl::StrContains(got, "\nimpersonate-user: bob\n"));
  CHECK(absl::StrContains(got, "\nimpersonate-group: dev\n"));
  CHECK(absl::StrContains(got, "\nimpersonate-uid: 1\n"));
  CHECK(absl::StrContains(got, "\naccept: a/b\n"));
  CHECK(absl::StrContains(
      got, absl::StrCat("\nx-forwarded-uri: ", kProxyUrl, "/api/v1/namespaces/ns/pods/web/log\n")));
  for (const char* secret : {"admin", "cookie", "system:masters", "x-remote"}) {
    CAPTURE(secret);
    CHECK_FALSE(absl::StrContains(got, secret));
  }
}

TEST_CASE("logs arrive as they are written") {
  std::promise<std::shared_ptr<base::HttpStream>> started;
  TestServer member([&](HttpRequest, ResponderPtr responder) {
    const auto stream = responder->StartStream({.code = 200, .content_type = "text/plain"});
    stream->Write("first\n");
    started.set_value(stream);
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(absl::StrCat("GET ", kProxyUrl,
                           "/api/v1/namespaces/ns/pods/web/log?follow=true HTTP/1.1\r\n"
                           "Host: a\r\n\r\n"));
  CHECK(client.ReadHead().code == 200);
  CHECK(client.ReadChunk() == "first\n");
  const auto stream = started.get_future().get();
  stream->Write("second\n");
  CHECK(client.ReadChunk() == "second\n");
  stream->Close();
  CHECK(client.ReadChunk().empty());
}

TEST_CASE("a session in a container is relayed in both directions") {
  TestServer member([](HttpRequest request, ResponderPtr responder) {
    const std::shared_ptr<base::HttpTunnel> tunnel = responder->Upgrade(
        {.code = 101, .headers = {{"Upgrade", std::string(request.UpgradeProtocol())}}});
    // The callbacks keep the tunnel until it is closed.
    tunnel->Start({.on_data =
                       [tunnel](std::string bytes) {
                         tunnel->Write("> " + bytes);
                         tunnel->Read();
                       },
                   .on_end = [tunnel] { tunnel->EndWriting(); },
                   .on_closed = [] {}});
    tunnel->Read();
  });
  Proxy proxy(member.Config());
  for (const char* method : {"GET", "POST"}) {
    CAPTURE(method);
    RawClient session(proxy.port());
    session.Send(absl::StrCat(method, " ", kProxyUrl,
                              "/api/v1/namespaces/ns/pods/web/exec?command=sh HTTP/1.1\r\n"
                              "Host: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n",
                              method[0] == 'P' ? "Content-Length: 0\r\n" : "", "\r\n"));
    CHECK(session.ReadHead().code == 101);
    session.Send("ls;");
    CHECK(session.ReadUntil(";") == "> ls;");
  }
}

TEST_CASE("a member that refuses the uid gets the request again without it") {
  std::atomic<int> requests = 0;
  TestServer member([&](HttpRequest request, ResponderPtr responder) {
    ++requests;
    if (request.Header("impersonate-uid").empty()) return Describe(std::move(request), responder);
    responder->Send(
        {.code = 403,
         .body = R"({"reason":"Forbidden","message":"cannot impersonate resource \"uids\"",)"
                 R"("details":{"group":"authentication.k8s.io","kind":"uids"}})"});
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  const std::string pod = absl::StrCat("PUT ", kProxyUrl,
                                       "/api/v1/namespaces/ns/pods/web HTTP/1.1\r\nHost: a\r\n"
                                       "Content-Length: 2\r\n\r\n{}");
  client.Send(pod);
  const RawResponse response = client.ReadResponse();
  CHECK(response.code == 200);
  CHECK(absl::EndsWith(response.body, "{}"));
  CHECK(requests == 2);
  client.Send(pod);
  CHECK(client.ReadResponse().code == 200);
  CHECK(requests == 3);
}

TEST_CASE("a member that is down is named in the error") {
  auto member = std::make_unique<TestServer>(&Describe);
  Proxy proxy(member->Config());
  member.reset();
  RawClient client(proxy.port());
  client.Send(absl::StrCat("DELETE ", kProxyUrl,
                           "/api/v1/namespaces/ns/pods/web HTTP/1.1\r\nHost: a\r\n\r\n"));
  const RawResponse response = client.ReadResponse();
  CHECK(response.code == 503);
  const auto status = json::Parse(response.body);
  REQUIRE(status.ok());
  CHECK((*status)["reason"].AsString() == "ServiceUnavailable");
  CHECK_THAT((*status)["message"].ToString(),
             Catch::StartsWith("error trying to reach cluster member1: "));
  // Where the member lives is nothing for users.
  CHECK_FALSE(absl::StrContains(response.body, "127.0.0.1"));
}

TEST_CASE("a member that does not know this program's token does not make the caller's one bad") {
  TestServer member([](HttpRequest, ResponderPtr responder) {
    responder->Send({.code = 401, .headers = {{"WWW-Authenticate", "Basic"}}, .body = "who?"});
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  const RawResponse log = client.Get(absl::StrCat(kProxyUrl, "/api/v1/namespaces/ns/pods/web/log"));
  CHECK(log.code == 503);
  CHECK(absl::StrContains(log.body, "cluster member1"));
  // What an application behind the member wants is between it and the caller.
  const RawResponse application =
      RawClient(proxy.port()).Get(absl::StrCat(kProxyUrl, "/api/v1/namespaces/ns/pods/web/proxy/"));
  CHECK(application.code == 401);
  CHECK(application.body == "who?");
}

TEST_CASE("logs that are followed and say nothing keep nobody else waiting") {
  absl::Mutex mu;
  std::vector<std::shared_ptr<base::HttpStream>> streams;
  TestServer member([&](HttpRequest request, ResponderPtr responder) {
    if (request.path != "/api/v1/namespaces/ns/pods/web/log") {
      return Describe(std::move(request), std::move(responder));
    }
    auto stream = responder->StartStream({.code = 200, .content_type = "text/plain"});
    stream->Write("-");
    absl::MutexLock lock(&mu);
    streams.push_back(std::move(stream));
  });
  Proxy proxy(member.Config());
  // More than any pool has threads or connections.
  std::vector<std::unique_ptr<RawClient>> followers;
  for (int i = 0; i < 150; ++i) {
    followers.push_back(std::make_unique<RawClient>(proxy.port()));
    followers.back()->Send(absl::StrCat("GET ", kProxyUrl,
                                        "/api/v1/namespaces/ns/pods/web/log?follow=true HTTP/1.1"
                                        "\r\nHost: a\r\n\r\n"));
    REQUIRE(followers.back()->ReadHead().code == 200);
  }
  RawClient client(proxy.port());
  CHECK(client.Get(absl::StrCat(kProxyUrl, "/api/v1/namespaces/ns/pods/web/status")).code == 200);
  proxy.Drain();
}

TEST_CASE("the end of the service ends what is relayed, and properly") {
  std::promise<void> asked;
  std::shared_ptr<base::HttpStream> stream;
  std::shared_ptr<HttpResponder> kept;
  TestServer member([&](HttpRequest request, ResponderPtr responder) {
    if (request.path == "/api/v1/namespaces/ns/pods/web/log") {
      stream = responder->StartStream({.code = 200, .content_type = "text/plain"});
      stream->Write("first\n");
    } else if (!request.UpgradeProtocol().empty()) {
      const std::shared_ptr<base::HttpTunnel> tunnel = responder->Upgrade(
          {.code = 101, .headers = {{"Upgrade", std::string(request.UpgradeProtocol())}}});
      tunnel->Start({.on_data = [tunnel](const std::string&) {},
                     .on_end = [tunnel] { tunnel->EndWriting(); },
                     .on_closed = [] {}});
      tunnel->Read();
      tunnel->Write("$");
    } else {
      kept = std::move(responder);
    }
    asked.set_value();
  });
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  SECTION("a log that is followed") {
    client.Send(absl::StrCat("GET ", kProxyUrl,
                             "/api/v1/namespaces/ns/pods/web/log?follow=true HTTP/1.1\r\n"
                             "Host: a\r\n\r\n"));
    CHECK(client.ReadHead().code == 200);
    CHECK(client.ReadChunk() == "first\n");
    proxy.Drain();
    CHECK(client.ReadChunk().empty());
  }
  SECTION("a session") {
    client.Send(absl::StrCat("GET ", kProxyUrl,
                             "/api/v1/namespaces/ns/pods/web/exec HTTP/1.1\r\n"
                             "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
    CHECK(client.ReadHead().code == 101);
    CHECK(client.ReadUntil("$") == "$");
    proxy.Drain();
    CHECK(client.ReadToEnd().empty());
  }
  SECTION("what has not been answered yet") {
    client.Send(absl::StrCat("GET ", kProxyUrl,
                             "/api/v1/namespaces/ns/pods/web/status HTTP/1.1\r\n"
                             "Host: a\r\n\r\n"));
    asked.get_future().wait();
    proxy.Drain();
    CHECK(client.ReadResponse().code == 503);
  }
}

TEST_CASE("only sessions of API servers are relayed") {
  TestServer member(&Describe);
  Proxy proxy(member.Config());
  RawClient client(proxy.port());
  client.Send(absl::StrCat("GET ", kProxyUrl,
                           "/api/v1/namespaces/ns/pods/web/log HTTP/1.1\r\nHost: a\r\n"
                           "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                           "HTTP2-Settings: AAMAAABk\r\n\r\n"));
  const RawResponse response = client.ReadResponse();
  CHECK(response.code == 200);
  CHECK_FALSE(absl::StrContains(response.body, "\nupgrade:"));
  CHECK_FALSE(absl::StrContains(response.body, "http2-settings"));
}

}  // namespace
}  // namespace search
