#include "kube/runtime/internal/refusal_transport.h"

#include <catch2/catch.hpp>
#include <functional>

namespace kube::internal {
namespace {

// Answers with what a test decides while the request is under way.
class Scripted : public Transport {
 public:
  std::function<int()> code = [] { return 200; };

  absl::StatusOr<HttpResponse> Send(const HttpRequest&, const base::StopToken&) override {
    HttpResponse answer;
    answer.code = code();
    return answer;
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest&, StreamCallbacks callbacks) override {
    opened = std::move(callbacks);
    return nullptr;
  }
  bool ReplaceToken(const std::string&) override { return true; }

  StreamCallbacks opened;
};

struct Fixture {
  std::shared_ptr<Scripted> server = std::make_shared<Scripted>();
  RefusalTransport transport{server};

  void Answer(int code, const std::string& path = "/readyz") {
    server->code = [code] { return code; };
    REQUIRE(transport.Send({.method = "GET", .path = path}, {}).ok());
  }
  void AnswerStream(int code) {
    HttpResponse head;
    head.code = code;
    server->opened.on_head(head);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a refusal counts until the token is accepted") {
  CHECK_FALSE(transport.is_refused());
  Answer(401);
  CHECK(transport.is_refused());
  Answer(503);  // Perhaps from a proxy.
  CHECK(transport.is_refused());
  Answer(403);
  CHECK_FALSE(transport.is_refused());
}

TEST_CASE_METHOD(Fixture, "a refusal counts only for the token in use") {
  SECTION("the request was under way when the token was replaced") {
    server->code = [this] {
      transport.ReplaceToken("new");
      return 401;
    };
    REQUIRE(transport.Send({.method = "GET", .path = "/readyz"}, {}).ok());
  }
  SECTION("so was the beginning of a watch") {
    transport.Open({.method = "GET", .path = "/api/v1/pods?watch=1"},
                   {.on_head = [](const HttpResponse&) {}});
    transport.ReplaceToken("new");
    AnswerStream(401);
  }
  SECTION("the refused one was replaced") {
    Answer(401);
    transport.ReplaceToken("new");
  }
  CHECK_FALSE(transport.is_refused());
  Answer(401);
  CHECK(transport.is_refused());
}

TEST_CASE_METHOD(Fixture, "an answer to an earlier token does not make the one in use accepted") {
  transport.Open({.method = "GET", .path = "/api/v1/pods?watch=1"},
                 {.on_head = [](const HttpResponse&) {}});
  transport.ReplaceToken("new");
  Answer(401);
  AnswerStream(200);
  CHECK(transport.is_refused());
}

TEST_CASE_METHOD(Fixture, "the discovery of an API group does not count") {
  Answer(401, "/apis/metrics.k8s.io/v1beta1");
  CHECK_FALSE(transport.is_refused());
  Answer(401, "/apis/apps/v1/deployments?limit=1");
  CHECK(transport.is_refused());
  Answer(200, "/apis/metrics.k8s.io/v1beta1");
  CHECK(transport.is_refused());
  Answer(401, "/apis");
  CHECK(transport.is_refused());
}

}  // namespace kube::internal
