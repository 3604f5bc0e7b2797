// Interference with an API server behind a real socket: what clients notice of it.
#include <catch2/catch.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "sandbox/api_server.h"
#include "sandbox/cluster_identity.h"
#include "tests/base/raw_client.h"
#include "tests/sandbox/http/test_interference.h"
#include "tests/support/eventually.h"

namespace sandbox {
namespace {

constexpr char kMap[] = R"({"metadata": {"name": "a"}, "data": {"key": "value"}})";

class Interfered {
 public:
  Interfered() {
    const auto identity = MakeIdentity("test");
    REQUIRE(identity.ok());
    ApiServerOptions options;
    options.name = "test";
    options.tls.server = identity->server;
    options.tokens = {{"secret", "tester"}};
    auto started = ApiServer::Start(std::move(options));
    REQUIRE(started.ok());
    server = *std::move(started);
    const auto made = tls::ClientCredentials::Create({.ca_pem = identity->ca_pem});
    REQUIRE(made.ok());
    credentials = *made;
    server->SetInterference(interference);
  }

  // Sends a request that creates the ConfigMap.
  std::unique_ptr<tests::TlsRawClient> Post() {
    auto client = std::make_unique<tests::TlsRawClient>(server->port(), *credentials);
    client->Send(absl::StrCat("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\n",
                              "User-Agent: test/1\r\nAuthorization: Bearer secret\r\n",
                              "Content-Type: application/json\r\nContent-Length: ",
                              absl::string_view(kMap).size(), "\r\n\r\n", kMap));
    return client;
  }
  bool Stored() { return server->backend().Get({"", "v1", "configmaps"}, {"default", "a"}).ok(); }

  std::unique_ptr<ApiServer> server;
  std::shared_ptr<const tls::ClientCredentials> credentials;
  std::shared_ptr<TestInterference> interference = std::make_shared<TestInterference>();
};

TEST_CASE_METHOD(Interfered, "a client whose answer is cut gets the head and some of the body") {
  const size_t bytes = GENERATE(size_t{0}, size_t{20}, size_t{1} << 20);
  interference->on_executed = [&](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Cut(bytes);
  };
  const auto client = Post();
  tests::RawResponse answer = client->ReadHead();
  CHECK(answer.code == 201);
  size_t whole = 0;
  REQUIRE(absl::SimpleAtoi(answer.headers["content-length"], &whole));
  CHECK(client->ReadToEnd().size() == std::min(bytes, whole - 1));
  CHECK(Stored());
}

TEST_CASE_METHOD(Interfered, "a client whose connection is closed gets no byte of an answer") {
  const bool executed = GENERATE(false, true);
  interference->on_request = [&](const RequestPtr&) {
    return executed ? RequestVerdict::Pass() : RequestVerdict::Close();
  };
  interference->on_executed = [](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Close();
  };
  CHECK(Post()->EndsNow());
  CHECK(Stored() == executed);
}

TEST_CASE_METHOD(Interfered, "a request that is held outlives its client") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr&) { return RequestVerdict::Wait(hold); };
  auto client = Post();
  REQUIRE(tests::Eventually([&] { return hold->waits(); }));
  client.reset();
  SECTION("and is executed when it is released") {
    hold->Release();
    CHECK(Stored());
    CHECK(server->version() == interference->outcomes().back().version);
  }
  SECTION("and is not when it is dropped") {
    hold->Drop();
    CHECK_FALSE(Stored());
  }
}

TEST_CASE_METHOD(Interfered, "a partition drops what is held, before and after the execution") {
  const auto hold = std::make_shared<Hold>();
  const bool executed = GENERATE(false, true);
  interference->on_request = [&](const RequestPtr&) {
    return executed ? RequestVerdict::Pass() : RequestVerdict::Wait(hold);
  };
  interference->on_executed = [&](const RequestPtr&, const Outcome&) {
    return AnswerVerdict::Wait(hold);
  };
  const auto client = Post();
  REQUIRE(tests::Eventually([&] { return hold->waits(); }));
  server->faults().SetPartitioned(true);
  CHECK(client->EndsNow());
  CHECK_FALSE(hold->waits());
  hold->Release();
  CHECK(Stored() == executed);
}

TEST_CASE_METHOD(Interfered, "a hold may be kept longer than the server") {
  const auto hold = std::make_shared<Hold>();
  interference->on_request = [&](const RequestPtr&) { return RequestVerdict::Wait(hold); };
  const auto client = Post();
  REQUIRE(tests::Eventually([&] { return hold->waits(); }));
  server.reset();
  hold->Release();
  CHECK(interference->outcomes().empty());
}

}  // namespace
}  // namespace sandbox
