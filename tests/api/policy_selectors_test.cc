#include "api/policy_selectors.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace {

using api::PolicySelectors;
using api::SelectorMatch;

// Returns the selectors of a policy of namespace `ns`; "" stands for a cluster policy.
PolicySelectors Of(const std::string& ns, const char* selectors) {
  const kube::Resource& kind =
      ns.empty() ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
  kube::Object policy = kube::Object::Make(kind.gvk, {ns, "p"});
  policy.Set({"spec", "resourceSelectors"}, json::Parse(selectors).value());
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

TEST_CASE("of many selectors those count that an object may match") {
  std::string list = R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns",
                          "labelSelector": {"matchLabels": {"app": "web"}}})";
  for (int i = 0; i < 100; ++i) {
    list +=
        absl::StrCat(R"(,{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a)", i, R"("})");
  }
  const PolicySelectors selectors = Of("", (list + "]").c_str());
  const auto rank = [&](const std::string& ns, const std::string& name) {
    return selectors.Match(kube::Object::Make({"apps", "v1", "Deployment"}, {ns, name}));
  };
  CHECK(rank("any", "a7") == SelectorMatch::kName);
  CHECK(rank("any", "b") == SelectorMatch::kNone);
  CHECK(selectors.Match(Web()) == SelectorMatch::kLabels);
  CHECK(selectors.Match(Web("other")) == SelectorMatch::kNone);
}

TEST_CASE("what may be selected depends on kind, namespace and name") {
  const bool many = GENERATE(false, true);
  std::string list = R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns",
                          "labelSelector": {"matchLabels": {"app": "web"}}},
                         {"apiVersion": "v1", "kind": "ConfigMap", "name": "config"})";
  for (int i = 0; many && i < 100; ++i) {
    list += absl::StrCat(R"(,{"apiVersion": "v1", "kind": "Secret", "name": "s)", i, R"("})");
  }
  const PolicySelectors selectors = Of("", (list + "]").c_str());
  const auto may_be = [&](const kube::Gvk& gvk, const kube::ObjectKey& key) {
    return selectors.MaySelect(api::ObjectReference::Of(kube::Object::Make(gvk, key)));
  };
  CHECK(may_be({"apps", "v1", "Deployment"}, {"ns", "anything"}));
  CHECK_FALSE(may_be({"apps", "v1", "Deployment"}, {"other", "anything"}));
  CHECK_FALSE(may_be({"apps", "v1", "StatefulSet"}, {"ns", "anything"}));
  CHECK(may_be({"", "v1", "ConfigMap"}, {"other", "config"}));
  CHECK_FALSE(may_be({"", "v1", "ConfigMap"}, {"other", "s7"}));
  CHECK(may_be({"", "v1", "Secret"}, {"other", "s7"}) == many);
}

}  // namespace
