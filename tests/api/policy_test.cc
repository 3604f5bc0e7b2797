#include "api/policy.h"

#include <catch2/catch.hpp>

#include "api/cluster_affinity.h"

namespace {

using api::SelectorMatch;

json::Value Json(const char* text) { return json::Parse(text).value(); }

bool AffinityMatches(const char* affinity, const char* cluster) {
  const kube::Object object(Json(cluster));
  return api::ClusterAffinity::FromJson(Json(affinity)).Matches(api::ClusterView(object));
}

}  // namespace

TEST_CASE("a selector ranks by name, then labels, then everything") {
  const kube::Object object(Json(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "ns", "labels": {"app": "x"}}})"));
  struct Case {
    const char* selector;
    SelectorMatch want;
  };
  const Case cases[] = {
      {R"({"apiVersion":"apps/v1","kind":"Deployment"})", SelectorMatch::kAll},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","namespace":"ns"})", SelectorMatch::kAll},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","namespace":"other"})", SelectorMatch::kNone},
      {R"({"apiVersion":"v1","kind":"Deployment"})", SelectorMatch::kNone},
      {R"({"apiVersion":"apps/v1","kind":"StatefulSet"})", SelectorMatch::kNone},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web"})", SelectorMatch::kName},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web",
           "labelSelector":{"matchLabels":{"app":"y"}}})",
       SelectorMatch::kName},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","name":"other",
           "labelSelector":{"matchLabels":{"app":"x"}}})",
       SelectorMatch::kNone},
      {R"({"apiVersion":"apps/v1","kind":"Deployment",
           "labelSelector":{"matchLabels":{"app":"x"}}})",
       SelectorMatch::kLabels},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","labelSelector":{}})",
       SelectorMatch::kLabels},
      {R"({"apiVersion":"apps/v1","kind":"Deployment",
           "labelSelector":{"matchLabels":{"app":"y"}}})",
       SelectorMatch::kNone},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","labelSelector":
           {"matchExpressions":[{"key":"app","operator":"Oops"}]}})",
       SelectorMatch::kNone},
  };
  for (const Case& c : cases) {
    INFO(c.selector);
    CHECK(api::ResourceSelector::FromJson(Json(c.selector)).Rank(object) == c.want);
  }
}

TEST_CASE("the best selector decides a policy's rank") {
  const kube::Object policy(Json(R"({"spec": {"priority": 3,
      "activationPreference": "Lazy", "dependentOverrides": ["o1"],
      "resourceSelectors": [{"apiVersion": "v1", "kind": "Pod"},
                            {"apiVersion": "v1", "kind": "Pod", "name": "p"}]}})"));
  const kube::Object pod(Json(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})"));
  const api::PolicyView view(policy);
  CHECK(api::BestMatch(view.ResourceSelectors(), pod) == SelectorMatch::kName);
  CHECK(view.Priority() == 3);
  CHECK(view.IsLazy());
  CHECK(view.DependentOverrides() == std::vector<std::string>{"o1"});
}

TEST_CASE("all criteria of a cluster affinity must hold") {
  const char* cluster = R"({"metadata": {"name": "m1", "labels": {"env": "prod"}},
      "spec": {"provider": "aws", "zones": ["z1", "z2"]}})";
  struct Case {
    const char* affinity;
    bool want;
  };
  const Case cases[] = {
      {R"({})", true},
      {R"({"clusterNames": ["m1", "m2"]})", true},
      {R"({"clusterNames": ["m2"]})", false},
      {R"({"clusterNames": []})", true},
      {R"({"clusterNames": ["m1"], "exclude": ["m1"]})", false},
      {R"({"labelSelector": {"matchLabels": {"env": "prod"}}})", true},
      {R"({"labelSelector": {"matchLabels": {"env": "dev"}}, "clusterNames": ["m1"]})", false},
      {R"({"labelSelector": {"matchExpressions": [{"key": "env", "operator": "Bad"}]}})", false},
  };
  for (const Case& c : cases) {
    INFO(c.affinity);
    CHECK(AffinityMatches(c.affinity, cluster) == c.want);
  }
}

TEST_CASE("a placement means what any of its affinities means") {
  struct Case {
    const char* placement;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"null", {"m1", "m2", "m3"}},
      {"{}", {"m1", "m2", "m3"}},
      {R"({"clusterAffinity": {"clusterNames": ["m1"]}})", {"m1"}},
      {R"({"clusterAffinities": [{"affinityName": "a", "clusterNames": ["m1"]},
                                 {"affinityName": "b", "clusterNames": ["m3"]}]})",
       {"m1", "m3"}},
      {R"({"clusterAffinities": [{"affinityName": "a", "clusterNames": ["m1"],
           "overflowAffinities": [{"affinityName": "c", "clusterNames": ["m2"]}]}]})",
       {"m1", "m2"}},
  };
  for (const Case& c : cases) {
    INFO(c.placement);
    const std::vector<api::ClusterAffinity> affinities = api::AffinitiesOf(Json(c.placement));
    std::vector<std::string> meant;
    for (const char* name : {"m1", "m2", "m3"}) {
      const kube::Object cluster = kube::Object::Make({"", "v1", "Cluster"}, {"", name});
      for (const api::ClusterAffinity& affinity : affinities) {
        if (affinity.Matches(api::ClusterView(cluster))) meant.emplace_back(name);
      }
    }
    CHECK(meant == c.want);
  }
}

TEST_CASE("field expressions see provider, region and zones") {
  const char* cluster =
      R"({"metadata": {"name": "m1"}, "spec": {"provider": "aws", "zones": ["z1", "z2"]}})";
  struct Case {
    const char* expression;
    bool want;
  };
  const Case cases[] = {
      {R"({"key":"provider","operator":"In","values":["aws","gcp"]})", true},
      {R"({"key":"provider","operator":"NotIn","values":["aws"]})", false},
      {R"({"key":"provider","operator":"In","values":[]})", false},
      {R"({"key":"provider","operator":"In","values":["a),b in (c"]})", false},
      {R"({"key":"region","operator":"NotIn","values":["us"]})", true},  // Unset matches NotIn.
      {R"({"key":"region","operator":"Exists"})", false},
      {R"({"key":"region","operator":"DoesNotExist"})", true},
      {R"({"key":"zone","operator":"In","values":["z2","z9"]})", true},
      {R"({"key":"zone","operator":"NotIn","values":["z2"]})", false},
      {R"({"key":"zone","operator":"NotIn","values":["z9"]})", true},
      {R"({"key":"zone","operator":"Exists"})", true},
      {R"({"key":"zone","operator":"DoesNotExist"})", false},
      {R"({"key":"zone","operator":"Gt","values":["z0"]})", false},
  };
  for (const Case& c : cases) {
    INFO(c.expression);
    const std::string affinity =
        absl::StrCat(R"({"fieldSelector":{"matchExpressions":[)", c.expression, "]}}");
    CHECK(AffinityMatches(affinity.c_str(), cluster) == c.want);
  }
}

TEST_CASE("zone In matches no cluster without zones") {
  CHECK_FALSE(AffinityMatches(
      R"({"fieldSelector":{"matchExpressions":[{"key":"zone","operator":"In","values":["z"]}]}})",
      R"({"metadata": {"name": "m1"}})"));
}
