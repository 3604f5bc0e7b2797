#include "detector/policy_selectors.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/resources.h"
#include "tests/support/members_fixture.h"

namespace {

using api::SelectorMatch;
using detector::PolicySelectors;

// Returns the selectors of a policy of namespace `ns`; "" stands for a cluster policy.
PolicySelectors Of(const std::string& ns, const char* selectors) {
  const kube::Resource& kind =
      ns.empty() ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
  kube::Object policy = kube::Object::Make(kind.gvk, {ns, "p"});
  policy.Set({"spec", "resourceSelectors"}, tests::Json(selectors));
  return PolicySelectors(policy);
}

kube::Object Web(const std::string& ns = "ns") {
  kube::Object web = kube::Object::Make({"apps", "v1", "Deployment"}, {ns, "web"});
  web.SetLabel("app", "web");
  return web;
}

constexpr char kNamesWeb[] = R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}])";

TEST_CASE("the best selector counts, wherever it is in the list") {
  const PolicySelectors selectors = Of("ns", R"([
      {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"},
      {"apiVersion": "apps/v1", "kind": "Deployment"},
      {"apiVersion": "apps/v1", "kind": "Deployment",
       "labelSelector": {"matchLabels": {"app": "web"}}},
      {"apiVersion": "v1", "kind": "ConfigMap", "name": "web"}])");
  CHECK(selectors.Match(Web()) == SelectorMatch::kLabels);
  kube::Object plain = Web();
  plain.EraseLabel("app");
  CHECK(selectors.Match(plain) == SelectorMatch::kAll);
  CHECK(selectors.Match(kube::Object::Make({"", "v1", "ConfigMap"}, {"ns", "web"})) ==
        SelectorMatch::kName);
  CHECK(selectors.Match(kube::Object::Make({"", "v1", "ConfigMap"}, {"ns", "x"})) ==
        SelectorMatch::kNone);
  CHECK(selectors.Contain({"", "v1", "ConfigMap"}));
  CHECK_FALSE(selectors.Contain({"", "v1", "Secret"}));
  CHECK_FALSE(selectors.Contain({"apps", "v1beta1", "Deployment"}));
}

TEST_CASE("a selector names objects of its namespace, a namespaced policy's those of the policy") {
  CHECK(Of("ns", kNamesWeb).Name(Web()));
  CHECK_FALSE(Of("ns", kNamesWeb).Name(Web("other")));
  CHECK_FALSE(Of("", kNamesWeb).Name(Web()));
  CHECK(Of("", R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns",
                    "name": "web"}])")
            .Name(Web()));
  CHECK_FALSE(Of("ns", R"([{"apiVersion": "apps/v1", "kind": "Deployment"}])").Name(Web()));
  const kube::Object role =
      kube::Object::Make({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, {"", "reader"});
  CHECK(Of("", R"([{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                    "name": "reader"}])")
            .Name(role));
}

}  // namespace
