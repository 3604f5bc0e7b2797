#include "controllers/agent_csr/agent_csr_reconciler.h"
#include "controllers/agent_csr/register.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/signing_request.h"
#include "tests/support/certificate_requests.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::RequestContent;

constexpr char kAgent[] = "system:karmada:agent:m1";

kube::Object Request(const RequestContent& content = {},
                     const std::string& user = "system:bootstrap:abcdef") {
  kube::Object request = kube::Object::Make(api::CertificateSigningRequests().gvk, {"", "agent"});
  request.Set({"spec"}, Json(R"({"signerName": "kubernetes.io/kube-apiserver-client",
      "usages": ["digital signature", "key encipherment", "client auth"],
      "groups": ["system:bootstrappers"], "uid": "u", "extra": {"a": ["b"]}})"));
  request.Set({"spec", "username"}, user);
  request.Set({"spec", "request"}, absl::Base64Escape(tests::MakeCertificateRequest(content)));
  return request;
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::AgentCsrReconciler> reconciler;
  std::set<std::string> permitted = {"clusteragent", "selfclusteragent"};
  std::vector<json::Value> reviews;

  Fixture() {
    Sync({api::CertificateSigningRequests()});
    reconciler.emplace(Make(), [this](const json::Value& spec, const base::StopToken&) {
      reviews.push_back(spec);
      return permitted.contains(spec["resourceAttributes"]["subresource"].ToString());
    });
  }
  absl::Status Reconcile(const kube::Object& request) {
    PutCached(api::CertificateSigningRequests(), request);
    return reconciler->Reconcile({.key = {"", "agent"}}, {}).status();
  }
  std::string Conditions() const {
    return json::Write(
        server->Find(api::CertificateSigningRequests(), {"", "agent"}).status()["conditions"]);
  }
  // Returns whether the request stays as it is, with this event; none for "".
  bool IsLeftAlone(const kube::Object& request, const std::string& reason) {
    if (!Reconcile(request).ok() || Conditions() != "null") return false;
    const std::vector<std::string> events = recorded->All();
    if (reason.empty()) return events.empty();
    return events.size() == 1 && absl::StartsWith(events[0], absl::StrCat("Warning ", reason));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the request of a new agent is approved after a review of its maker") {
  REQUIRE(Reconcile(Request()).ok());
  CHECK(Conditions() ==
        R"([{"message":"Auto approving karmada agent certificate after SubjectAccessReview.",)"
        R"("reason":"AutoApproved","status":"True","type":"Approved"}])");
  REQUIRE(reviews.size() == 1);
  CHECK(reviews[0] == Json(R"({"user": "system:bootstrap:abcdef", "uid": "u",
      "groups": ["system:bootstrappers"], "extra": {"a": ["b"]}, "resourceAttributes": {
          "group": "certificates.k8s.io", "resource": "certificatesigningrequests",
          "subresource": "clusteragent", "verb": "create", "version": "*"}})"));
  REQUIRE(server->Requests("PATCH").size() == 1);
  CHECK(absl::StrContains(server->Requests("PATCH")[0], "/agent/approval"));
  CHECK(absl::StrContains(server->last_body(), "resourceVersion"));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "an agent that renews its certificate needs the lesser permission") {
  permitted = {"selfclusteragent"};
  REQUIRE(Reconcile(Request({}, kAgent)).ok());
  CHECK(absl::StrContains(Conditions(), "Auto approving self karmada agent certificate"));
  CHECK(reviews.size() == 1);
}

TEST_CASE_METHOD(Fixture, "an agent does not get the certificate of another one") {
  permitted = {"selfclusteragent"};
  CHECK(IsLeftAlone(Request({}, "system:karmada:agent:m2"), "AgentCertificateNotPermitted"));
  CHECK(reviews.size() == 1);
}

TEST_CASE_METHOD(Fixture, "who may do neither gets an event, and nothing is tried again") {
  permitted.clear();
  CHECK(IsLeftAlone(Request({}, kAgent), "AgentCertificateNotPermitted"));
  CHECK(reviews.size() == 2);
}

TEST_CASE_METHOD(Fixture, "what only looks like an agent's request is left alone, with an event") {
  const RequestContent content =
      GENERATE(RequestContent{.organizations = {"system:karmada:agents", "system:masters"}},
               RequestContent{.organizations = {}}, RequestContent{.organizations = {"agents"}},
               RequestContent{.common_names = {"admin"}}, RequestContent{.common_names = {}},
               RequestContent{.common_names = {kAgent, "admin"}},
               RequestContent{.common_names = {"System:karmada:agent:m1"}},
               RequestContent{.alternative_names = "DNS:karmada-apiserver"},
               RequestContent{.alternative_names = "email:a@example.com"},
               RequestContent{.alternative_names = "IP:10.0.0.1"},
               RequestContent{.alternative_names = "URI:spiffe://a"},
               RequestContent{.alternative_names = "otherName:1.2.3.4;UTF8:a"},
               RequestContent{.alternative_names = "DNS:a", .two_extension_lists = true});
  CHECK(IsLeftAlone(Request(content), "AgentCertificateNotRecognized"));
  CHECK(reviews.empty());
}

TEST_CASE_METHOD(Fixture, "only the usages of agents are approved") {
  kube::Object request = Request();
  SECTION("without key encipherment") {
    request.Set({"spec", "usages"}, Json(R"(["client auth", "digital signature"])"));
    REQUIRE(Reconcile(request).ok());
    CHECK(absl::StrContains(Conditions(), "Approved"));
  }
  SECTION("one too many") {
    request.Set({"spec", "usages"}, Json(R"(["client auth", "digital signature", "server auth"])"));
    CHECK(IsLeftAlone(request, "AgentCertificateNotRecognized"));
  }
  SECTION("one missing") {
    request.Set({"spec", "usages"}, Json(R"(["client auth"])"));
    CHECK(IsLeftAlone(request, "AgentCertificateNotRecognized"));
  }
}

TEST_CASE_METHOD(Fixture, "requests that are not about agents, or decided, are nothing to us") {
  kube::Object request = Request();
  SECTION("of another signer") {
    request.Set({"spec", "signerName"}, "kubernetes.io/kubelet-serving");
    CHECK(IsLeftAlone(request, ""));
  }
  SECTION("of somebody else") {
    CHECK(IsLeftAlone(Request({.organizations = {"devs"}, .common_names = {"jane"}}), ""));
  }
  SECTION("being deleted") {
    request.Set({"metadata", "deletionTimestamp"}, "2024-05-01T10:00:00Z");
    CHECK(IsLeftAlone(request, ""));
  }
  SECTION("denied") {
    request.Set({"status", "conditions"}, Json(R"([{"type": "Denied", "status": "True"}])"));
    REQUIRE(Reconcile(request).ok());
    CHECK_FALSE(absl::StrContains(Conditions(), "Approved"));
  }
  CHECK(reviews.empty());
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a request that cannot be read gets an event, and is not tried again") {
  kube::Object request = Request();
  request.Set({"spec", "request"}, GENERATE("%%%", "aGVsbG8=", ""));
  CHECK(IsLeftAlone(request, "InvalidCertificateRequest"));
}

TEST_CASE_METHOD(Fixture, "a decision that the cache does not show yet stands") {
  PutCached(api::CertificateSigningRequests(), Request());
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("cut off"));
  kube::Object denied = server->Find(api::CertificateSigningRequests(), {"", "agent"});
  denied.Set({"status", "conditions"}, Json(R"([{"type": "Denied", "status": "True"}])"));
  server->Put(api::CertificateSigningRequests(), denied);
  REQUIRE(reconciler->Reconcile({.key = {"", "agent"}}, {}).ok());
  CHECK(reviews.empty());
  CHECK_FALSE(absl::StrContains(Conditions(), "Approved"));
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a review that fails is tried again") {
  reconciler.emplace(*manager, [](const json::Value&, const base::StopToken&) {
    return absl::StatusOr<bool>(absl::UnavailableError("no answer"));
  });
  CHECK_FALSE(Reconcile(Request()).ok());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "the registered loop asks the control plane, whose silence is no yes") {
  REQUIRE(controllers::RegisterAgentCsr(Context(), 1).ok());
  Start();
  PutCached(api::CertificateSigningRequests(), Request());
  CHECK(Eventually([&] { return !recorded->All().empty(); }));
  CHECK(absl::StartsWith(recorded->All().at(0), "Warning AgentCertificateNotPermitted"));
  REQUIRE(server->Requests("POST").size() == 1);
  CHECK(absl::StrContains(server->Requests("POST")[0],
                          "/apis/authorization.k8s.io/v1/subjectaccessreviews"));
  CHECK(Conditions() == "null");
}
