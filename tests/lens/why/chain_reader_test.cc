// What a chain is when the control plane refuses some of the questions.
#include "lens/why/chain_reader.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "lens/why/diagnosis.h"
#include "lens/why/health.h"
#include "tests/kube/client/scripted_transport.h"

namespace {

using tests::Answer;
using tests::ScriptedTransport;

const kube::Resource kDeployments = {{"apps", "v1", "Deployment"}, "deployments", true};
constexpr char kPolicies[] = "/apis/policy.karmada.io/v1alpha1/";

bool IsPolicies(const std::string& path, absl::string_view rest) {
  const std::string wanted = absl::StrCat(kPolicies, rest);
  return path == wanted || absl::StartsWith(path, absl::StrCat(wanted, "?"));
}

// Has Deployment shop/web, which nobody has claimed, and nothing else.
kube::HttpResponse AnswerOf(const std::string& path) {
  if (absl::StartsWith(path, "/apis/apps/v1/namespaces/shop/deployments/web")) {
    return Answer(200, R"({"apiVersion":"apps/v1","kind":"Deployment",
                           "metadata":{"name":"web","namespace":"shop","uid":"u"}})");
  }
  const bool is_object = absl::StrContains(path, "/leases/") ||
                         absl::StrContains(path, "/resourcebindings/") ||
                         absl::StrContains(path, "/works/");
  if (is_object) return Answer(404, R"({"kind":"Status","reason":"NotFound"})");
  return Answer(200, R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[]})");
}

using AnswerFn = std::function<const char*(const std::string& path)>;

// Reads the chain of Deployment shop/web from a server that refuses the paths that `refuses` names.
// What `has` returns, unless it is nullptr, is the server's answer.
template <class Refuses>
absl::StatusOr<lens::why::Chain> Read(Refuses refuses, const AnswerFn& has = nullptr) {
  const auto transport = std::make_shared<ScriptedTransport>(
      [=](const kube::HttpRequest& request, int) -> absl::StatusOr<kube::HttpResponse> {
        const char* known = has == nullptr ? nullptr : has(request.path);
        if (known != nullptr) return Answer(200, known);
        if (!refuses(request.path)) return AnswerOf(request.path);
        return Answer(403, R"({"kind":"Status","reason":"Forbidden","message":"may not list"})");
      });
  kube::Client client(transport, {.host = "example:6443"}, base::RealClock(), nullptr);
  kube::Discovery discovery;
  discovery.resources.push_back({kDeployments, {"get", "list"}, {}, true});
  lens::why::Question question;
  question.gvk = kDeployments.gvk;
  question.key = {"shop", "web"};
  const kube::ConnectionConfig no_proxy;
  return lens::why::ReadChain({client, discovery, no_proxy}, std::move(question), {});
}

}  // namespace

TEST_CASE("Lens: policies of the template's namespace do where those of all may not be listed") {
  const auto chain =
      Read([](const std::string& path) { return IsPolicies(path, "propagationpolicies"); });
  REQUIRE(chain.ok());
  CHECK(chain->CouldReadPolicies());
  CHECK(lens::why::Diagnose(*chain).headline == "no policy selects Deployment shop/web");
}

TEST_CASE("Lens: policies that may not be listed are not taken for missing") {
  const auto chain = Read([](const std::string& path) {
    return IsPolicies(path, "propagationpolicies") ||
           IsPolicies(path, "namespaces/shop/propagationpolicies");
  });
  REQUIRE(chain.ok());
  CHECK_FALSE(chain->CouldReadPolicies());
  CHECK(chain->unread.size() == 1);
  const lens::why::Diagnosis diagnosis = lens::why::Diagnose(*chain);
  CHECK_FALSE(diagnosis.arrived);
  CHECK(absl::StartsWith(diagnosis.headline,
                         "nothing that could be read stops Deployment shop/web (not everything"));
}

TEST_CASE("Lens: a health that could not be determined is explained by the event on the Work") {
  constexpr char kBinding[] = R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
    "metadata":{"name":"web-deployment","namespace":"shop",
      "labels":{"resourcebinding.karmada.io/permanent-id":"id"}},
    "spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web"},
      "clusters":[{"name":"m1"}]}})";
  constexpr char kWorks[] = R"({"kind":"WorkList","metadata":{"resourceVersion":"1"},"items":[
    {"apiVersion":"work.karmada.io/v1alpha1","kind":"Work",
     "metadata":{"name":"web","namespace":"karmada-es-m1",
       "annotations":{"resourcebinding.karmada.io/namespace":"shop","resourcebinding.karmada.io/name":"web-deployment"}},
     "spec":{"workload":{"manifests":[{"apiVersion":"apps/v1","kind":"Deployment",
       "metadata":{"name":"web","namespace":"shop"}}]}},
     "status":{"conditions":[{"type":"Applied","status":"True"}],"manifestStatuses":[
       {"identifier":{"group":"apps","version":"v1","kind":"Deployment","namespace":"shop","name":"web"},
        "health":"Unknown"}]}}]})";
  constexpr char kEvents[] = R"({"kind":"EventList","metadata":{"resourceVersion":"1"},"items":[
    {"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"karmada-es-m1"},
     "involvedObject":{"kind":"Work","namespace":"karmada-es-m1","name":"web"},
     "reason":"InterpretHealthFailed","type":"Warning","message":"attempt to index a nil value",
     "lastTimestamp":"2026-01-01T00:00:00Z"}]})";
  const auto chain = Read([](const std::string&) { return false; },
                          [&](const std::string& path) -> const char* {
                            if (absl::StrContains(path, "/resourcebindings/")) return kBinding;
                            if (absl::StrContains(path, "/v1alpha1/works?")) return kWorks;
                            if (absl::StrContains(path, "/karmada-es-m1/events?")) return kEvents;
                            return nullptr;
                          });
  REQUIRE(chain.ok());
  REQUIRE(chain->works.count("m1") == 1);
  const kube::ObjectPtr work = chain->works.at("m1");
  CHECK(lens::why::WhyUnhealthy(*chain, "m1", *work) == "attempt to index a nil value");
}
