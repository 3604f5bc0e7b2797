// Certificate requests of karmada-agents are approved. The sandbox keeps spec.username as it is
// written, and allows everything; real servers do neither.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/certificate_requests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest"};

std::string RequestYaml(const std::string& name, const RequestContent& content) {
  return absl::StrCat(R"(
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: )",
                      name, R"(}
spec:
  signerName: kubernetes.io/kube-apiserver-client
  username: system:bootstrap:abcdef
  usages: [digital signature, key encipherment, client auth]
  request: )",
                      absl::Base64Escape(MakeCertificateRequest(content)), "\n");
}

}  // namespace

TEST_CASE("An agent's certificate request is approved, and what only looks like one is not",
          "[sandbox]") {
  ControlPlane plane;
  const auto conditions = [&](const std::string& name) {
    return json::Write(plane.Get("host", kRequest, {"", name})->status()["conditions"]);
  };
  const auto is_approved = [&](const std::string& name) {
    return absl::StrContains(conditions(name), "AutoApproved");
  };
  plane.Apply("host", RequestYaml("admin", {.organizations = {"system:masters"},
                                            .common_names = {"admin"}}));
  plane.Apply("host",
              RequestYaml("both", {.organizations = {"system:karmada:agents", "system:masters"}}));
  plane.Apply("host", RequestYaml("agent", {}));
  CHECK(plane.Eventually([&] { return is_approved("agent"); }));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kRequest, "both"),
                             "Warning AgentCertificateNotRecognized");
  }));

  // What comes while nobody runs is looked at later; what is decided stays as it is.
  plane.StopDaemon();
  plane.Apply("host", RequestYaml("late", {}));
  const std::string before(plane.Get("host", kRequest, {"", "agent"})->resource_version());
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return is_approved("late"); }));
  CHECK(plane.Get("host", kRequest, {"", "agent"})->resource_version() == before);
  CHECK(conditions("admin") == "null");
  CHECK(conditions("both") == "null");
  CHECK(plane.EventsOn(kRequest, "admin").empty());
}

}  // namespace tests
