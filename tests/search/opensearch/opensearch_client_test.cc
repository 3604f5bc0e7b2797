#include "search/opensearch/opensearch_client.h"

#include <atomic>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "kube/http/http_transport.h"
#include "tests/support/fake_clock.h"

namespace tests {
namespace {

using search::CredentialsOf;
using search::OpenSearchClient;
using search::OpenSearchCredentials;

kube::Object Secret(const std::vector<std::pair<std::string, std::string>>& data) {
  kube::Object secret = kube::Object::Make({"", "v1", "Secret"}, {"karmada-system", "os"});
  for (const auto& [key, value] : data) secret.Set({"data", key}, absl::Base64Escape(value));
  return secret;
}

TEST_CASE("Both spellings of the user's key are read, and ends of lines dropped") {
  for (const char* key : {"username", "userName"}) {
    const auto c = CredentialsOf(Secret({{key, "admin\n"}, {"password", "p w\n"}}));
    REQUIRE(c.ok());
    CHECK(c->username == "admin");
    CHECK(c->password == "p w");
    CHECK_FALSE(c->insecure_skip_tls_verify);
  }
  const auto token = CredentialsOf(Secret({{"token", "t"}, {"insecureSkipTLSVerify", "true"}}));
  REQUIRE(token.ok());
  CHECK(token->token == "t");
  CHECK(token->insecure_skip_tls_verify);
  CHECK(CredentialsOf(Secret({})).ok());
}

TEST_CASE("Unusable Secrets are refused by their name and key, without a value") {
  const auto message = [](const kube::Object& secret) {
    const auto status = CredentialsOf(secret).status();
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_FALSE(absl::StrContains(status.message(), "hunter2"));
    return std::string(status.message());
  };
  CHECK(message(Secret({{"password", "hunter2"}})) ==
        "Secret karmada-system/os: data.password is there, data.username is missing");
  CHECK(message(Secret({{"tls.key", "hunter2"}})) ==
        "Secret karmada-system/os: data.tls.key is there, data.tls.crt is missing");
  kube::Object odd = Secret({});
  odd.Set({"data", "token"}, "hunter2!");
  CHECK(message(odd) == "Secret karmada-system/os: data.token is not base64");
  CHECK(absl::StartsWith(message(Secret({{"ca.crt", "hunter2"}})), "Secret karmada-system/os: "));
}

TEST_CASE("A key of a Secret that is there and empty is refused, because without it others count") {
  for (const char* key : {"username", "userName", "password", "token", "ca.crt", "caBundle",
                          "tls.crt", "tls.key", "insecureSkipTLSVerify"}) {
    for (const char* empty : {"", "\n"}) {
      kube::Object secret = Secret({{"username", "admin"}, {"password", "hunter2"}});
      secret.Set({"data", key}, absl::Base64Escape(empty));
      const auto status = CredentialsOf(secret).status();
      CHECK(status.code() == absl::StatusCode::kInvalidArgument);
      CHECK(status.message() == absl::StrCat("Secret karmada-system/os: data.", key, " is empty"));
    }
  }
}

TEST_CASE("Addresses have to be web addresses, and passwords in them are not repeated") {
  const FakeClock clock;
  const auto message = [&](const std::vector<std::string>& addresses) {
    return std::string(OpenSearchClient::Create(addresses, {}, clock).status().message());
  };
  CHECK(message({}) == "there is no address of OpenSearch");
  CHECK(absl::StrContains(message({"ftp://x"}), "http or https"));
  CHECK(absl::StrContains(message({"http://"}), "OpenSearch "));
  CHECK_FALSE(absl::StrContains(message({"ftp://admin:hunter2@x"}), "hunter2"));
}

struct Node {
  explicit Node(std::optional<tls::ServerOptions> tls = std::nullopt) {
    kube::InitializeHttp();
    server = base::HttpServer::Start({.tls = std::move(tls)},
                                     [this](const base::HttpRequest& request,
                                            const std::shared_ptr<base::HttpResponder>& responder) {
                                       ++asked;
                                       authorization = std::string(request.Header("authorization"));
                                       common_name = request.peer.common_name;
                                       responder->Send({.code = code, .body = R"({"a":1})"});
                                     })
                 .value();
  }
  std::string url(absl::string_view scheme = "http", absl::string_view user = "") const {
    return absl::StrCat(scheme, "://", user, "127.0.0.1:", server->port());
  }
  std::atomic<int> asked = 0, code = 200;
  std::string authorization, common_name;  // Of the last request; read after its answer.
  std::unique_ptr<base::HttpServer> server;
};

TEST_CASE("Requests go round the addresses, and leave out those that do not answer") {
  FakeClock clock;
  Node first, second, third;
  const auto client =
      OpenSearchClient::Create({first.url(), second.url(), third.url()}, {}, clock).value();
  for (int i = 0; i < 6; ++i) REQUIRE(client->Send({.path = "/"}, {}).ok());
  CHECK(first.asked == 2);
  CHECK(second.asked == 2);
  second.server->Stop();
  third.code = 503;
  for (int i = 0; i < 6; ++i) CHECK(client->Send({.path = "/"}, {})->code == 200);
  CHECK(third.asked == 3);
  CHECK(first.asked == 8);
  third.code = 200;
  clock.Advance(absl::Minutes(2));
  for (int i = 0; i < 6; ++i) CHECK(client->Send({.path = "/"}, {})->code == 200);
  CHECK(third.asked > 3);
  // All are asked when all are left out.
  first.code = 503;
  third.code = 503;
  const auto none = client->Send({.path = "/"}, {});
  CHECK((!none.ok() || none->code == 503));
  first.code = 200;
  CHECK(client->Send({.path = "/"}, {})->code == 200);
}

TEST_CASE("An address that did not answer is asked again only when it is admitted again") {
  FakeClock clock;
  Node first, second;
  const auto client = OpenSearchClient::Create({first.url(), second.url()}, {}, clock).value();
  client->RequireAdmission();
  CHECK(absl::IsUnavailable(client->Send({.path = "/"}, {}).status()));
  CHECK(first.asked + second.asked == 0);
  CHECK(client->WorthALook() == std::vector<size_t>{0, 1});
  client->SetAdmitted(0, true);
  client->SetAdmitted(1, true);
  for (int i = 0; i < 4; ++i) REQUIRE(client->Send({.path = "/"}, {}).ok());
  CHECK(second.asked == 2);
  second.code = 503;
  for (int i = 0; i < 2; ++i) CHECK(client->Send({.path = "/"}, {})->code == 200);
  CHECK(second.asked == 3);
  second.code = 200;
  CHECK(client->WorthALook() == std::vector<size_t>{0});
  clock.Advance(absl::Minutes(2));
  for (int i = 0; i < 4; ++i) CHECK(client->Send({.path = "/"}, {})->code == 200);
  CHECK(second.asked == 3);
  CHECK(client->WorthALook() == std::vector<size_t>{0, 1});
  client->SetAdmitted(1, true);
  for (int i = 0; i < 4; ++i) CHECK(client->Send({.path = "/"}, {})->code == 200);
  CHECK(second.asked > 3);
  // Other credentials may open the door to another server.
  OpenSearchCredentials c;
  c.token = "t";
  REQUIRE(client->SetCredentials(c).ok());
  CHECK_FALSE(client->Send({.path = "/"}, {}).ok());
}

TEST_CASE("A request that no address may be asked for says what the last one answered") {
  FakeClock clock;
  Node node;
  const auto client = OpenSearchClient::Create({node.url()}, {}, clock).value();
  client->RequireAdmission();
  client->SetAdmitted(0, true);
  node.code = 503;
  REQUIRE(client->Send({.path = "/"}, {}).ok());
  const absl::Status refused = client->Send({.path = "/"}, {}).status();
  CHECK(absl::IsUnavailable(refused));
  CHECK(absl::EndsWith(refused.message(), absl::StrCat(node.url(), ": it answered 503")));
}

TEST_CASE("A request asks nobody after its deadline, which blames no address") {
  FakeClock clock;
  Node first, second;
  const auto client = OpenSearchClient::Create({first.url(), second.url()}, {}, clock).value();
  client->RequireAdmission();
  client->SetAdmitted(0, true);
  client->SetAdmitted(1, true);
  const base::SteadyTime deadline = clock.SteadyNow() + absl::Seconds(30);
  REQUIRE(client->Send({.path = "/", .deadline = deadline}, {}).ok());
  clock.Advance(absl::Seconds(30));
  const int asked = first.asked + second.asked;
  CHECK(absl::IsDeadlineExceeded(client->Send({.path = "/", .deadline = deadline}, {}).status()));
  CHECK(first.asked + second.asked == asked);
  CHECK(client->Send({.path = "/"}, {}).ok());
}

TEST_CASE("A user in an address, a token or a password authenticates, and can be replaced") {
  const FakeClock clock;
  Node node;
  OpenSearchCredentials c;
  c.username = "u";
  c.password = "p";
  const auto client = OpenSearchClient::Create({node.url()}, c, clock).value();
  REQUIRE(client->Send({.path = "/"}, {}).ok());
  CHECK(node.authorization == "Basic dTpw");
  c.token = "t";
  REQUIRE(client->SetCredentials(c).ok());
  REQUIRE(client->Send({.path = "/"}, {}).ok());
  CHECK(node.authorization == "Bearer t");
  c.ca_pem = "garbage";
  CHECK_FALSE(client->SetCredentials(c).ok());
  REQUIRE(client->Send({.path = "/"}, {}).ok());
  const auto other = OpenSearchClient::Create({node.url("http", "a:b%40@")}, c, clock);
  CHECK_FALSE(other.ok());
  c.ca_pem = "";
  REQUIRE(OpenSearchClient::Create({node.url("http", "a:b%40@")}, c, clock)
              .value()
              ->Send({.path = "/"}, {})
              .ok());
  CHECK(node.authorization == absl::StrCat("Basic ", absl::Base64Escape("a:b@")));
}

TEST_CASE("A server is verified unless asked otherwise, and sees the client's certificate") {
  const FakeClock clock;
  const auto ca = tls::CertificateAuthority::Create("ca").value();
  tls::ServerOptions options;
  options.server = ca->Issue({.common_name = "os", .ip_addresses = {"127.0.0.1"}}).value();
  options.client_ca_pem = ca->cert_pem();
  Node node(options);
  const auto send = [&](const OpenSearchCredentials& c) {
    const auto client = OpenSearchClient::Create({node.url("https")}, c, clock).value();
    return client->Send({.path = "/"}, {}).status();
  };
  OpenSearchCredentials c;
  CHECK_FALSE(send(c).ok());
  CHECK(node.asked == 0);
  c.ca_pem = ca->cert_pem();
  c.client_certificate = ca->Issue({.common_name = "mirror"}).value();
  CHECK(send(c).ok());
  CHECK(node.common_name == "mirror");
  c = {};
  c.insecure_skip_tls_verify = true;
  CHECK(send(c).ok());
}

TEST_CASE("Errors have OpenSearch's reason") {
  const auto status = [](int code, const char* body) {
    return search::StatusOf({.code = code, .body = json::Parse(body).value()});
  };
  CHECK(status(200, "{}").ok());
  CHECK(status(403, R"({"error":{"reason":"no rights"}})").message() ==
        "OpenSearch answered 403: no rights");
  CHECK(status(401, R"("Unauthorized")").code() == absl::StatusCode::kUnauthenticated);
  CHECK(status(400, R"({"error":"text"})").code() == absl::StatusCode::kInvalidArgument);
  // Only OpenSearch's own words are shown; the address may lead anywhere.
  CHECK(status(500, R"({"token":"secret"})").message() == "OpenSearch answered 500");
  CHECK(status(404, R"("<h1>secret</h1>")").message() == "OpenSearch answered 404");
  CHECK(status(500, "null").code() == absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tests
