#include "controllers/agent/certificate_rotation.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/certificate_request.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/signed_requests.h"

namespace controllers {
namespace {

constexpr absl::Duration kLife = absl::Hours(100);
const kube::ObjectKey kSecret{"karmada-system", "karmada-kubeconfig"};

// A member with the Secret of an agent's kubeconfig, and a control plane whose approver and signer
// are the test.
struct Fixture {
  std::shared_ptr<tests::FakeApiServer> plane = std::make_shared<tests::FakeApiServer>();
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  kube::Client control_plane{plane, {.name = "plane"}, clock, nullptr};
  kube::Client member{server, {.name = "m1"}, clock, nullptr};
  std::unique_ptr<tls::CertificateAuthority> authority = *tls::CertificateAuthority::Create("test");
  const tls::KeyPair old = Issue();
  std::optional<tls::KeyPair> used;
  absl::Status trial;

  Fixture() {
    kube::Object secret = kube::Object::Make(api::Secrets().gvk, kSecret);
    secret.Set({"data", "karmada-kubeconfig"}, absl::Base64Escape(Kubeconfig(old)));
    server->Put(api::Secrets(), secret);
  }
  tls::KeyPair Issue() {
    return *authority->Issue({.common_name = "system:karmada:agent:m1",
                              .organizations = {"system:karmada:agents"},
                              .valid_for = kLife,
                              .not_before = clock.Now()});
  }
  static std::string Kubeconfig(const tls::KeyPair& pair) {
    return absl::StrCat(R"(
apiVersion: v1
kind: Config
clusters: [{name: karmada-apiserver, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: karmada-apiserver, user: m1}}]
current-context: c
users:
- name: m1
  user:
    client-certificate-data: )",
                        absl::Base64Escape(pair.cert_pem),
                        "\n    client-key-data: ", absl::Base64Escape(pair.key_pem), "\n");
  }
  kube::ConnectionConfig InSecret() {
    std::string text;
    REQUIRE(absl::Base64Unescape(
        server->Find(api::Secrets(), kSecret).Get({"data", "karmada-kubeconfig"}).AsString(),
        &text));
    const auto config = kube::ParseKubeconfig(text, "", "");
    INFO(text);
    REQUIRE(config.ok());
    return *config;
  }
  CertificateRotation Rotation() {
    return CertificateRotation(
        {}, {control_plane, member, clock, [this](const tls::KeyPair&) { return trial; },
             [this](const std::string& before, const tls::KeyPair& renewed) {
               CHECK(before == old.cert_pem);
               used = renewed;
             }});
  }
  std::vector<kube::Object> Asked() { return plane->All(api::CertificateSigningRequests()); }
  // Looks on a thread of its own, while `answer` changes the request's status.
  // `answer` is given the request, as PEM.
  using Answer = std::function<void(const std::string& pem, json::Value& status)>;
  absl::StatusOr<bool> LookWhile(const Answer& answer) {
    absl::StatusOr<bool> result = false;
    std::thread looks([&] { result = Rotation().Look({}); });
    REQUIRE(tests::Eventually([&] { return !Asked().empty(); }));
    kube::Object request = Asked()[0];
    json::Value status = json::Value::Object();
    std::string pem;
    REQUIRE(absl::Base64Unescape(request.spec()["request"].AsString(), &pem));
    answer(pem, status);
    request.Set({"status"}, status);
    plane->Put(api::CertificateSigningRequests(), request);
    std::atomic<bool> over = false;
    std::thread time([&] {
      while (!over) clock.AdvanceAndAwait(absl::Seconds(2));
    });
    looks.join();
    over = true;
    time.join();
    return result;
  }
};

TEST_CASE_METHOD(Fixture, "a certificate with most of its life left stays") {
  clock.Advance(kLife * 0.7);
  const auto looked = Rotation().Look({});
  REQUIRE(looked.ok());
  CHECK_FALSE(*looked);
  CHECK(plane->Requests().empty());
}

TEST_CASE_METHOD(Fixture, "a certificate that is nearly over is asked for again") {
  clock.Advance(kLife * 0.85);
  std::string issued;
  const auto looked = LookWhile([&](const std::string& pem, json::Value& status) {
    issued = tests::SignRequest(pem, {clock.Now(), kLife});
    status.Set("certificate", absl::Base64Escape(issued));
  });
  const kube::Object request = Asked().at(0);
  CHECK(absl::StartsWith(request.name(), "m1-"));
  CHECK(request.spec()["signerName"].AsString() == "kubernetes.io/kube-apiserver-client");
  CHECK(request.spec()["expirationSeconds"].AsInt() == absl::ToInt64Seconds(kLife));
  std::string pem;
  REQUIRE(absl::Base64Unescape(request.spec()["request"].AsString(), &pem));
  CHECK(tls::CertificateRequest::Parse(pem)->common_names ==
        std::vector<std::string>{"system:karmada:agent:m1"});
  INFO(looked.status());
  REQUIRE(looked.ok());
  CHECK(*looked);
  CHECK(InSecret().client_certificate.cert_pem == issued);
  REQUIRE(used.has_value());
  CHECK(used->cert_pem == issued);
  CHECK(used->key_pem == InSecret().client_certificate.key_pem);
  // Now it is the new one whose life counts.
  CHECK_FALSE(*Rotation().Look({}));
}

TEST_CASE_METHOD(Fixture, "a certificate that is of no use is not taken") {
  clock.Advance(kLife * 0.85);
  std::string issued;
  SECTION("one of another key") { issued = Issue().cert_pem; }
  SECTION("none at all") { issued = "nonsense"; }
  SECTION("one that the control plane does not accept") {
    trial = absl::UnauthenticatedError("who are you?");
  }
  const auto looked = LookWhile([&](const std::string& pem, json::Value& status) {
    if (issued.empty()) issued = tests::SignRequest(pem, {clock.Now(), kLife});
    status.Set("certificate", absl::Base64Escape(issued));
  });
  CHECK_FALSE(looked.ok());
  CHECK(InSecret().client_certificate.cert_pem == old.cert_pem);
  CHECK_FALSE(used.has_value());
}

TEST_CASE_METHOD(Fixture, "a request that is denied ends the try, and the old certificate stays") {
  clock.Advance(kLife * 0.85);
  const auto looked = LookWhile([](const std::string&, json::Value& status) {
    status.Set("conditions",
               json::Value::Array({json::Value::Object(
                   {{"type", "Denied"}, {"status", "True"}, {"message", "not this one"}})}));
  });
  CHECK(absl::StrContains(looked.status().message(), "not this one"));
  CHECK(InSecret().client_certificate.cert_pem == old.cert_pem);
}

TEST_CASE_METHOD(Fixture, "a Secret that is not one of an agent is said to be so") {
  kube::Object secret = server->Find(api::Secrets(), kSecret);
  std::string what;
  SECTION("gone") {
    server->Erase(api::Secrets(), kSecret);
    what = "reading the Secret karmada-system/karmada-kubeconfig";
  }
  SECTION("without the field") {
    secret.Set({"data"}, json::Value::Object());
    server->Put(api::Secrets(), secret);
    what = "data.karmada-kubeconfig is missing";
  }
  SECTION("with another way to authenticate") {
    secret.Set({"data", "karmada-kubeconfig"},
               absl::Base64Escape("contexts: [{name: c, context: {user: u}}]\n"
                                  "current-context: c\nusers: [{name: u, user: {token: t}}]\n"));
    server->Put(api::Secrets(), secret);
    what = "client-certificate-data of its user is missing";
  }
  const auto looked = Rotation().Look({});
  INFO(looked.status());
  CHECK(absl::StrContains(looked.status().message(), what));
}

}  // namespace
}  // namespace controllers
