// The handler of the proxy between a cache, members and a control plane that write down what they
// are asked.
#include "search/proxy/proxy_handler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/aggregation/authorizer.h"
#include "kube/server/negotiation.h"
#include "tests/search/proxy/requests.h"
#include "tests/support/fake_clock.h"

namespace search {
namespace {

using kube::aggregation::ApiRequest;

class Recorder : public base::HttpResponder {
 public:
  void Send(base::HttpResponse answer) override { response = std::move(answer); }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse) override { return nullptr; }
  void Abort() override {}

  json::Value Body() const { return json::Parse(response->body).value_or(json::Value()); }

  std::optional<base::HttpResponse> response;
};

class FakeServer : public Forwarder {
 public:
  void Forward(ForwardedRequest request, std::shared_ptr<base::HttpResponder> responder,
               OnForbidden on_forbidden) override {
    received.push_back(request);
    if (!forbidden.empty()) {
      const std::string body = std::exchange(forbidden, "");
      if (on_forbidden && on_forbidden(body)) return;
      return responder->Send({.code = 403, .body = body});
    }
    responder->Send({.code = 200, .body = "{}"});
  }

  bool ReplaceToken(const std::string&) override { return false; }

  // Returns all values of a header about the identity of the last request.
  std::vector<std::string> Values(absl::string_view name) const {
    std::vector<std::string> out;
    for (const auto& [key, value] : received.back().identity) {
      if (key == name) out.push_back(value);
    }
    return out;
  }

  std::vector<ForwardedRequest> received;
  std::string forbidden;  // The body of the next answer, a 403.
};

class FakeCache : public CachedReads {
 public:
  std::vector<std::string> ClustersOf(const kube::Gvr&) override { return {"member1", "member2"}; }
  Holders HoldersOf(const kube::Gvr&, const kube::ObjectKey& key) override {
    return {holders[key.name], unread, 2};
  }
  void Answer(ApiRequest request, const ReadTerms& terms,
              std::shared_ptr<base::HttpResponder> responder) override {
    reads.push_back(request.info.verb + " " + request.http.target + " " + terms.cluster +
                    (terms.complete ? " complete" : ""));
    responder->Send({.code = 200, .body = "{}"});
  }

  std::map<std::string, std::vector<std::string>> holders;
  std::vector<MissingCluster> unread;
  std::vector<std::string> reads;
};

struct Fixture : MemberForwarders {
  absl::StatusOr<std::shared_ptr<Forwarder>> For(const std::string& cluster) override {
    if (const auto found = servers.find(cluster); found != servers.end()) return found->second;
    return kube::server::NotFound({"cluster.karmada.io", "clusters"}, cluster);
  }

  std::shared_ptr<Recorder> Send(const std::string& method, const std::string& target,
                                 const std::string& body = "") {
    ApiRequest request;
    request.http = Outer(method, absl::StrCat(kProxyUrl, target));
    SetHeader(request.http, "Content-Type", "application/json");
    SetHeader(request.http, "X-Custom", "1");
    SetHeader(request.http, "X-Remote-User", "admin");
    request.http.remote_address = "10.1.2.3:4567";
    request.http.body = body;
    request.user = user;
    const auto responder = std::make_shared<Recorder>();
    handler().Handle(std::move(request), responder);
    REQUIRE(responder->response.has_value());
    return responder;
  }

  ProxyHandler& handler() {
    if (handler_ == nullptr) {
      handler_ = std::make_unique<ProxyHandler>(ProxyHandler::Parts{
          [this](const kube::server::RequestInfo& info,
                 const std::string& cluster) -> absl::StatusOr<bool> {
            if (!registries.ok()) return registries;
            return registered.contains(info.gvr.resource) && cluster != "member3";
          },
          cache, *this, to_control_plane,
          [](absl::string_view version) -> std::optional<MemberVersions> {
            if (version != "composite") return std::nullopt;
            return MemberVersions{{"member1", "714"}};
          },
          clock, authorizer, complete});
    }
    return *handler_;
  }

  tests::FakeClock clock;
  absl::Status registries;  // Whether they are known.
  std::set<std::string> registered = {"pods"};
  kube::aggregation::Authorizer* authorizer = nullptr;
  bool complete = false;
  FakeCache cache;
  const std::shared_ptr<FakeServer> to_control_plane = std::make_shared<FakeServer>();
  FakeServer& control_plane = *to_control_plane;
  std::map<std::string, std::shared_ptr<FakeServer>> servers = {
      {"member1", std::make_shared<FakeServer>()}, {"member2", std::make_shared<FakeServer>()}};
  kube::aggregation::UserInfo user = {
      "bob", "uid-1", {"dev", "system:authenticated"}, {{"scopes", {"a"}}}};

 private:
  std::unique_ptr<ProxyHandler> handler_;
};

TEST_CASE("reads of registered resources come from the cache") {
  Fixture f;
  CHECK(f.Send("GET", "/api/v1/pods?limit=5")->response->code == 200);
  f.Send("GET", "/api/v1/namespaces/ns/pods/web?cluster=member2");
  CHECK(f.cache.reads == std::vector<std::string>{"list /api/v1/pods?limit=5 ",
                                                  "get /api/v1/namespaces/ns/pods/web member2"});
  CHECK(f.control_plane.received.empty());
}

TEST_CASE("writes and subresources go to the member that has the object, as the caller") {
  Fixture f;
  f.cache.holders["web"] = {"member2"};
  CHECK(f.Send("GET", "/api/v1/namespaces/ns/pods/web/log?follow=true")->response->code == 200);
  const FakeServer& member = *f.servers["member2"];
  REQUIRE(member.received.size() == 1);
  const ForwardedRequest& received = member.received[0];
  CHECK(received.request.method == "GET");
  CHECK(received.target == "/api/v1/namespaces/ns/pods/web/log?follow=true");
  CHECK(received.head_timeout == absl::InfiniteDuration());
  CHECK(received.request.remote_address == "10.1.2.3:4567");
  CHECK(received.request.target ==
        absl::StrCat(kProxyUrl, "/api/v1/namespaces/ns/pods/web/log?follow=true"));
  CHECK(received.request.Header("x-custom") == "1");
  CHECK(received.request.fields.size() == 2);
  CHECK(member.Values("Impersonate-User") == std::vector<std::string>{"bob"});
  CHECK(member.Values("Impersonate-Group") == std::vector<std::string>{"dev"});
  CHECK(member.Values("Impersonate-Uid") == std::vector<std::string>{"uid-1"});
  CHECK(member.Values("Impersonate-Extra-scopes") == std::vector<std::string>{"a"});
}

TEST_CASE("a write gets the member's own version") {
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  f.Send("PUT", "/api/v1/namespaces/ns/pods/web",
         R"({"metadata":{"resourceVersion":"composite"}})");
  CHECK(f.servers["member1"]->received.at(0).request.body ==
        R"({"metadata":{"resourceVersion":"714"}})");
  f.cache.holders["web"] = {"member2"};
  const auto refused = f.Send("PUT", "/api/v1/namespaces/ns/pods/web",
                              R"({"metadata":{"resourceVersion":"composite"}})");
  CHECK(refused->response->code == 409);
  CHECK(f.servers["member2"]->received.empty());
}

TEST_CASE("names that no member or several members have are refused") {
  Fixture f;
  CHECK(f.Send("DELETE", "/api/v1/namespaces/ns/pods/none")->response->code == 404);
  f.cache.holders["same"] = {"member2", "member1"};
  const auto ambiguous = f.Send("DELETE", "/api/v1/namespaces/ns/pods/same");
  CHECK(ambiguous->response->code == 409);
  CHECK(ambiguous->Body()["reason"].AsString() == "Conflict");
  CHECK(f.Send("DELETE", "/api/v1/namespaces/ns/pods/same?cluster=member1")->response->code == 200);
  CHECK(f.servers["member1"]->received.size() == 1);
  // A cluster whose pods no registry selects.
  f.servers["member3"] = std::make_shared<FakeServer>();
  const auto unselected = f.Send("DELETE", "/api/v1/namespaces/ns/pods/same?cluster=member3");
  CHECK(unselected->response->code == 400);
  CHECK(absl::StrContains(unselected->response->body, "no ResourceRegistry selects pods"));
}

TEST_CASE("who chooses a cluster that does not exist is told so") {
  Fixture f;
  const auto refused = f.Send("DELETE", "/api/v1/namespaces/ns/configmaps/x?cluster=nope");
  CHECK(refused->response->code == 400);
  CHECK(refused->Body()["message"].AsString() ==
        "cluster nope was chosen, but there is no Cluster of this name");
}

TEST_CASE("a change of what is in no registry has a warning that it was the control plane's") {
  Fixture f;
  const auto warnings = [&](const std::string& method, const std::string& target) {
    std::vector<std::string> out;
    const auto answered = f.Send(method, target);
    for (const auto& [name, value] : answered->response->headers) {
      if (name == "Warning") out.push_back(value);
    }
    return out;
  };
  const std::vector<std::string> warned = {
      "299 - \"configmaps is in no ResourceRegistry: this was a request to the control plane, not "
      "to "
      "members\""};
  for (const char* method : {"DELETE", "PUT", "PATCH"}) {
    CAPTURE(method);
    CHECK(warnings(method, "/api/v1/namespaces/ns/configmaps/x") == warned);
  }
  CHECK(warnings("POST", "/api/v1/namespaces/ns/configmaps") == warned);
  CHECK(warnings("DELETE", "/api/v1/namespaces/ns/configmaps") == warned);
  CHECK(warnings("GET", "/api/v1/namespaces/ns/configmaps/x").empty());
  // A question, which changes nothing.
  CHECK(warnings("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").empty());
  f.cache.holders["web"] = {"member1"};
  CHECK(warnings("DELETE", "/api/v1/namespaces/ns/pods/web").empty());
}

TEST_CASE("who changes an object that no member has learns which members may have it") {
  Fixture f;
  f.cache.unread = {{"member2", "the cluster has not answered in time", true}};
  for (const char* method : {"DELETE", "PUT", "PATCH"}) {
    CAPTURE(method);
    const auto none = f.Send(method, "/api/v1/namespaces/ns/pods/none");
    CHECK(none->response->code == 404);
    CHECK(none->Body()["reason"].AsString() == "NotFound");
    CHECK(none->Body()["message"].AsString() ==
          "pods \"none\" not found; cluster member2 may not be shown as it is now: the cluster has "
          "not answered in time");
    const auto& headers = none->response->headers;
    CHECK(std::any_of(headers.begin(), headers.end(), [](const auto& header) {
      return header.first == "Warning" && absl::StrContains(header.second, "cluster member2");
    }));
  }
  // Who chose a member has not asked for others.
  CHECK(f.Send("DELETE", "/api/v1/namespaces/ns/pods/none?cluster=member1")->response->code == 200);
}

TEST_CASE("the owner of what is proxied to is found by its name alone") {
  Fixture f;
  f.cache.holders["web"] = {"member2"};
  const std::string target = "/api/v1/namespaces/ns/pods/https:web:443/proxy/a?b=c";
  CHECK(f.Send("GET", target)->response->code == 200);
  CHECK(f.servers["member2"]->received.at(0).target == target);
  const auto none = f.Send("GET", "/api/v1/namespaces/ns/pods/http:other:80/proxy/");
  CHECK(none->response->code == 404);
  CHECK(none->Body()["message"].AsString() == "pods \"other\" not found");
}

TEST_CASE("a PUT of what another member has writes nothing to the chosen one") {
  Fixture f;
  f.cache.holders["web"] = {"member1", "member2"};
  const auto refused = f.Send("PUT", "/api/v1/namespaces/ns/pods/web?cluster=member2",
                              R"({"metadata":{"annotations":{)"
                              R"("resource.karmada.io/cached-from-cluster":"member1"}}})");
  CHECK(refused->response->code == 409);
  CHECK(f.servers["member2"]->received.empty());
}

TEST_CASE("everything else goes to the control plane as the caller, not as this program") {
  Fixture f;
  CHECK(f.Send("GET", "/api/v1/secrets")->response->code == 200);
  CHECK(f.control_plane.Values("Impersonate-User") == std::vector<std::string>{"bob"});
  CHECK(f.control_plane.Values("Impersonate-Uid") == std::vector<std::string>{"uid-1"});
  f.user = {};
  CHECK(f.Send("GET", "/api/v1/secrets")->response->code == 500);
  CHECK(f.control_plane.received.size() == 1);
}

TEST_CASE("nobody answers until it is known who has to") {
  Fixture f;
  f.registries = kube::server::ServiceUnavailable("wait", absl::Seconds(1));
  for (const char* target : {"/api/v1/pods", "/api/v1/secrets?watch=1", "/api/v1/secrets/x"}) {
    CAPTURE(target);
    const auto refused = f.Send("GET", target);
    CHECK(refused->response->code == 503);
    CHECK(refused->Body()["reason"].AsString() == "ServiceUnavailable");
    const auto& headers = refused->response->headers;
    CHECK(std::count(headers.begin(), headers.end(),
                     std::pair<std::string, std::string>("Retry-After", "1")) == 1);
  }
  CHECK(f.Send("DELETE", "/api/v1/namespaces/ns/pods/x")->response->code == 503);
  CHECK(f.control_plane.received.empty());
  // What is no resource is nobody else's.
  CHECK(f.Send("GET", "/apis")->response->code == 200);
  CHECK(f.control_plane.received.size() == 1);
}

TEST_CASE("a watch at the control plane ends when its resource is registered") {
  Fixture f;
  f.Send("GET", "/api/v1/secrets?watch=1");
  f.Send("GET", "/api/v1/configmaps?watch=1");
  f.Send("GET", "/api/v1/secrets");
  const auto ended = [&](size_t i) { return f.control_plane.received.at(i).stop.stop_requested(); };
  f.handler().OnRegistrationsChanged();
  CHECK_FALSE(ended(0));
  f.registered.insert("secrets");
  f.registries = kube::server::ServiceUnavailable("wait", absl::Seconds(1));
  f.handler().OnRegistrationsChanged();
  CHECK_FALSE(ended(0));
  f.registries = absl::OkStatus();
  f.handler().OnRegistrationsChanged();
  CHECK(ended(0));
  CHECK_FALSE(ended(1));
  CHECK_FALSE(ended(2));
  // One that has ended is forgotten.
  f.control_plane.received.clear();
  f.handler().OnRegistrationsChanged();
}

TEST_CASE("a server that refuses uid and extra gets name and groups") {
  const std::string refusal =
      R"({"kind":"Status","reason":"Forbidden","message":"uids.authentication.k8s.io \"uid-1\" is )"
      R"(forbidden: User \"x\" cannot impersonate resource \"uids\" in API group )"
      R"(\"authentication.k8s.io\" at the cluster scope","details":{"name":"uid-1",)"
      R"("group":"authentication.k8s.io","kind":"uids"},"code":403})";
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  FakeServer& member = *f.servers["member1"];
  const std::string log = "/api/v1/namespaces/ns/pods/web/log";
  member.forbidden = refusal;
  CHECK(f.Send("GET", log)->response->code == 200);
  REQUIRE(member.received.size() == 2);
  CHECK(member.Values("Impersonate-Uid").empty());
  CHECK(member.Values("Impersonate-Extra-scopes").empty());
  CHECK(member.Values("Impersonate-Group") == std::vector<std::string>{"dev"});
  // The member is not asked twice again, until its role may have been mended.
  f.Send("GET", log);
  CHECK(member.received.size() == 3);
  f.clock.Advance(absl::Minutes(6));
  f.Send("GET", log);
  CHECK(member.Values("Impersonate-Uid").size() == 1);
}

TEST_CASE("another refusal is the caller's") {
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  FakeServer& member = *f.servers["member1"];
  for (
      const std::string body :
      {R"({"reason":"Forbidden","message":"pods \"web\" is forbidden","details":{"kind":"pods"}})",
       R"({"reason":"Forbidden","message":"users \"bob\" is forbidden: cannot impersonate resource)"
       R"( \"users\"","details":{"kind":"users"}})",
       "no json"}) {
    CAPTURE(body);
    member.forbidden = body;
    const auto answer = f.Send("GET", "/api/v1/namespaces/ns/pods/web/log");
    CHECK(answer->response->code == 403);
    CHECK(answer->response->body == body);
  }
  CHECK(member.received.size() == 3);
}

TEST_CASE("an application's refusal is nobody's business, and another user's is his own") {
  const std::string refusal =
      R"({"reason":"Forbidden","message":"cannot impersonate resource \"uids\"","details":)"
      R"({"group":"authentication.k8s.io","kind":"uids"}})";
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  FakeServer& member = *f.servers["member1"];
  member.forbidden = refusal;
  CHECK(f.Send("GET", "/api/v1/namespaces/ns/pods/web/proxy/login")->response->code == 403);
  REQUIRE(member.received.size() == 1);
  CHECK(member.received[0].of_application);
  const std::string log = "/api/v1/namespaces/ns/pods/web/log";
  f.Send("GET", log);
  CHECK(member.Values("Impersonate-Uid").size() == 1);
  member.forbidden = refusal;
  f.Send("GET", log);
  CHECK(member.Values("Impersonate-Uid").empty());
  f.user.name = "alice";
  f.Send("GET", log);
  CHECK(member.Values("Impersonate-Uid").size() == 1);
}

TEST_CASE("a user whom no header can name is not passed on") {
  Fixture f;
  const kube::aggregation::UserInfo bob = f.user;
  const auto code = [&] { return f.Send("GET", "/api/v1/secrets")->response->code; };
  f.user.name = " admin";
  CHECK(code() == 400);
  f.user = bob;
  f.user.groups.push_back("system:masters\t");
  CHECK(code() == 400);
  f.user.groups.back() = "";
  CHECK(code() == 400);
  f.user = bob;
  f.user.uid = "1\r\nX: 1";
  CHECK(code() == 400);
  f.user = bob;
  f.user.extra["scopes"] = {"b "};
  CHECK(code() == 400);
  CHECK(f.control_plane.received.empty());
  f.user = bob;
  f.user.groups = {"a group, with a comma"};
  CHECK(code() == 200);
}

// Permits everything about these names.
class FakeAuthorizer : public kube::aggregation::Authorizer {
 public:
  void Authorize(const kube::aggregation::Attributes& a, Done done) override {
    asked.push_back(absl::StrCat(a.user.name, " ", a.verb, " ", a.resource, "/", a.subresource, " ",
                                 a.ns, "/", a.name));
    done(kube::aggregation::Decision{.allowed = permits.contains(a.name)});
  }
  std::set<std::string> permits;
  std::vector<std::string> asked;
};

TEST_CASE("the search for an owner reports nothing to whoever may not read the object") {
  Fixture f;
  FakeAuthorizer authorizer;
  f.authorizer = &authorizer;
  f.cache.holders = {{"one", {"member1"}}, {"both", {"member1", "member2"}}};
  const auto code = [&](const std::string& method, const std::string& target) {
    return f.Send(method, "/api/v1/namespaces/ns/pods/" + target)->response->code;
  };
  for (const std::string name : {"one", "both", "none"}) {
    CAPTURE(name);
    const auto refused = f.Send("DELETE", "/api/v1/namespaces/ns/pods/" + name);
    CHECK(refused->response->code == 403);
    CHECK(refused->Body()["message"].AsString() ==
          absl::StrCat("pods \"", name,
                       "\" is forbidden: User \"bob\" cannot get resource \"pods\"",
                       " in API group \"\" in the namespace \"ns\""));
  }
  CHECK(code("GET", "https:one:443/proxy/a") == 403);
  CHECK(authorizer.asked.front() == "bob get pods/ ns/one");
  CHECK(authorizer.asked.back() == "bob get pods/ ns/one");
  CHECK(f.servers["member1"]->received.empty());
  // The member decides about what is sent to it without a search, and about everything else.
  CHECK(code("DELETE", "one?cluster=member1") == 200);
  authorizer.permits = {"one", "both", "none"};
  CHECK(code("GET", "one/log") == 200);
  CHECK(code("DELETE", "both") == 409);
  CHECK(code("DELETE", "none") == 404);
}

TEST_CASE("a write waits for a first list that has just begun") {
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  f.cache.unread = {{.cluster = "member2",
                     .reason = "its objects are still being read",
                     .being_read = true,
                     .just_begun = true}};
  const auto refused = f.Send("DELETE", "/api/v1/namespaces/ns/pods/web");
  CHECK(refused->response->code == 503);
  CHECK_THAT(
      refused->Body()["message"].ToString(),
      Catch::StartsWith("it is not known which cluster has pods \"web\"; cluster member2 has "
                        "not been read: its objects are still being read; try again"));
  CHECK(refused->Body()["details"]["retryAfterSeconds"].AsInt() == 1);
  CHECK(f.Send("GET", "/api/v1/namespaces/ns/pods/web/exec")->response->code == 503);
  CHECK(f.servers["member1"]->received.empty());
  CHECK(f.Send("GET", "/api/v1/namespaces/ns/pods/web/log")->response->code == 200);
  CHECK(f.Send("DELETE", "/api/v1/namespaces/ns/pods/web?cluster=member1")->response->code == 200);
  // The body says which one is meant.
  CHECK(f.Send("PUT", "/api/v1/namespaces/ns/pods/web",
               R"({"metadata":{"resourceVersion":"composite"}})")
            ->response->code == 200);
}

TEST_CASE("a member that cannot be read stops nothing, and the answer warns of it") {
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  f.cache.unread = {{.cluster = "member2", .reason = "connection refused"},
                    {.cluster = "member3", .reason = "slow", .stale = true}};
  for (const auto& [method, target] : {std::pair("DELETE", "web"), std::pair("PATCH", "web/scale"),
                                       std::pair("GET", "web/exec"), std::pair("GET", "web/log")}) {
    CAPTURE(method, target);
    const auto answer = f.Send(method, absl::StrCat("/api/v1/namespaces/ns/pods/", target));
    CHECK(answer->response->code == 200);
    const auto& headers = answer->response->headers;
    REQUIRE(headers.size() == 2);
    CHECK(headers[0].first == "Warning");
    CHECK_THAT(headers[0].second, Catch::Contains("cluster member2 has not been read, and may have "
                                                  "one of this name: connection refused"));
    CHECK(headers[1] ==
          std::pair<std::string, std::string>("X-Karmada-Missing-Clusters", "member2"));
  }
  CHECK(f.servers["member1"]->received.size() == 4);
  // Whoever names the cluster is not warned of others.
  const auto chosen = f.Send("DELETE", "/api/v1/namespaces/ns/pods/web?cluster=member1");
  CHECK(chosen->response->headers.empty());
  const auto none = f.Send("DELETE", "/api/v1/namespaces/ns/pods/none");
  CHECK(none->response->code == 404);
  CHECK_THAT(none->Body()["message"].ToString(),
             Catch::Contains("cluster member2 has not been read: connection refused"));
}

TEST_CASE("whoever demands a complete answer changes nothing that another member may have, too") {
  Fixture f;
  f.cache.holders["web"] = {"member1"};
  f.cache.unread = {{.cluster = "member2", .reason = "connection refused"}};
  const auto code = [&](const std::string& method, const std::string& target) {
    return f.Send(method, absl::StrCat("/api/v1/namespaces/ns/pods/", target))->response->code;
  };
  CHECK(code("DELETE", "web?requireComplete=true") == 503);
  CHECK(code("GET", "web/log?requireComplete=1") == 503);
  CHECK(code("DELETE", "none?requireComplete=true") == 503);
  CHECK(f.servers["member1"]->received.empty());
  CHECK(code("DELETE", "web?requireComplete=false&x=1") == 200);
  CHECK(f.servers["member1"]->received.back().target == "/api/v1/namespaces/ns/pods/web?x=1");
  CHECK(code("DELETE", "web?requireComplete=true&cluster=member1") == 200);
  f.cache.unread[0].stale = true;
  CHECK(code("DELETE", "web?requireComplete=true") == 200);
  CHECK(code("DELETE", "web?requireComplete=please") == 400);
  CHECK(code("DELETE", "web?requireComplete=true&requireComplete=false") == 400);
  f.Send("GET", "/api/v1/pods?requireComplete=true&limit=5");
  CHECK(f.cache.reads.back() == "list /api/v1/pods?limit=5  complete");

  Fixture strict;
  strict.complete = true;
  strict.cache = f.cache;
  strict.cache.unread[0].stale = false;
  CHECK(strict.Send("DELETE", "/api/v1/namespaces/ns/pods/web")->response->code == 503);
  strict.Send("GET", "/api/v1/pods");
  strict.Send("GET", "/api/v1/pods?requireComplete=false");
  CHECK(strict.cache.reads.at(strict.cache.reads.size() - 2) == "list /api/v1/pods  complete");
  CHECK(strict.cache.reads.back() == "list /api/v1/pods ");
}

TEST_CASE("a collection is not deleted by a label that only the proxy knows") {
  Fixture f;
  const std::string pods = "/api/v1/namespaces/ns/pods?cluster=member1&labelSelector=";
  CHECK(f.Send("DELETE", pods + "app")->response->code == 200);
  // To the member every object has another cluster than member1.
  for (const std::string selector :
       {"resource.karmada.io/cached-from-cluster!=member1",
        "!resource.karmada.io/cached-from-cluster", "resource.karmada.io/cached-from-cluster"}) {
    CAPTURE(selector);
    const auto refused = f.Send("DELETE", pods + selector);
    CHECK(refused->response->code == 400);
    CHECK_THAT(refused->Body()["message"].ToString(), Catch::Contains("lists and watches only"));
  }
  CHECK(f.servers["member1"]->received.size() == 1);
}

TEST_CASE("a forwarded request that waits holds no thread of the chain") {
  Fixture f;
  ApiRequest request;
  request.http = Outer("GET", absl::StrCat(kProxyUrl, "/api/v1/pods"));
  CHECK_FALSE(f.handler().MayBlock(request));
  request.http.body = std::string(1 << 20, ' ');
  CHECK(f.handler().MayBlock(request));
}

TEST_CASE("the head of a forwarded list has a deadline, its body has none") {
  Fixture f;
  f.Send("GET", "/api/v1/secrets");
  CHECK(f.control_plane.received.back().head_timeout == absl::Seconds(60));
  f.Send("GET", "/api/v1/secrets?watch=1");
  CHECK(f.control_plane.received.back().head_timeout == absl::InfiniteDuration());
}

}  // namespace
}  // namespace search
