// The API of ResourceRegistries on a fake etcd, without a server.
#ifndef TESTS_SEARCH_REGISTRY_API_FIXTURE_H_
#define TESTS_SEARCH_REGISTRY_API_FIXTURE_H_

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "search/registry/registry_api.h"
#include "tests/search/registry/feed_fixture.h"

namespace search {

inline constexpr char kPath[] = "/apis/search.karmada.io/v1alpha1/resourceregistries";

// Collects what is sent to a client.
class Responder : public base::HttpResponder,
                  public base::HttpStream,
                  public std::enable_shared_from_this<Responder> {
 public:
  void Send(base::HttpResponse response) override {
    absl::MutexLock lock(&mu_);
    response_ = std::move(response);
  }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override {
    Send(std::move(head));
    return shared_from_this();
  }
  bool Write(std::string bytes) override {
    absl::MutexLock lock(&mu_);
    text_ += bytes;
    return true;
  }
  void Close() override {
    absl::MutexLock lock(&mu_);
    closed_ = true;
  }
  void Abort() override { Close(); }
  void OnClosed(std::function<void()>) override {}

  base::HttpResponse response() const {
    absl::MutexLock lock(&mu_);
    return response_;
  }
  bool closed() const {
    absl::MutexLock lock(&mu_);
    return closed_;
  }
  std::vector<json::Value> Lines() const {
    absl::MutexLock lock(&mu_);
    std::vector<json::Value> out;
    for (absl::string_view line : absl::StrSplit(text_, '\n', absl::SkipEmpty())) {
      out.push_back(*json::Parse(line));
    }
    return out;
  }
  // "ADDED a" for each event.
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const json::Value& line : Lines()) {
      out.push_back(absl::StrCat(line["type"].AsString(), " ",
                                 line["object"]["metadata"]["name"].AsString()));
    }
    return out;
  }
  bool Await(const std::vector<std::string>& wanted) const {
    tests::Eventually([&] { return Events().size() >= wanted.size(); });
    CHECK(Events() == wanted);
    return Events() == wanted;
  }

 private:
  mutable absl::Mutex mu_;
  base::HttpResponse response_ ABSL_GUARDED_BY(mu_);
  std::string text_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

struct Reply {
  int code = 0;
  json::Value body;
  base::HttpResponse whole;
};

// An API on a fake etcd. A target is "[/name[/status]][?query]".
struct Api {
  explicit Api(const base::Clock& clock = base::RealClock())
      : clock_(clock), api({*running.store, running.feed, clock}) {
    running.etcd.Put("/other", "x");  // So that the feed's history does not begin with the first
    running.Start();                  // revision.
  }

  static base::HttpRequest Request(const std::string& method, const std::string& target,
                                   const std::string& body, const std::string& type) {
    base::HttpRequest request;
    request.method = method;
    const std::vector<std::string> parts = absl::StrSplit(target, absl::MaxSplits('?', 1));
    request.path = kPath + parts[0];
    if (parts.size() > 1) {
      for (absl::string_view pair : absl::StrSplit(parts[1], '&')) {
        request.query.push_back(absl::StrSplit(pair, absl::MaxSplits('=', 1)));
      }
    }
    request.body = body;
    request.headers = {{"content-type", type}, {"user-agent", "kubectl/v1.35"}};
    return request;
  }

  Reply Do(const std::string& method, const std::string& target, const std::string& body = "",
           const std::string& type = "application/json", const std::string& accept = "") {
    base::HttpRequest request = Request(method, target, body, type);
    if (!accept.empty()) request.headers["accept"] = accept;
    const auto info = kube::server::ReadRequest(request);
    REQUIRE(RegistryApi::Serves(info));
    Reply reply;
    reply.whole = api.Answer(request, info, {});
    reply.code = reply.whole.code;
    const auto parsed = json::Parse(reply.whole.body);
    if (parsed.ok()) reply.body = *parsed;
    return reply;
  }
  std::shared_ptr<Responder> Watch(const std::string& query, const std::string& accept = "") {
    base::HttpRequest request = Request("GET", "?watch=true&" + query, "", "");
    request.headers["accept"] = accept;
    auto responder = std::make_shared<Responder>();
    api.Watch(request, kube::server::ReadRequest(request), responder, stop.get_token());
    return responder;
  }
  Reply Create(const std::string& name, const std::string& more = "") {
    return Do("POST", "", R"({"metadata":{"name":")" + name + "\"" + more + R"(},"spec":{}})");
  }

  const base::Clock& clock_;
  RunningFeed running;
  RegistryApi api;
  base::StopSource stop;
};

}  // namespace search

#endif  // TESTS_SEARCH_REGISTRY_API_FIXTURE_H_
