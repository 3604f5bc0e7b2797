// The page behind the API server of a control plane: whom it believes, and for whom it reads.
#include "lens/serve/aggregated_api.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "api/lens_keys.h"
#include "kube/server/request_info.h"
#include "lens/serve/server.h"
#include "lens/serve/viewer.h"
#include "tests/base/raw_client.h"
#include "tests/lens/serve/served_plane.h"

namespace lens::serve {
namespace {

using Catch::Contains;

// What an API server does about rights, before a simulated one that lets everybody do everything:
// alice may read all, bob nothing, carl all but the version, and nobody may act for mallory. All of
// them may see the page.
class Gate {
 public:
  explicit Gate(const kube::ConnectionConfig& plane)
      : gate_(plane, [this](const auto& request, const auto& to) { return Handle(request, *to); }) {
  }

  kube::ConnectionConfig Address() const { return gate_.Address(); }

  // "alice", or "alice team,ops": those for whom something was asked.
  std::set<std::string> actors() const {
    absl::MutexLock lock(&mu_);
    return actors_;
  }
  // What was asked in the name of the program itself.
  std::set<std::string> own() const {
    absl::MutexLock lock(&mu_);
    return own_;
  }
  // "alice get pages/proxy": what rights were asked for.
  std::set<std::string> reviewed() const {
    absl::MutexLock lock(&mu_);
    return reviewed_;
  }

 private:
  // Returns whether it has answered.
  bool Handle(const base::HttpRequest& request, base::HttpResponder& responder) {
    if (absl::EndsWith(request.path, "/subjectaccessreviews")) return Review(request, responder);
    const std::string user(request.Header("impersonate-user"));
    std::vector<std::string> groups;
    for (const auto& [name, value] : request.fields) {
      if (absl::EqualsIgnoreCase(name, "impersonate-group")) groups.push_back(value);
    }
    {
      absl::MutexLock lock(&mu_);
      if (user.empty()) {
        own_.insert(request.path);
      } else {
        actors_.insert(groups.empty() ? user : absl::StrCat(user, " ", absl::StrJoin(groups, ",")));
      }
    }
    if (user == "mallory") {
      const char* message =
          "users \"mallory\" is forbidden: User \"lens\" cannot impersonate resource \"users\"";
      return Refuse(responder, tests::Refusal(message, "users"));
    }
    // Somebody for whom it may act, and who may not ask for the version.
    if (user == "carl" && request.path == "/version") {
      const char* message = "forbidden: User \"carl\" cannot get path: may not impersonate others";
      return Refuse(responder, tests::Refusal(message));
    }
    if (user == "bob" && kube::server::ReadRequest(request).is_resource) {
      return Refuse(responder, tests::Refusal("User \"bob\" cannot list this", "pods"));
    }
    return false;
  }

  static bool Refuse(base::HttpResponder& responder, const std::string& refusal) {
    responder.Send({.code = 403, .body = refusal});
    return true;
  }

  bool Review(const base::HttpRequest& request, base::HttpResponder& responder) {
    json::Value review = json::Parse(request.body).value();
    const json::Value& what = review["spec"]["resourceAttributes"];
    const std::string user = review["spec"]["user"].ToString();
    const std::string right =
        absl::StrCat(what["verb"].ToString(), " ", what["resource"].ToString(), "/",
                     what["subresource"].ToString());
    {
      absl::MutexLock lock(&mu_);
      reviewed_.insert(absl::StrCat(user, " ", right));
    }
    const bool is_somebody =
        std::set<std::string>{"alice", "bob", "carl", "mallory"}.count(user) > 0;
    const bool allowed = is_somebody && right == "get pages/proxy" &&
                         what["name"].AsString() == "fleet" &&
                         what["group"].AsString() == "lens.karmada.io";
    review.Set("status", json::Value::Object({{"allowed", allowed}}));
    responder.Send({.code = 201, .body = json::Write(review)});
    return true;
  }

  mutable absl::Mutex mu_;
  std::set<std::string> actors_ ABSL_GUARDED_BY(mu_), own_ ABSL_GUARDED_BY(mu_),
      reviewed_ ABSL_GUARDED_BY(mu_);
  const tests::PlaneGate gate_;
};

// A control plane with a template, and a server that stands behind its API server.
struct Behind : tests::ServedPlane {
  std::unique_ptr<tls::CertificateAuthority> clients = *tls::CertificateAuthority::Create("all"),
                                             proxies = *tls::CertificateAuthority::Create("front");
  std::unique_ptr<Gate> gate;
  std::unique_ptr<Server> server;

  Behind() : ServedPlane(1), gate(std::make_unique<Gate>(plane)) {
    kube::Object config = kube::Object::Make({"", "v1", "ConfigMap"},
                                             {"kube-system", "extension-apiserver-authentication"});
    config.Set({"data"}, json::Value::Object(
                             {{"client-ca-file", clients->cert_pem()},
                              {"requestheader-client-ca-file", proxies->cert_pem()},
                              {"requestheader-allowed-names", R"(["front-proxy"])"},
                              {"requestheader-username-headers", R"(["X-Remote-User"])"},
                              {"requestheader-group-headers", R"(["X-Remote-Group"])"},
                              {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}));
    Create(config);
    ServeOptions options;
    options.mode = Mode::kUsers;
    options.plane = gate->Address();
    options.certificate = *clients->Issue({.common_name = "lens", .dns_names = {"localhost"}});
    auto started = Server::Start(std::move(options));
    INFO(started.status());
    REQUIRE(started.ok());
    server = *std::move(started);
  }

  // Returns the answer to a request over a connection with this certificate, or none.
  tests::RawResponse Ask(const tls::KeyPair& certificate, const std::string& path,
                         const std::string& headers, const std::string& method = "GET") {
    const auto credentials =
        tls::ClientCredentials::Create({.skip_verify = true, .client = certificate});
    REQUIRE(credentials.ok());
    tests::TlsRawClient client(server->port(), **credentials);
    REQUIRE(client.secure());
    client.Send(absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: plane\r\n", headers, "\r\n"));
    return client.ReadResponse();
  }
  // As the API server passes on what a user asks of the page.
  tests::RawResponse AskAs(const std::string& user, const std::string& path,
                           const std::string& method = "GET") {
    return Ask(
        *proxies->Issue({.common_name = "front-proxy"}), absl::StrCat(api::kLensPagePath, path),
        absl::StrCat("X-Remote-User: ", user, "\r\nX-Remote-Group: system:authenticated\r\n"),
        method);
  }
  // As the API server asks for itself.
  tests::RawResponse AskAsServer(const std::string& path) {
    return Ask(*proxies->Issue({.common_name = "front-proxy"}), path,
               "X-Remote-User: system:kube-aggregator\r\nX-Remote-Group: system:masters\r\n");
  }
};

}  // namespace

TEST_CASE_METHOD(Behind, "Serve behind the API server: each user sees what the user may read") {
  const tests::RawResponse fleet_of_alice = AskAs("alice", "/api/fleet");
  INFO(fleet_of_alice.body);
  CHECK(fleet_of_alice.code == 200);
  CHECK_THAT(fleet_of_alice.body, Contains("\"web\""));
  CHECK(AskAs("alice", "/api/clusters").code == 200);
  CHECK_THAT(AskAs("alice", "/api/about").body, Contains("\"mode\":\"users\""));
  // What alice has read is there, and yet bob gets what the control plane says to bob.
  const tests::RawResponse fleet_of_bob = AskAs("bob", "/api/fleet");
  CHECK(fleet_of_bob.code != 200);
  CHECK_THAT(fleet_of_bob.body, !Contains("\"web\"") && Contains("cannot list this"));
  CHECK(gate->actors() == std::set<std::string>{"alice", "bob"});
  for (const std::string& path : gate->own()) {
    CHECK_THAT(path, Catch::StartsWith("/api/v1/namespaces/kube-system/configmaps"));
  }
}

TEST_CASE_METHOD(Behind, "Serve behind the API server: groups and extras tell users apart") {
  const tls::KeyPair proxy = *proxies->Issue({.common_name = "front-proxy"});
  const std::string path = absl::StrCat(api::kLensPagePath, "/api/fleet");
  CHECK(Ask(proxy, path, "X-Remote-User: alice\r\nX-Remote-Group: ops\r\nX-Remote-Group: dev\r\n")
            .code == 200);
  CHECK(gate->actors() == std::set<std::string>{"alice ops,dev"});
  kube::aggregation::UserInfo alice{.name = "alice", .groups = {"ops", "system:authenticated"}};
  const kube::ConnectionConfig acts = ForUser(gate->Address(), alice);
  CHECK(acts.impersonate_user == "alice");
  CHECK(acts.impersonate_groups == std::vector<std::string>{"ops"});
  const std::string owner = OwnerOf(alice);
  alice.extra["scopes"] = {"view"};
  CHECK(OwnerOf(alice) != owner);
  CHECK(ForUser(gate->Address(), alice).impersonate_extra.size() == 1);
}

TEST_CASE_METHOD(Behind,
                 "Serve behind the API server: nobody else can say who looks, whatever they send") {
  const std::string path = absl::StrCat(api::kLensPagePath, "/api/fleet");
  const std::string alice = "X-Remote-User: alice\r\nX-Remote-Group: system:masters\r\n";
  // No certificate: nobody in particular, who may not see the page.
  CHECK(Ask({}, path, alice).code == 403);
  CHECK(Ask({}, path, "").code == 403);
  // One of the authority of clients names its own user alone.
  CHECK(Ask(*clients->Issue({.common_name = "carol"}), path, alice).code == 403);
  // The right authority and a name that is not allowed; a front proxy's name from another
  // authority.
  CHECK(Ask(*proxies->Issue({.common_name = "carol"}), path, alice).code == 401);
  CHECK(Ask(*clients->Issue({.common_name = "front-proxy"}), path, alice).code == 403);
  const auto strange = *tls::CertificateAuthority::Create("front");
  CHECK(Ask(*strange->Issue({.common_name = "front-proxy"}), path, alice).code == 401);
  // What a user adds is not what the API server says.
  CHECK(Ask(*clients->Issue({.common_name = "carol"}), path, "Impersonate-User: alice\r\n").code ==
        403);
  CHECK(Ask({}, absl::StrCat(api::kLensPagePath, "/"), alice).code == 403);
  CHECK(gate->actors().empty());
  CHECK(gate->reviewed().count("carol get pages/proxy") == 1);
  CHECK(gate->reviewed().count("alice get pages/proxy") == 0);
}

TEST_CASE_METHOD(Behind, "Serve behind the API server: a user for whom it may not act is told so") {
  const tests::RawResponse answer = AskAs("mallory", "/api/fleet");
  CHECK(answer.code == 403);
  CHECK_THAT(answer.body, Contains("may not act for you") && Contains("cannot impersonate"));
  // It is not the words of a refusal that say whom it is about.
  CHECK(AskAs("carl", "/api/clusters").code == 200);
}

TEST_CASE_METHOD(Behind, "Serve behind the API server: it is an API that can be discovered") {
  CHECK(Ask({}, "/readyz", "").code == 200);
  const tests::RawResponse list = AskAsServer("/apis/lens.karmada.io/v1alpha1");
  CHECK(list.code == 200);
  CHECK_THAT(list.body, Contains("\"APIResourceList\"") && Contains("\"pages\"") &&
                            Contains("\"pages/proxy\""));
  for (const char* path : {"/", "/apis", "/apis/lens.karmada.io", "/openapi/v2", "/openapi/v3",
                           "/openapi/v3/apis/lens.karmada.io/v1alpha1", "/version"}) {
    INFO(path);
    CHECK(AskAsServer(path).code == 200);
  }
  for (const char* path : {"/api/fleet", "/main.js", "/apis/lens.karmada.io/v1alpha1/pages",
                           "/apis/lens.karmada.io/v1alpha1/pages/other/proxy/api/fleet",
                           "/apis/lens.karmada.io/v1alpha1/pages/fleet/proxyx",
                           "/apis/lens.karmada.io/v1alpha1/namespaces/a/pages/fleet/proxy/"}) {
    INFO(path);
    CHECK(AskAsServer(path).code == 404);
  }
}

TEST_CASE_METHOD(Behind, "Serve behind the API server: the page with its files and live updates") {
  const tests::RawResponse page = AskAs("alice", "/");
  CHECK(page.code == 200);
  CHECK_THAT(page.body, Contains("src=\"main.js\""));
  CHECK_THAT(page.headers.at("content-security-policy"), Contains("default-src 'none'"));
  CHECK(AskAs("alice", "/main.js").code == 200);
  CHECK(AskAs("alice", "/nothing").code == 404);
  CHECK(AskAs("alice", "/", "POST").code == 403);
  // Without the last slash its links would lead elsewhere, and API servers pass no redirection on.
  const tests::RawResponse without = AskAs("alice", "");
  CHECK(without.code == 200);
  CHECK_THAT(without.body, Contains("url=proxy/"));

  const auto credentials = *tls::ClientCredentials::Create(
      {.skip_verify = true, .client = *proxies->Issue({.common_name = "front-proxy"})});
  tests::TlsRawClient client(server->port(), *credentials);
  client.Send(absl::StrCat("GET ", api::kLensPagePath,
                           "/api/updates HTTP/1.1\r\nHost: plane\r\nX-Remote-User: alice\r\n\r\n"));
  CHECK(client.ReadHead().headers.at("content-type") == "text/event-stream");
  CHECK_THAT(client.ReadUntil("event: fleet"), Contains("event: fleet"));
}

}  // namespace lens::serve
