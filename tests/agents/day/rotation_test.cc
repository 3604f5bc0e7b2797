// The agent's certificate is renewed, and the agent is killed at each step of that. The test is the
// approver, and the kubelet that writes the mounted kubeconfig; the sandbox signs.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/certificate_renewal.h"
#include "base/clock.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"
#include "sandbox/sim/writes.h"
#include "tests/agents/day/day.h"

namespace tests {
namespace {

constexpr absl::Duration kLife = absl::Minutes(20);
// How long an agent has from its start on: its old certificate lasts a fifth of its life then.
constexpr absl::Duration kSoon = absl::Minutes(3);
const kube::ObjectKey kSecret{"karmada-system", "karmada-kubeconfig"};
constexpr char kField[] = "karmada-kubeconfig";
constexpr char kRequests[] = "certificatesigningrequests.certificates.k8s.io ";

absl::Time Now() { return base::RealClock().Now(); }

tls::KeyPair PairOf(const std::string& kubeconfig) {
  const auto config = kube::ParseKubeconfig(kubeconfig, "", "");
  INFO(kubeconfig);
  REQUIRE(config.ok());
  return config->client_certificate;
}

absl::Time EndOf(const std::string& kubeconfig) {
  const auto validity = tls::ValidityOf(PairOf(kubeconfig).cert_pem);
  REQUIRE(validity.ok());
  return validity->not_after;
}

// A cluster whose agent renews its certificate of twenty minutes.
struct Rotating : Day {
  Rotating()
      : Day({"--leader-elect=false", "--controllers=*,certRotation",
             "--cert-rotation-checking-interval=1m"},
            {"--controllers=*,-agentcsrapproving"}) {
    const std::string config = WithShortLife(Kubeconfig());
    WriteKubeconfig(config);
    REQUIRE(sandbox::EnsureObject(member(), api::Namespaces().gvr(),
                                  kube::Object::Make(api::Namespaces().gvk, {"", kSecret.ns}))
                .ok());
    kube::Object secret = kube::Object::Make(api::Secrets().gvk, kSecret);
    secret.Set({"data", kField}, absl::Base64Escape(config));
    REQUIRE(sandbox::EnsureObject(member(), api::Secrets().gvr(), secret).ok());
  }

  sandbox::Backend& member() { return stage().fleet().member("member2")->backend(); }
  sandbox::Backend& plane() { return stage().fleet().control_plane().backend(); }

  // Returns the kubeconfig with a certificate of kLife in the place of its own.
  std::string WithShortLife(const std::string& config) {
    const tls::KeyPair old = PairOf(config);
    const auto renewal = tls::RenewalRequest::For(old.cert_pem);
    REQUIRE(renewal.ok());
    kube::Object request =
        kube::Object::Make(api::CertificateSigningRequests().gvk, {"", "of-the-registration"});
    request.Set({"spec", "request"}, absl::Base64Escape(renewal->request_pem));
    request.Set({"spec", "signerName"}, "kubernetes.io/kube-apiserver-client");
    request.Set({"spec", "expirationSeconds"}, absl::ToInt64Seconds(kLife));
    request.Set({"spec", "usages"}, json::Value::Array({"client auth"}));
    REQUIRE(sandbox::EnsureObject(plane(), api::CertificateSigningRequests().gvr(), request).ok());
    REQUIRE(Within(absl::Minutes(1), [&] {
      Approve();
      return !Certificate(*Requests().at(0)).empty();
    }));
    std::string changed = config;
    const auto put = [&](const std::string& before, const std::string& after) {
      const size_t at = changed.find(absl::Base64Escape(before));
      REQUIRE(at != std::string::npos);
      changed.replace(at, absl::Base64Escape(before).size(), absl::Base64Escape(after));
    };
    put(old.cert_pem, Certificate(*Requests().at(0)));
    put(old.key_pem, renewal->key_pem);
    return changed;
  }

  std::vector<kube::ObjectPtr> Requests() {
    return plane().List(api::CertificateSigningRequests().gvr(), "", kube::LabelSelector()).value();
  }
  static std::string Certificate(const kube::Object& request) {
    std::string pem;
    absl::Base64Unescape(request.status()["certificate"].AsString(), &pem);
    return pem;
  }
  // Approves all requests that nobody has decided about.
  void Approve() {
    for (const kube::ObjectPtr& request : Requests()) {
      if (!request->status()["conditions"].items().empty()) continue;
      json::Value status = request->status().is_null() ? json::Value::Object() : request->status();
      status.Set(
          "conditions",
          json::Value::Array({json::Value::Object({{"type", "Approved"}, {"status", "True"}})}));
      REQUIRE(sandbox::WriteStatus(plane(), api::CertificateSigningRequests().gvr(), *request,
                                   std::move(status))
                  .ok());
    }
  }
  std::string InSecret() {
    const auto secret = member().Get(api::Secrets().gvr(), kSecret);
    REQUIRE(secret.ok());
    std::string text;
    REQUIRE(absl::Base64Unescape((*secret)->Get({"data", kField}).AsString(), &text));
    return text;
  }
};

// Where the agent is killed: at a request, before it is executed, or before its answer is there.
struct Step {
  const char* name;
  const char* request;  // As Sent::what begins.
  bool executed;
  bool in_member;
  // Whether the request that is meant comes before the approval.
  bool before_approval;
};

constexpr Step kSteps[] = {
    {"before the certificate is asked for", "create certificatesigningrequests", false, false,
     true},
    {"after it was asked for", "create certificatesigningrequests", true, false, true},
    {"before the request is approved", "get certificatesigningrequests", true, false, true},
    {"after the certificate was issued", "get certificatesigningrequests", true, false, false},
    {"before the certificate is tried", "get clusters.", false, false, false},
    {"after the certificate was tried", "get clusters.", true, false, false},
    {"before the Secret is written", "patch secrets ", false, true, false},
    {"after the Secret was written", "patch secrets ", true, true, false},
};

}  // namespace

TEST_CASE(
    "An agent that is killed at any step of the renewal of its certificate is not locked out") {
  Rotating day;
  day.Begin();
  for (const Step& step : kSteps) {
    INFO(step.name);
    Link& link = step.in_member ? day.in_member() : day.to_plane();
    const std::string old = day.Kubeconfig();
    const size_t requests = day.Requests().size();
    if (step.before_approval) link.HoldNext(step.request, step.executed);
    bool is_armed = step.before_approval;
    REQUIRE(day.Within(2 * kLife, [&] {
      if (!is_armed && day.Requests().size() > requests) {
        is_armed = true;
        link.HoldNext(step.request, step.executed);
        day.Approve();
      }
      return link.Holds();
    }));
    day.KillAgent();
    link.Set(LinkState::kUp);
    // What the fresh one begins with is still valid, and the Secret is whole.
    CHECK(EndOf(old) > Now());
    CHECK(EndOf(day.InSecret()) > Now());
    CHECK(tls::CheckKeyPair(PairOf(day.InSecret()).cert_pem, PairOf(day.InSecret()).key_pem).ok());

    const base::SteadyTime start = day.Now();
    const size_t log = day.Log().size();
    day.StartAgent();
    const bool is_renewed = day.Within(kSoon, [&] {
      day.Approve();
      return EndOf(day.InSecret()) > EndOf(old);
    });
    INFO(day.Log().substr(log));
    REQUIRE(is_renewed);
    CHECK(tls::CheckKeyPair(PairOf(day.InSecret()).cert_pem, PairOf(day.InSecret()).key_pem).ok());
    // One of the agent that was killed, and one of the fresh one.
    CHECK(day.Requests().size() <= requests + 2);
    // The kubelet is late, and the old certificate expires.
    day.Pass(absl::Minutes(1));
    day.WriteKubeconfig(day.InSecret());
    day.Pass(EndOf(old) - Now() + absl::Minutes(2));
    REQUIRE(EndOf(old) < Now());
    CHECK(day.Ready() == "True");
    day.Do(absl::StrCat("\"on\": member2\n",
                        "patch: [{target: deployment/shop/web, merge: {spec: {replicas: 7}}}]"));
    CHECK(day.Within(absl::Minutes(1), [&] { return day.ReplicasInMember("web") == 3; }));
    for (const Sent& sent : day.to_plane().Since(start)) {
      INFO(sent.what);
      CHECK(sent.code != 401);
    }
  }
  // Each was started once more, and none has ended by itself.
  CHECK(day.starts() == 1 + static_cast<int>(std::size(kSteps)));
}

}  // namespace tests
