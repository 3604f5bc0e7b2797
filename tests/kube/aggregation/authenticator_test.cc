// Who is believed: on real connections, with certificates of three authorities.
#include "kube/aggregation/authenticator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "tests/kube/aggregation/aggregated_server.h"
#include "tests/support/eventually.h"

namespace {

using tests::AggregatedServer;
using tests::Answer;

constexpr char kRemoteUser[] = "X-Remote-User: alice\r\nX-Remote-Group: admins\r\n";

struct Server : AggregatedServer {
  Server() { reviews->AllowAll(); }
};

TEST_CASE("a front proxy says who the user is") {
  Server server;
  server.Start();
  const Answer answer =
      server.Ask(server.ProxyPair(),
                 "X-Remote-User: alice\r\nX-Remote-Uid: 42\r\nX-Remote-Group: admins\r\n"
                 "X-Remote-Group: a, system:masters\r\nX-Remote-Extra-Acme.com%2Fproject: one\r\n"
                 "X-Remote-Extra-acme.com%2fproject: two\r\nx-remote-extra-100%: odd\r\n");
  REQUIRE(answer.code == 200);
  CHECK(answer.user() == "alice");
  CHECK(answer.body["user"]["uid"].AsString() == "42");
  // A group with a comma in its name is one group.
  CHECK(answer.groups() == R"(["admins","a, system:masters","system:authenticated"])");
  CHECK(json::Write(answer.body["user"]["extra"]) ==
        R"({"100%":["odd"],"acme.com/project":["one","two"]})");
}

TEST_CASE("without the proxy's certificate the fields of a front proxy do not count") {
  Server server;
  server.Start();
  const Answer nobody = server.Ask({}, kRemoteUser);
  CHECK(nobody.code == 200);
  CHECK(nobody.user() == "system:anonymous");
  CHECK(nobody.groups() == R"(["system:unauthenticated"])");

  // A client with a certificate of its own is itself, whatever it says.
  const Answer bob = server.Ask(server.ClientPair("bob"), kRemoteUser);
  CHECK(bob.code == 200);
  CHECK(bob.user() == "bob");
  CHECK(bob.groups() == R"(["team","system:authenticated"])");
  CHECK(bob.body["user"]["extra"]["authentication.kubernetes.io/credential-id"]
            .At(0)
            .AsString()
            .substr(0, 11) == "X509SHA256=");
}

TEST_CASE("a certificate that does not count is refused and not taken for none") {
  Server server;
  server.Start();
  const auto stranger = tests::NewAuthority("stranger");
  const std::string why = "Unauthorized";
  CHECK(server.Ask(server.Issue(*stranger, {.common_name = "front-proxy-client"}), kRemoteUser)
            .code == 401);
  // Of the proxies' authority, but not with the name of one.
  CHECK(server.Ask(server.Issue(*server.proxies, {.common_name = "etcd"}), kRemoteUser).code ==
        401);
  // A proxy that names no user is not a user itself.
  const Answer silent = server.Ask(server.ProxyPair());
  CHECK(silent.code == 401);
  CHECK(silent.body["reason"].AsString() == why);
  CHECK(silent.message() == why);
  // The validity has ended.
  const absl::Time yesterday = base::RealClock().Now() - absl::Hours(24);
  CHECK(server
            .Ask(server.Issue(
                *server.clients,
                {.common_name = "bob", .valid_for = absl::Hours(1), .not_before = yesterday}))
            .code == 401);
}

TEST_CASE("what a certificate does not prove, a token may") {
  Server server;
  server.reviews->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  server.Start();
  const auto stranger = tests::NewAuthority("stranger");
  const Answer answer =
      server.Ask(server.Issue(*stranger, {.common_name = "x"}), "Authorization: Bearer secret\r\n");
  CHECK(answer.code == 200);
  CHECK(answer.user() == "carol");
}

TEST_CASE("an authority that was replaced does not count for the next request") {
  Server server;
  server.Start();
  const auto client = server.Connect(server.ClientPair("bob"));
  CHECK(server.AggregatedServer::Ask(*client).user() == "bob");
  const auto fresh = tests::NewAuthority("fresh");
  server.Believe(fresh.get(), server.proxies.get());
  CHECK(server.AggregatedServer::Ask(*client).code == 401);
  server.Believe(server.clients.get(), nullptr);
  CHECK(server.AggregatedServer::Ask(*client).user() == "bob");
  server.Believe(nullptr, nullptr);
  // With no authority at all, certificates are not looked at.
  CHECK(server.AggregatedServer::Ask(*client).user() == "system:anonymous");
}

TEST_CASE("credentials do not reach the handler") {
  Server server;
  server.reviews->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  server.Start();
  const Answer answer =
      server.Ask(server.ClientPair("bob"),
                 "AUTHORIZATION: Bearer secret\r\nX-Remote-User: alice\r\nx-remote-Extra-a: b\r\n"
                 "X-Remote-Anything: c\r\nImpersonate-User:\r\nX-Kept: d\r\n");
  REQUIRE(answer.code == 200);
  CHECK(json::Write(answer.body["fields"]) ==
        R"({"field Host":"localhost","field X-Kept":"d","host":"localhost","x-kept":"d"})");
}

TEST_CASE("tokens are reviewed, and answers count for ten seconds") {
  Server server;
  server.reviews->AddToken(
      "secret",
      json::Value::Object(
          {{"username", "carol"}, {"uid", "7"}, {"groups", json::Value::Array({"devs"})}}));
  server.Start();
  const auto client = server.Connect();
  for (int i = 0; i < 3; ++i) {
    const Answer answer = AggregatedServer::Ask(*client, "Authorization: bearer secret\r\n");
    CHECK(answer.user() == "carol");
    CHECK(answer.groups() == R"(["devs","system:authenticated"])");
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(AggregatedServer::Ask(*client, "Authorization: Bearer wrong\r\n").code == 401);
  }
  const auto reviews = server.reviews->reviews();
  CHECK(std::count(reviews.begin(), reviews.end(), "token secret") == 1);
  CHECK(std::count(reviews.begin(), reviews.end(), "token wrong") == 1);
}

TEST_CASE("hostile Authorization fields") {
  Server server;
  server.reviews->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  server.Start();
  const auto client = server.Connect();
  const auto code = [&](const std::string& fields) {
    return AggregatedServer::Ask(*client, fields).code;
  };
  CHECK(code("Authorization: Bearer wrong\r\nAuthorization: Bearer secret\r\n") == 401);
  CHECK(code("Authorization: Bearer secret\r\nauthorization: Bearer secret\r\n") == 401);
  CHECK(code("Authorization: Bearer \xff\xfe\r\n") == 401);
  // Not a bearer token: as upstream, such a request is anonymous.
  CHECK(AggregatedServer::Ask(*client, "Authorization: Basic c2VjcmV0\r\n").user() ==
        "system:anonymous");
  CHECK(AggregatedServer::Ask(*client, "Authorization: Bearer\r\n").user() == "system:anonymous");
}

TEST_CASE("browsers send tokens as a WebSocket subprotocol") {
  Server server;
  server.reviews->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  server.Start();
  const auto ask = [&](const std::string& protocols) {
    return server.Ask({},
                      "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Protocol: " +
                          protocols + "\r\n");
  };
  const std::string token =
      "base64url.bearer.authorization.k8s.io." +
      std::string(absl::StripSuffix(absl::WebSafeBase64Escape("secret"), "="));
  const Answer answer = ask(token + ", v4.channel.k8s.io");
  CHECK(answer.code == 200);
  CHECK(answer.user() == "carol");
  CHECK(answer.body["fields"]["sec-websocket-protocol"].AsString() == "v4.channel.k8s.io");
  CHECK(ask(token).code == 401);
  CHECK(ask(token + ", " + token + ", v4.channel.k8s.io").code == 401);
  CHECK(ask("base64url.bearer.authorization.k8s.io.%%%, v4.channel.k8s.io").code == 401);
}

TEST_CASE("a token that cannot be reviewed is neither good nor bad") {
  Server server;
  server.reviews->AddToken("secret", json::Value::Object({{"username", "carol"}}));
  server.reviews->FailNext({403});
  server.Start();
  const auto client = server.Connect();
  const Answer answer = AggregatedServer::Ask(*client, "Authorization: Bearer secret\r\n");
  CHECK(answer.code == 503);
  CHECK(answer.headers.at("retry-after") == "1");
  CHECK(answer.text.find("secret") == std::string::npos);
  // The failure is not kept.
  CHECK(AggregatedServer::Ask(*client, "Authorization: Bearer secret\r\n").user() == "carol");
}

}  // namespace
