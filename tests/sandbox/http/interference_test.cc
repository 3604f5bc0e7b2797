// What a test can do to requests and their answers.
#include "sandbox/http/interference.h"

#include <catch2/catch.hpp>

#include "tests/sandbox/http/front_end_fixture.h"
#include "tests/sandbox/http/test_interference.h"

namespace sandbox {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

class Interfered : public FrontEndFixture {
 public:
  Interfered() { front_end.SetInterference(interference); }

  std::shared_ptr<FakeResponder> BeginPost(const std::string& name) {
    return Begin({.method = "POST", .target = kMaps, .body = json::Write(ConfigMap(name).root())});
  }
  bool Stored(const std::string& name) { return backend.Get(kConfigMaps, {"default", name}).ok(); }
  int64_t version() { return backend.store().version(); }

  std::shared_ptr<TestInterference> interference = std::make_shared<TestInterference>();
};

TEST_CASE_METHOD(Interfered, "a request can be refused before it is executed") {
  interference->on_request = [](const RequestPtr&) {
    return RequestVerdict::Refuse(InjectedError(429, absl::Seconds(7)));
  };
  const Reply refused = Post(kMaps, ConfigMap("a"));
  CHECK(refused.code == 429);
  CHECK(refused.Header("Retry-After") == "7");
  CHECK(refused.body["reason"].AsString() == "TooManyRequests");
  CHECK_FALSE(Stored("a"));
  CHECK(interference->outcomes().empty());
}

TEST_CASE_METHOD(Interfered, "a request can end without an answer before it is executed") {
  interference->on_request = [](const RequestPtr&) { return RequestVerdict::Close(); };
  CHECK(Post(kMaps, ConfigMap("a")).code == 0);
  CHECK_FALSE(Stored("a"));
}

TEST_CASE_METHOD(Interfered, "a request that is held is executed when it is released") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr&) { return RequestVerdict::Wait(hold); };
  const auto responder = BeginPost("a");
  CHECK(hold->waits());
  CHECK(responder->response.code == -1);
  CHECK_FALSE(Stored("a"));
  hold->Release();
  CHECK_FALSE(hold->waits());
  CHECK(responder->response.code == 201);
  CHECK(Stored("a"));
  hold->Drop();
  CHECK(responder->response.code == 201);
}

TEST_CASE_METHOD(Interfered, "a request that is held and dropped is never executed") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr&) { return RequestVerdict::Wait(hold); };
  const auto responder = BeginPost("a");
  hold->Drop();
  hold->Release();
  CHECK(responder->response.code == 0);
  CHECK_FALSE(Stored("a"));
}

TEST_CASE_METHOD(Interfered, "what comes to a hold after its release or drop does not wait") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr&) { return RequestVerdict::Wait(hold); };
  SECTION("released") {
    hold->Release();
    CHECK(Post(kMaps, ConfigMap("a")).code == 201);
  }
  SECTION("dropped") {
    hold->Drop();
    CHECK(Post(kMaps, ConfigMap("a")).code == 0);
    CHECK_FALSE(Stored("a"));
  }
}

TEST_CASE_METHOD(Interfered, "an answer can be lost after the execution") {
  interference->on_executed = [](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Close();
  };
  CHECK(Post(kMaps, ConfigMap("a")).code == 0);
  CHECK(Stored("a"));
}

TEST_CASE_METHOD(Interfered, "an answer can be replaced by an error after the execution") {
  interference->on_executed = [](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Replace(InjectedError(504));
  };
  const Reply reply = Post(kMaps, ConfigMap("a"));
  CHECK(reply.code == 504);
  CHECK(reply.body["reason"].AsString() == "Timeout");
  CHECK(Stored("a"));
}

TEST_CASE_METHOD(Interfered, "an answer can be cut after some of its bytes") {
  interference->on_executed = [](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Cut(10);
  };
  const Reply reply = Post(kMaps, ConfigMap("a"));
  CHECK(reply.code == 201);
  CHECK(reply.raw.body.size() == 10);
  CHECK(reply.raw.stream_length.value_or(0) > 10);
  REQUIRE(reply.stream != nullptr);
  CHECK(reply.stream->ended());
  CHECK_FALSE(reply.stream->properly());
  CHECK(Stored("a"));
}

TEST_CASE_METHOD(Interfered, "an answer can be held after the execution") {
  const auto hold = std::make_shared<Hold>();
  interference->on_executed = [&](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Wait(hold);
  };
  const auto responder = BeginPost("a");
  CHECK(Stored("a"));
  CHECK(responder->response.code == -1);
  SECTION("and sent") {
    hold->Release();
    CHECK(responder->response.code == 201);
  }
  SECTION("and dropped") {
    hold->Drop();
    CHECK(responder->response.code == 0);
  }
}

TEST_CASE_METHOD(Interfered, "the outcome tells what a request has stored") {
  const auto last = [this] { return interference->outcomes().back(); };

  kube::Object generated = ConfigMap("");
  generated.Erase({"metadata", "name"});
  generated.Set({"metadata", "generateName"}, "made-");
  const Reply made = Post(kMaps, generated);
  CHECK(last().code == 201);
  CHECK(last().key.name == made.body["metadata"]["name"].AsString());
  CHECK(last().version == version());
  CHECK(last().stored == std::vector<int64_t>{version()});

  Post(kMaps, ConfigMap("a", "1"));
  const int64_t created = version();
  Put(std::string(kMaps) + "/a", ConfigMap("a", "1"));
  CHECK(last().code == 200);
  CHECK(last().version == created);
  CHECK_FALSE(last().changed());

  Put(std::string(kMaps) + "/a?dryRun=All", ConfigMap("a", "2"));
  CHECK_FALSE(last().changed());
  CHECK(interference->requests().back()->dry_run);
  CHECK_FALSE(interference->requests().back()->IsWrite());

  Put(std::string(kMaps) + "/a", ConfigMap("a", "2"));
  CHECK(last().stored == std::vector<int64_t>{version()});

  Post(kMaps, ConfigMap("a"));
  CHECK(last().code == 409);
  CHECK_FALSE(last().changed());

  Delete(std::string(kMaps) + "/a");
  CHECK(last().key.name == "a");
  CHECK(last().stored == std::vector<int64_t>{version()});
  CHECK(last().version == version());

  Post(kMaps, ConfigMap("b"));
  Delete(kMaps);
  CHECK(last().stored == std::vector<int64_t>{version() - 1, version()});
}

TEST_CASE_METHOD(Interfered, "requests are numbered and described") {
  Get("/version");
  Send({.method = "PATCH",
        .target = "/apis/apps/v1/namespaces/default/deployments/web/status?fieldManager=me",
        .body = R"({"apiVersion": "apps/v1", "kind": "Deployment", "status": {"replicas": 1}})",
        .headers = {{"content-type", "application/apply-patch+yaml"}}});
  Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
       kube::Object::Make({"authorization.k8s.io", "v1", "SelfSubjectAccessReview"}, {"", ""}));
  Get(kMaps);
  const auto requests = interference->requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[0]->ToString() == "server 1 get /version");
  CHECK(requests[0]->client == "test/1");
  CHECK(requests[1]->ToString() == "server 2 apply deployments.apps/status default/web");
  CHECK(requests[1]->IsWrite());
  CHECK((*requests[1]->Body())["status"]["replicas"].AsInt() == 1);
  CHECK(requests[1]->http->Query("fieldManager") == "me");
  CHECK_FALSE(requests[2]->IsWrite());
  CHECK(requests[3]->info.verb == "list");
  CHECK_FALSE(requests[3]->IsWrite());
}

TEST_CASE_METHOD(Interfered, "another interference begins with the number one") {
  Get(kMaps);
  const auto other = std::make_shared<TestInterference>();
  front_end.SetInterference(other);
  Get(kMaps);
  REQUIRE(other->requests().size() == 1);
  CHECK(other->requests()[0]->number == 1);
  front_end.SetInterference(nullptr);
  CHECK(Get(kMaps).code == 200);
  CHECK(other->requests().size() == 1);
}

TEST_CASE_METHOD(Interfered, "a hold may be released while another request is decided about") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr& request) {
    if (request->number == 1) return RequestVerdict::Wait(hold);
    hold->Release();
    return RequestVerdict::Pass();
  };
  const auto first = BeginPost("a");
  const auto second = BeginPost("a");
  CHECK(first->response.code == 201);
  CHECK(second->response.code == 409);
}

TEST_CASE_METHOD(Interfered, "a server that stops drops what is held") {
  const auto before = std::make_shared<Hold>();
  const auto after = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr& request) {
    return request->number == 1 ? RequestVerdict::Wait(before) : RequestVerdict::Pass();
  };
  interference->on_executed = [&](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Wait(after);
  };
  const auto first = BeginPost("a");
  const auto second = BeginPost("b");
  front_end.DropAll();
  CHECK(first->response.code == 0);
  CHECK(second->response.code == 0);
  before->Release();
  after->Release();
  CHECK_FALSE(Stored("a"));
  CHECK(Stored("b"));
}

}  // namespace
}  // namespace sandbox
