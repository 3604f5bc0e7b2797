// What the view of policies says of selectors that no binding's claim tells anything about.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "lens/serve/bounds.h"
#include "tests/lens/serve/shown_server.h"

namespace lens::serve {
namespace {

constexpr char kPolicies[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: labelled, namespace: shop, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: early, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: web}}}
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: v1, kind: Namespace, name: shop}
  - {apiVersion: apps/v1, kind: Deployment, name: wbe}
  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: bew}}}
  - {apiVersion: apps/v1, kind: StatefulSet}
  - {apiVersion: apps/v1, kind: deployment, name: web}
  - {apiVersion: apps/v1, kind: Deploymant, name: web}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  - {apiVersion: v1, kind: Namespace, name: shop}
  - {apiVersion: v1, kind: Namespace, name: pohs}
)";

struct Policies : tests::ShownServer {
  Policies() : ShownServer(1) { CreateAll(kPolicies); }

  json::Value Policy(const std::string& name) {
    const json::Value answer = Json("/api/policies");
    for (const json::Value& one : answer["policies"].items()) {
      if (one["name"].AsString() == name) return one;
    }
    return {};
  }
  // A letter for each selector: whether nothing is selected by it (n), something (s), or that is
  // not known (?).
  std::string Selected(const std::string& name) {
    std::string selected;
    const json::Value policy = Policy(name);
    for (const json::Value& one : policy["selectors"].items()) {
      const json::Value& nothing = one["selectsNothing"];
      selected += nothing.is_null() ? '?' : nothing.AsBool() ? 'n' : 's';
    }
    return selected;
  }
};

}  // namespace

TEST_CASE_METHOD(Policies, "Serve: a selector selects what is there, also before it is claimed") {
  Start(Mode::kLocal);
  CHECK(Selected("early") == "sssnnnnnn");
  CHECK(Selected("everywhere") == "ssn");
  CHECK(Policy("early")["claims"] == json::Value(0));
}

TEST_CASE_METHOD(Policies, "Serve: a template that is claimed and has no binding is governed") {
  sandbox::Backend& backend = fleet->control_plane().backend();
  const kube::Gvr deployments{"apps", "v1", "deployments"};
  kube::Object web = **backend.Get(deployments, {"shop", "web"});
  web.Set({"metadata", "labels"}, json::Value::Object({{api::kPropagationPolicyIdLabel, "id"}}));
  web.Set({"metadata", "annotations"},
          json::Value::Object({{api::kPropagationPolicyNamespaceAnnotation, "shop"},
                               {api::kPropagationPolicyNameAnnotation, "early"}}));
  REQUIRE(backend.Update(deployments, web).ok());
  Start(Mode::kLocal);
  CHECK(Policy("early")["claims"] == json::Value(1));
}

TEST_CASE_METHOD(Policies, "Serve: of so many selectors it is looked up what they select") {
  std::string selectors;
  for (size_t i = 0; i < kMostSelectorsAsked + 8; ++i) {
    absl::StrAppend(&selectors, "\n  - {apiVersion: apps/v1, kind: Deployment, name: no-", i, "}");
  }
  CreateAll(absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: a-lot, namespace: shop}
spec:
  resourceSelectors:)",
                         selectors));
  Start(Mode::kLocal);
  const std::string selected = Selected("a-lot");
  CHECK(selected.size() == kMostSelectorsAsked + 8);
  CHECK(selected.back() == '?');
  CHECK(selected.front() == 'n');
}

}  // namespace lens::serve
