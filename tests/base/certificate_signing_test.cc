#include "base/certificate_signing.h"

#include <catch2/catch.hpp>

#include "base/certificate_renewal.h"

namespace tls {
namespace {

TEST_CASE("A request is signed for its subject and its key, and one that is damaged is refused") {
  const auto authority = *CertificateAuthority::Create("test");
  const KeyPair old =
      *authority->Issue({.common_name = "agent", .organizations = {"system:karmada:agents"}});
  const RenewalRequest renewal = *RenewalRequest::For(old.cert_pem);
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const auto signed_pem =
      SignCertificateRequest(*authority, renewal.request_pem, now, absl::Hours(1));
  REQUIRE(signed_pem.ok());
  CHECK(CheckKeyPair(*signed_pem, renewal.key_pem).ok());
  CHECK_FALSE(CheckKeyPair(*signed_pem, old.key_pem).ok());
  const auto validity = ValidityOf(*signed_pem);
  REQUIRE(validity.ok());
  CHECK(validity->not_before == now - absl::Minutes(1));
  CHECK(validity->not_after == now + absl::Hours(1));

  for (const std::string& bad : {std::string(), old.cert_pem}) {
    CHECK(absl::IsInvalidArgument(
        SignCertificateRequest(*authority, bad, now, absl::Hours(1)).status()));
  }
}

}  // namespace
}  // namespace tls
