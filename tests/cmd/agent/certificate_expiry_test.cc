// The gauges of the certificates of an agent.
#include "cmd/agent/certificate_expiry.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "base/tls.h"
#include "tests/support/fake_clock.h"

namespace cmd {
namespace {

constexpr absl::Duration kLife = absl::Hours(100);
const metrics::Labels kLabels{{"member_cluster", "edge1"}, {"certificate", "control-plane"}};

struct Fixture {
  tests::FakeClock clock;
  metrics::Registry registry;
  std::unique_ptr<tls::CertificateAuthority> authority = *tls::CertificateAuthority::Create("test");
  ConfigPtr config = With(Issue());
  CertificateExpiry expiry{
      "edge1",
      {{"control-plane", [this] { return config; }}, {"cluster", [] { return With(""); }}},
      registry,
      clock};

  static ConfigPtr With(const std::string& cert_pem) {
    auto config = std::make_shared<kube::ConnectionConfig>();
    config->client_certificate.cert_pem = cert_pem;
    return config;
  }
  std::string Issue() {
    return authority->Issue({.common_name = "agent", .valid_for = kLife, .not_before = clock.Now()})
        ->cert_pem;
  }
  double Remaining() {
    return registry.GetGauge("karmada_agent_certificate_remaining_seconds", "", kLabels).Value();
  }
};

TEST_CASE_METHOD(Fixture, "a certificate lasts shorter and shorter, and longer when renewed") {
  expiry.Look();
  CHECK(Remaining() == Approx(absl::ToDoubleSeconds(kLife)).margin(2));
  CHECK(registry.GetGauge("karmada_agent_certificate_lifetime_seconds", "", kLabels).Value() ==
        Approx(absl::ToDoubleSeconds(kLife)).margin(2));
  clock.Advance(kLife * 0.9);
  expiry.Look();
  CHECK(Remaining() == Approx(absl::ToDoubleSeconds(kLife) * 0.1).margin(2));
  clock.Advance(kLife * 0.2);
  expiry.Look();
  CHECK(Remaining() == Approx(absl::ToDoubleSeconds(kLife) * -0.1).margin(2));
  config = With(Issue());
  expiry.Look();
  CHECK(Remaining() == Approx(absl::ToDoubleSeconds(kLife)).margin(2));
}

TEST_CASE_METHOD(Fixture, "a server that is reached without a certificate has no series of one") {
  expiry.Look();
  CHECK(absl::StrContains(registry.Expose(), R"(certificate="control-plane")"));
  CHECK_FALSE(absl::StrContains(registry.Expose(), R"(certificate="cluster")"));
  SECTION("a token has taken its place") { config = With(""); }
  SECTION("it cannot be read") { config = With("nonsense"); }
  expiry.Look();
  CHECK_FALSE(absl::StrContains(registry.Expose(), "karmada_agent_certificate_remaining_seconds{"));
}

}  // namespace
}  // namespace cmd
