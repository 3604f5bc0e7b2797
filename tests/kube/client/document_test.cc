#include "kube/client/document.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "kube/client/errors.h"
#include "tests/support/fake_clock.h"

namespace {

// Answers everything with one answer, and keeps the last request.
class Server : public kube::Transport {
 public:
  kube::HttpResponse answer;
  kube::HttpRequest last;

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    last = request;
    return answer;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }
};

struct Fixture {
  std::shared_ptr<Server> server = std::make_shared<Server>();
  tests::FakeClock clock;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};

  absl::StatusOr<json::Value> Get(const kube::DocumentPath& path) {
    return kube::GetDocument(client, path, absl::Seconds(5), {});
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a document is read at a path that is escaped, with a deadline") {
  server->answer = {200, {}, R"({"a": 1})"};
  const auto document = Get({{"apis", "g", "v1", "a b"}, {{"q", "x=y"}, {"empty", ""}}});
  REQUIRE(document.ok());
  CHECK((*document)["a"].AsInt() == 1);
  CHECK(server->last.method == "GET");
  CHECK(server->last.path == "/apis/g/v1/a%20b?q=x%3Dy");
  CHECK(server->last.timeout <= absl::Seconds(5));
  CHECK(server->last.max_answer_bytes == 16 << 20);
}

TEST_CASE_METHOD(Fixture, "segments that would lead elsewhere are refused") {
  const std::string segment = GENERATE("", ".", "..", "a/b", "a/../../b");
  CHECK(absl::IsInvalidArgument(Get({{"apis", segment}, {}}).status()));
  CHECK(server->last.path.empty());
}

TEST_CASE_METHOD(Fixture, "an error answer, or one that is no JSON, is an error with the path") {
  server->answer = {404, {}, "404 page not found\n"};
  const absl::Status absent = Get({{"apis", "g"}, {}}).status();
  CHECK(kube::IsNoSuchKind(absent));
  CHECK(absent.message() == "get /apis/g: the server answered 404: 404 page not found");
  server->answer = {200, {}, "<html>"};
  CHECK(absl::StatusCodeToString(Get({{"apis", "g"}, {}}).status().code()) == "INVALID_ARGUMENT");
}
