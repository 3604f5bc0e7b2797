// The admission endpoint of the interpreter's configurations in a running controller manager.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/tls.h"
#include "kube/http/http_transport.h"
#include "tests/support/control_plane.h"
#include "tests/support/free_port.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

constexpr char kBroken[] =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
  "uid":"u-1","operation":"CREATE","object":{"apiVersion":"config.karmada.io/v1alpha1",
  "kind":"ResourceInterpreterCustomization","metadata":{"name":"w"},"spec":{
  "target":{"apiVersion":"example.io/v1","kind":"Widget"},
  "customizations":{"healthInterpretation":{"luaScript":"function InterpretHealth("}}}}}})";

// The lease of a process that leads, and goes on leading for an hour.
constexpr char kLease[] = R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: karmada-controller-manager, namespace: karmada-system}
spec: {holderIdentity: another, leaseDurationSeconds: 3600, renewTime: "$0", acquireTime: "$0"}
)";

struct Endpoint {
  std::unique_ptr<tls::CertificateAuthority> authority =
      tls::CertificateAuthority::Create("first").value();
  TempDirectory dir;
  const int port = FreePort();

  Endpoint() { WriteCertificate(); }
  void WriteCertificate() {
    const tls::KeyPair pair =
        authority->Issue({.common_name = "admission", .ip_addresses = {"127.0.0.1"}}).value();
    dir.Write("tls.key", pair.key_pem);
    dir.Write("tls.crt", pair.cert_pem);
  }
  std::vector<std::string> Flags() const {
    return {absl::StrCat("--interpreter-admission-bind-address=127.0.0.1:", port),
            absl::StrCat("--interpreter-admission-tls-cert-file=", dir.path(), "/tls.crt"),
            absl::StrCat("--interpreter-admission-tls-private-key-file=", dir.path(), "/tls.key"),
            "--leader-elect=true"};
  }
  // Returns the body of the answer to a review of a broken customization; "" when there is none.
  std::string Review() const {
    kube::ConnectionConfig config;
    config.server = absl::StrCat("https://127.0.0.1:", port);
    config.ca_pem = authority->cert_pem();
    const auto transport = kube::NewHttpTransport(config).value();
    const auto answer = transport->Send({.method = "POST",
                                         .path = "/validate",
                                         .content_type = "application/json",
                                         .body = kBroken},
                                        {});
    return answer.ok() ? answer->body : "";
  }
  bool Refuses() const { return absl::StrContains(Review(), "\"allowed\":false"); }
};

}  // namespace

TEST_CASE("A replica that does not lead reviews customizations, by a certificate that is renewed",
          "[sandbox]") {
  Endpoint endpoint;
  ControlPlane plane({.members = 0, .daemon_flags = endpoint.Flags()});
  plane.StopDaemon();
  const std::string now =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone());
  std::string lease = kLease;
  for (size_t at = lease.find("$0"); at != std::string::npos; at = lease.find("$0")) {
    lease.replace(at, 2, now);
  }
  plane.Apply("host", lease);
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return endpoint.Refuses(); }));
  CHECK_THAT(endpoint.Review(),
             Catch::Contains("spec.customizations.healthInterpretation.luaScript"));
  CHECK(plane.Eventually(
      [&] { return absl::StrContains(plane.DaemonLog(), "another process leads"); }));

  endpoint.authority = tls::CertificateAuthority::Create("second").value();
  CHECK_FALSE(endpoint.Refuses());  // The new authority did not issue the present certificate.
  endpoint.WriteCertificate();
  CHECK(plane.Eventually([&] { return endpoint.Refuses(); }));
}

TEST_CASE("A controller manager whose admission address is taken ends, and says which it is",
          "[sandbox]") {
  Endpoint endpoint;
  ControlPlane plane({.members = 0, .daemon_flags = endpoint.Flags()});
  REQUIRE(plane.Eventually([&] { return endpoint.Refuses(); }));
  const ControlPlane::StandBy second = plane.StartStandBy();
  const std::string address = absl::StrCat("127.0.0.1:", endpoint.port);
  CHECK(plane.Eventually([&] { return absl::StrContains(second.Log(), address); }));
  INFO(second.Log());
  CHECK(plane.Eventually([&] { return absl::StrContains(second.Log(), "in use"); }));
}

}  // namespace tests
