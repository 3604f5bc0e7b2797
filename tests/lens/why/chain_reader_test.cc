// What a chain is when the control plane refuses some of the questions.
#include "lens/why/chain_reader.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "lens/why/diagnosis.h"
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

// Reads the chain of Deployment shop/web from a server that refuses the paths that `refuses` names.
template <class Refuses>
absl::StatusOr<lens::why::Chain> Read(Refuses refuses) {
  const auto transport = std::make_shared<ScriptedTransport>(
      [=](const kube::HttpRequest& request, int) -> absl::StatusOr<kube::HttpResponse> {
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
