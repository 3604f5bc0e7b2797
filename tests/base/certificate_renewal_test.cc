#include "base/certificate_renewal.h"

#include <catch2/catch.hpp>

#include "base/certificate_request.h"
#include "base/clock.h"
#include "base/tls.h"

namespace tls {
namespace {

KeyPair Issue(absl::Time begin, absl::Duration valid_for) {
  static const auto& authority = *CertificateAuthority::Create("test").value().release();
  auto issued = const_cast<CertificateAuthority&>(authority).Issue(
      {.common_name = "system:karmada:agent:m1",
       .organizations = {"system:karmada:agents"},
       .valid_for = valid_for,
       .not_before = begin});
  REQUIRE(issued.ok());
  return *issued;
}

}  // namespace

TEST_CASE("How much of a certificate's life is left is known") {
  const absl::Time begin = absl::FromUnixSeconds(1'700'000'000);
  const auto validity = ValidityOf(Issue(begin, absl::Hours(100)).cert_pem);
  REQUIRE(validity.ok());
  CHECK(validity->not_before == begin);
  CHECK(validity->Whole() == absl::Hours(100));
  CHECK(validity->PartLeft(begin + absl::Hours(80)) == Approx(0.2));
  CHECK(validity->PartLeft(begin + absl::Hours(110)) < 0);
  CHECK(absl::IsInvalidArgument(ValidityOf("nothing").status()));
}

TEST_CASE("Of a chain the time counts in which all of its certificates are valid") {
  const absl::Time begin = absl::FromUnixSeconds(1'700'000'000);
  const std::string first = Issue(begin, absl::Hours(100)).cert_pem;
  const auto both = ValidityOf(first + Issue(begin + absl::Hours(10), absl::Hours(20)).cert_pem);
  REQUIRE(both.ok());
  CHECK(both->not_before == begin + absl::Hours(10));
  CHECK(both->not_after == begin + absl::Hours(30));
  CHECK_FALSE(ValidityOf(first + Issue(begin + absl::Hours(200), absl::Hours(1)).cert_pem).ok());
}

TEST_CASE("A renewal asks for the old subject, with a key of its own") {
  const KeyPair old = Issue(base::RealClock().Now(), absl::Hours(1));
  const auto renewal = RenewalRequest::For(old.cert_pem);
  REQUIRE(renewal.ok());
  const auto request = CertificateRequest::Parse(renewal->request_pem);
  REQUIRE(request.ok());
  CHECK(request->common_names == std::vector<std::string>{"system:karmada:agent:m1"});
  CHECK(request->organizations == std::vector<std::string>{"system:karmada:agents"});
  CHECK_FALSE(request->has_alternative_names);
  CHECK(CheckKeyPair(old.cert_pem, old.key_pem).ok());
  CHECK_FALSE(CheckKeyPair(old.cert_pem, renewal->key_pem).ok());
  CHECK_FALSE(RenewalRequest::For("nothing").ok());
}

}  // namespace tls
