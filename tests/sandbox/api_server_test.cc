// A whole API server behind a real socket.
#include "sandbox/api_server.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "sandbox/cluster_identity.h"
#include "tests/base/raw_client.h"

namespace sandbox {
namespace {

class ServerFixture {
 public:
  ServerFixture() {
    const auto identity = MakeIdentity("test");
    REQUIRE(identity.ok());
    ApiServerOptions options;
    options.name = "test";
    options.tls.server = identity->server;
    options.tokens = {{"secret", "tester"}};
    auto started = ApiServer::Start(std::move(options));
    REQUIRE(started.ok());
    server_ = *std::move(started);
    const auto credentials = tls::ClientCredentials::Create({.ca_pem = identity->ca_pem});
    REQUIRE(credentials.ok());
    credentials_ = *credentials;
  }

 protected:
  // Sends the head of a request with a body of that many bytes, and no body.
  tests::RawResponse PostHead(absl::string_view token, size_t body_bytes,
                              absl::string_view path = "/api/v1/namespaces/default/configmaps") {
    tests::TlsRawClient client(server_->port(), *credentials_);
    client.Send(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: a\r\n",
                             "User-Agent: test/1\r\nAuthorization: Bearer ", token,
                             "\r\nContent-Length: ", body_bytes, "\r\n\r\n"));
    return client.ReadResponse();
  }

  std::unique_ptr<ApiServer> server_;
  std::shared_ptr<const tls::ClientCredentials> credentials_;
};

TEST_CASE_METHOD(ServerFixture, "an unknown client is refused before its body comes") {
  const tests::RawResponse refused = PostHead("wrong", 3 << 20);
  CHECK(refused.code == 401);
  CHECK((*json::Parse(refused.body))["reason"].ToString() == "Unauthorized");
  REQUIRE(server_->Requests().size() == 1);
  const RequestCount count = server_->Requests()[0];
  CHECK(count.client == "test/1");
  CHECK(count.verb == "create");
  CHECK(count.resource == "configmaps");
  CHECK(count.code == 401);
}

TEST_CASE_METHOD(ServerFixture, "paths that anybody may ask for take no body") {
  const tests::RawResponse refused = PostHead("", 1 << 20, "/readyz/any");
  CHECK(refused.code == 405);
  CHECK((*json::Parse(refused.body))["reason"].ToString() == "MethodNotAllowed");
}

TEST_CASE_METHOD(ServerFixture, "a body over the limit is refused before it comes") {
  const tests::RawResponse refused = PostHead("secret", (3 << 20) + 1);
  CHECK(refused.code == 413);
  CHECK((*json::Parse(refused.body))["message"].ToString() ==
        "Request entity too large: limit is 3145728");
}

}  // namespace
}  // namespace sandbox
