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
  if (absl::StrContains(path, "/deployments/gone")) {
    return Answer(404, R"({"kind":"Status","reason":"NotFound",
                           "details":{"kind":"deployments","group":"apps","name":"gone"}})");
  }
  const bool is_object = absl::StrContains(path, "/leases/") ||
                         absl::StrContains(path, "/resourcebindings/") ||
                         absl::StrContains(path, "/works/");
  if (is_object) return Answer(404, R"({"kind":"Status","reason":"NotFound"})");
  return Answer(200, R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[]})");
}

using AnswerFn = std::function<const char*(const std::string& path)>;

// Reads the chain of an object from a server that refuses the paths that `refuses` names. What
// `has` returns, unless it is nullptr, is the server's answer.
template <class Refuses>
absl::StatusOr<lens::why::Chain> ReadAbout(const kube::Resource& kind, const kube::ObjectKey& key,
                                           Refuses refuses, const AnswerFn& has) {
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
  discovery.resources.push_back({api::ClusterPropagationPolicies(), {"get", "list"}, {}, true});
  discovery.resources.push_back({api::Clusters(), {"get", "list"}, {}, true});
  lens::why::Question question;
  question.gvk = kind.gvk;
  question.key = key;
  const kube::ConnectionConfig no_proxy;
  return lens::why::ReadChain({client, discovery, no_proxy}, std::move(question), {});
}

// The same of Deployment shop/web.
template <class Refuses>
absl::StatusOr<lens::why::Chain> Read(Refuses refuses, const AnswerFn& has = nullptr) {
  return ReadAbout(kDeployments, {"shop", "web"}, refuses, has);
}

// A ClusterPropagationPolicy for all Deployments, and one of them.
constexpr char kForAll[] = R"({"apiVersion":"policy.karmada.io/v1alpha1",
  "kind":"ClusterPropagationPolicy",
  "metadata":{"name":"all","labels":{"clusterpropagationpolicy.karmada.io/permanent-id":"id"}},
  "spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}]}})";
constexpr char kDeploymentsOfShop[] = R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[
  {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop",
    "labels":{"clusterpropagationpolicy.karmada.io/permanent-id":"id"},
    "annotations":{"clusterpropagationpolicy.karmada.io/name":"all"}}}]})";

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

TEST_CASE("Lens: what a cluster policy selects is read in all namespaces when it names none") {
  const auto nothing_refused = [](const std::string&) { return false; };
  std::string asked;  // The path of the list of all Deployments.
  const auto has = [&](const std::string& path) -> const char* {
    if (absl::StrContains(path, "/clusterpropagationpolicies/all")) return kForAll;
    if (!absl::StartsWith(path, "/apis/apps/v1/deployments?")) return nullptr;
    asked = path;
    return kDeploymentsOfShop;
  };
  const kube::Resource& kind = api::ClusterPropagationPolicies();
  const auto unbound = ReadAbout(kind, {"", "all"}, nothing_refused, has);
  REQUIRE(unbound.ok());
  REQUIRE(unbound->candidates.size() == 1);
  CHECK_FALSE(absl::StrContains(asked, "labelSelector"));
  CHECK(lens::why::Diagnose(*unbound).headline ==
        "ClusterPropagationPolicy all governs 1 template, of which 1 has not arrived: Deployment "
        "shop/web is claimed and has no binding yet");

  // Once it governs something, only what it has claimed.
  constexpr char kBindings[] = R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[
    {"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
     "metadata":{"name":"web-deployment","namespace":"shop",
       "labels":{"clusterpropagationpolicy.karmada.io/permanent-id":"id"},
       "annotations":{"clusterpropagationpolicy.karmada.io/name":"all"}},
     "spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web"}}}]})";
  const auto bound =
      ReadAbout(kind, {"", "all"}, nothing_refused, [&](const std::string& path) -> const char* {
        return absl::StrContains(path, "/v1alpha2/resourcebindings?") ? kBindings : has(path);
      });
  REQUIRE(bound.ok());
  CHECK(absl::StrContains(asked,
                          "labelSelector=clusterpropagationpolicy.karmada.io%2Fpermanent-id%3Did"));
}

TEST_CASE("Lens: nobody says that nothing matches a policy whose templates may not be listed") {
  const auto chain = ReadAbout(
      api::ClusterPropagationPolicies(), {"", "all"},
      [](const std::string& path) { return absl::StrContains(path, "/deployments"); },
      [](const std::string& path) -> const char* {
        return absl::StrContains(path, "/clusterpropagationpolicies/all") ? kForAll : nullptr;
      });
  REQUIRE(chain.ok());
  const lens::why::Diagnosis diagnosis = lens::why::Diagnose(*chain);
  CHECK(diagnosis.findings.empty());
  CHECK_FALSE(diagnosis.arrived);
}

TEST_CASE("Lens: a namespace that is being deleted is read for what is not in it") {
  constexpr char kSpace[] = R"({"apiVersion":"v1","kind":"Namespace",
    "metadata":{"name":"shop","deletionTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"finalizers":["kubernetes"]}})";
  const auto chain = ReadAbout(
      kDeployments, {"shop", "gone"}, [](const std::string&) { return false; },
      [&](const std::string& path) -> const char* {
        return path == "/api/v1/namespaces/shop" ? kSpace : nullptr;
      });
  REQUIRE(chain.ok());
  CHECK(lens::why::Diagnose(*chain).headline ==
        "there is no Deployment shop/gone in the control plane; its namespace is being deleted "
        "since 2026-01-01T00:00:00Z");
}

TEST_CASE("Lens: the namespace of the Works of a Cluster is read with it") {
  constexpr char kCluster[] = R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster",
    "metadata":{"name":"m1"},"spec":{"syncMode":"Push"},
    "status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  constexpr char kSpace[] = R"({"apiVersion":"v1","kind":"Namespace",
    "metadata":{"name":"karmada-es-m1","deletionTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"finalizers":["kubernetes"]}})";
  const auto chain = ReadAbout(
      api::Clusters(), {"", "m1"}, [](const std::string&) { return false; },
      [&](const std::string& path) -> const char* {
        if (absl::EndsWith(path, "/clusters/m1")) return kCluster;
        return path == "/api/v1/namespaces/karmada-es-m1" ? kSpace : nullptr;
      });
  REQUIRE(chain.ok());
  const lens::why::Diagnosis diagnosis = lens::why::Diagnose(*chain);
  REQUIRE(diagnosis.cause != nullptr);
  CHECK(diagnosis.cause->check == "cluster-works-leave");
}
