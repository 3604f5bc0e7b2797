// Credentials that are not accepted any more, and that are renewed while the page is open.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "base/tls.h"
#include "lens/serve/plane_access.h"
#include "tests/lens/serve/shown_server.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

using Catch::Contains;

// A control plane that accepts one token at a time, and a server with a kubeconfig for it.
struct OneToken : tests::ShownServer {
  absl::Mutex mu;
  std::string accepted ABSL_GUARDED_BY(mu) = "first";
  tests::PlaneGate gate{plane, [this](const auto& request, const auto& responder) {
                          absl::MutexLock lock(&mu);
                          if (request.Header("authorization") == "Bearer " + accepted) return false;
                          responder->Send({401, "application/json", {}, R"({"kind": "Status"})"});
                          return true;
                        }};

  OneToken() : ShownServer(1) {}

  void Accept(const std::string& token) {
    absl::MutexLock lock(&mu);
    accepted = token;
  }
  // Writes a kubeconfig whose user has these fields.
  void WriteKubeconfig(const std::string& user, const std::string& server_url = "") {
    directory.Write("kubeconfig",
                    absl::StrCat("{apiVersion: v1, kind: Config, current-context: c, ",
                                 "clusters: [{name: c, cluster: {server: \"",
                                 server_url.empty() ? gate.Address().server : server_url,
                                 "\"}}], contexts: [{name: c, context: {cluster: c, user: u}}], ",
                                 "users: [{name: u, user: {", user, "}}]}"));
  }
  void StartWithKubeconfig() {
    ServeOptions options = OptionsFor(Mode::kLocal);
    options.load_plane = [path = directory.path() + "/kubeconfig"] {
      return kube::LoadConnectionConfig({path, "c"});
    };
    options.load_every = absl::Milliseconds(100);
    options.plane = *options.load_plane();
    StartWith(std::move(options));
  }
  bool Says(const std::string& text) {
    const kube::HttpResponse answer = Get("/api/clusters");
    return answer.code == 503 && absl::StrContains(answer.body, text);
  }
  bool IsFine() { return Get("/api/clusters").code == 200; }
};

}  // namespace

TEST_CASE_METHOD(OneToken, "Serve: a token that is renewed in the kubeconfig takes effect") {
  WriteKubeconfig("token: first");
  StartWithKubeconfig();
  CHECK(IsFine());
  Accept("second");
  CHECK(tests::Eventually(
      [&] { return Says("does not accept the kubeconfig's credentials (any more)"); }));
  CHECK(Says("Renew the credentials"));
  CHECK(tests::Eventually([&] { return Get("/api/fleet").code == 503; }));
  WriteKubeconfig("token: second");
  CHECK(tests::Eventually([&] { return IsFine(); }));
  CHECK(tests::Eventually([&] { return Get("/api/fleet").code == 200; }));
}

TEST_CASE_METHOD(OneToken, "Serve: a token file is read again when it is renewed") {
  directory.Write("token", "first");
  WriteKubeconfig(absl::StrCat("tokenFile: ", directory.path(), "/token"));
  StartWithKubeconfig();
  CHECK(IsFine());
  Accept("second");
  CHECK(tests::Eventually([&] { return !IsFine(); }));
  directory.Write("token", "second");
  CHECK(tests::Eventually([&] { return IsFine(); }));
}

TEST_CASE_METHOD(OneToken, "Serve: credentials that cannot be had are said with the reason") {
  WriteKubeconfig(absl::StrCat("tokenFile: ", directory.path(), "/absent"));
  StartWithKubeconfig();
  CHECK(tests::Eventually([&] { return Says("there are no credentials for the control plane"); }));
  CHECK(Says("absent"));
  directory.Write("absent", "first");
  CHECK(tests::Eventually([&] { return IsFine(); }));
}

TEST_CASE_METHOD(OneToken,
                 "Serve: a kubeconfig that is broken or leads elsewhere is not followed") {
  WriteKubeconfig("token: first");
  StartWithKubeconfig();
  WriteKubeconfig("token: second", "http://127.0.0.1:1");
  Accept("second");
  CHECK(tests::Eventually([&] { return Says("names another server now: http://127.0.0.1:1"); }));
  directory.Write("kubeconfig", "{");
  CHECK(tests::Eventually([&] { return Says("the kubeconfig cannot be used: kubeconfig "); }));
  WriteKubeconfig("token: second");
  CHECK(tests::Eventually([&] { return IsFine(); }));
}

TEST_CASE("Serve: a client certificate that has expired is named, and when it did") {
  const auto authority = *tls::CertificateAuthority::Create("test");
  const absl::Time begin = absl::FromUnixSeconds(1'700'000'000);
  kube::ConnectionConfig config;
  config.server = "https://127.0.0.1:1";
  config.client_certificate =
      *authority->Issue({.common_name = "lens", .valid_for = absl::Hours(1), .not_before = begin});
  const auto access = *PlaneAccess::Create(Mode::kLocal, config, nullptr);
  const absl::Status unavailable = absl::UnavailableError("no answer");
  const std::string said(access->About(unavailable, begin + absl::Hours(2)).message());
  CHECK_THAT(said,
             Contains("no answer; the client certificate has expired at 2023-11-14T23:13:20Z"));
  CHECK(access->About(unavailable, begin) == unavailable);
  const absl::Status forbidden = absl::PermissionDeniedError("no");
  CHECK(access->About(forbidden, begin + absl::Hours(2)) == forbidden);
}

TEST_CASE("Serve: another certificate in the kubeconfig makes another viewer of the same server") {
  const auto authority = *tls::CertificateAuthority::Create("test");
  kube::ConnectionConfig config;
  config.server = "https://127.0.0.1:1";
  const auto access = *PlaneAccess::Create(
      Mode::kLocal, config, [&] { return absl::StatusOr<kube::ConnectionConfig>(config); });
  const ViewerPtr first = access->local();
  CHECK_FALSE(access->Reload());
  CHECK(access->local() == first);
  config.client_certificate = *authority->Issue({.common_name = "lens"});
  CHECK(access->Reload());
  CHECK(access->local()->version() != first->version());
  config.client_certificate.key_pem = "nothing";
  CHECK_FALSE(access->Reload());
  CHECK(access->connection().client_certificate.key_pem != "nothing");
}

TEST_CASE("Serve: what cannot be used in the kubeconfig changes nothing for viewers of their own") {
  kube::ConnectionConfig config;
  config.server = "https://127.0.0.1:1";
  const Mode mode = GENERATE(Mode::kTokens, Mode::kUsers);
  const auto access = *PlaneAccess::Create(
      mode, config, [&] { return absl::StatusOr<kube::ConnectionConfig>(config); });
  CHECK(access->local() == nullptr);
  config.ca_pem = "nothing";
  CHECK_FALSE(access->Reload());
  CHECK(access->connection().ca_pem.empty());
  config.ca_pem = tls::CertificateAuthority::Create("test").value()->cert_pem();
  CHECK(access->Reload());
}

}  // namespace lens::serve
