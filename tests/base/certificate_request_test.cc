#include "base/certificate_request.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/certificate_requests.h"

using tests::MakeCertificateRequest;
using tls::CertificateRequest;

TEST_CASE("a certificate request says who asks to be called what") {
  const auto request = CertificateRequest::Parse(
      MakeCertificateRequest({.organizations = {"a", "b\xC3\xA4"}, .common_names = {"c", "d"}}));
  REQUIRE(request.ok());
  CHECK(request->organizations == std::vector<std::string>{"a", "b\xC3\xA4"});
  CHECK(request->common_names == std::vector<std::string>{"c", "d"});
  CHECK_FALSE(request->has_alternative_names);
}

TEST_CASE("alternative names of any kind are noticed, also in a second list of extensions") {
  const auto has_them = [](const tests::RequestContent& content) {
    const auto request = CertificateRequest::Parse(MakeCertificateRequest(content));
    REQUIRE(request.ok());
    return request->has_alternative_names;
  };
  for (const char* names :
       {"DNS:a.example.com", "email:a@example.com", "IP:10.0.0.1", "URI:https://example.com",
        "RID:1.2.3.4", "otherName:1.2.3.4;UTF8:hidden"}) {
    INFO(names);
    CHECK(has_them({.alternative_names = names}));
  }
  CHECK(has_them({.alternative_names = "DNS:a.example.com", .two_extension_lists = true}));
  CHECK_FALSE(has_them({.two_extension_lists = true}));  // There is only one, without names.
}

TEST_CASE("what is no certificate request is refused") {
  const std::string good = MakeCertificateRequest();
  CHECK_FALSE(CertificateRequest::Parse("").ok());
  CHECK_FALSE(CertificateRequest::Parse("hello").ok());
  CHECK_FALSE(CertificateRequest::Parse("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n").ok());
  CHECK_FALSE(CertificateRequest::Parse(good.substr(0, good.size() / 2)).ok());
  CHECK_FALSE(CertificateRequest::Parse("-----BEGIN CERTIFICATE-----\nAAAA\n"
                                        "-----END CERTIFICATE-----\n" +
                                        good)
                  .ok());
  CHECK(CertificateRequest::Parse("\n" + good).ok());
}
