#include "sandbox/sim/certificate_signer.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "api/resources.h"
#include "base/certificate_renewal.h"
#include "sandbox/sim/writes.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

// Servers accept any name of a request, such as one after its user.
constexpr char kName[] = "system:karmada:agent:m1-a1b2c";

struct Fixture : SimCluster {
  std::shared_ptr<tls::CertificateAuthority> authority = *tls::CertificateAuthority::Create("test");
  CertificateSigner signer{backend, loop, authority};
  const tls::RenewalRequest renewal =
      *tls::RenewalRequest::For(authority->Issue({.common_name = "agent"})->cert_pem);

  void Ask(const std::string& request_pem, const std::string& signer_name) {
    kube::Object request = kube::Object::Make(api::CertificateSigningRequests().gvk, {"", kName});
    request.Set({"spec", "request"}, absl::Base64Escape(request_pem));
    request.Set({"spec", "signerName"}, signer_name);
    request.Set({"spec", "expirationSeconds"}, 3600);
    request.Set({"spec", "usages"}, json::Value::Array({"client auth"}));
    Create(request.root());
    Settle();
  }
  kube::ObjectPtr Request() { return Get(api::CertificateSigningRequests(), "", kName); }
  void Decide(const char* type) {
    json::Value status = json::Value::Object();
    status.Set("conditions",
               json::Value::Array({json::Value::Object({{"type", type}, {"status", "True"}})}));
    REQUIRE(WriteStatus(backend, api::CertificateSigningRequests().gvr(), *Request(), status).ok());
    Settle();
  }
  std::string Certificate() {
    std::string pem;
    absl::Base64Unescape(Request()->status()["certificate"].AsString(), &pem);
    return pem;
  }
};

constexpr char kClients[] = "kubernetes.io/kube-apiserver-client";

TEST_CASE_METHOD(Fixture, "a request of a client is signed once it is approved") {
  Ask(renewal.request_pem, kClients);
  CHECK(Certificate().empty());
  Decide("Approved");
  CHECK(tls::CheckKeyPair(Certificate(), renewal.key_pem).ok());
  CHECK(tls::ValidityOf(Certificate())->Whole() == absl::Hours(1) + absl::Minutes(1));
  const std::string first = Certificate();
  Settle();
  CHECK(Certificate() == first);
}

TEST_CASE_METHOD(Fixture, "what is denied, or is for another signer, is not signed") {
  SECTION("denied") {
    Ask(renewal.request_pem, kClients);
    Decide("Denied");
  }
  SECTION("of another signer") {
    Ask(renewal.request_pem, "example.io/mine");
    Decide("Approved");
  }
  CHECK(Certificate().empty());
  CHECK(Request()->status()["conditions"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "a request that cannot be read fails, and says why") {
  Ask("nonsense", kClients);
  Decide("Approved");
  CHECK(Certificate().empty());
  const json::Value* failed = kube::FindCondition(Request()->status()["conditions"], "Failed");
  REQUIRE(failed != nullptr);
  CHECK((*failed)["message"].AsString() == "there is no certificate request");
}

}  // namespace
}  // namespace sandbox
