#include "detector/template_filter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/json.h"
#include "config/support.h"

namespace {

kube::Object Parse(const char* text) { return kube::Object(json::Parse(text).value()); }

kube::Object InNamespace(const char* ns) {
  return kube::Object::Make({"apps", "v1", "Deployment"}, {ns, "web"});
}

}  // namespace

TEST_CASE("Karmada's own kinds, events and leases are not templates") {
  const auto filter = detector::TemplateFilter::Create("", {}).value();
  CHECK(filter.AllowsResource({"apps", "v1", "Deployment"}));
  CHECK(filter.AllowsResource({"search.karmada.io", "v1alpha1", "ResourceRegistry"}));
  CHECK_FALSE(filter.AllowsResource({"work.karmada.io", "v1alpha1", "Work"}));
  CHECK_FALSE(filter.AllowsResource({"", "v1", "Event"}));
  CHECK_FALSE(filter.AllowsResource({"events.k8s.io", "v1", "Event"}));
  CHECK_FALSE(filter.AllowsResource({"coordination.k8s.io", "v1", "Lease"}));
}

TEST_CASE("the tables of Karmada's kinds and groups name the same groups") {
  for (const config::KindSupport& kind : config::Kinds()) {
    INFO(kind.resource << " " << kind.group);
    CHECK(api::IsKarmadaGroup(kind.group) == absl::EndsWith(kind.group, api::kGroupSuffix));
  }
  for (const absl::string_view group : api::KarmadaGroups()) {
    INFO(group);
    CHECK(std::any_of(config::Kinds().begin(), config::Kinds().end(),
                      [&](const config::KindSupport& kind) { return kind.group == group; }));
  }
}

TEST_CASE("the tables of Karmada's kinds give them the same versions and names") {
  const std::vector<kube::Resource> resources = {
      api::WorkloadRebalancers(),
      api::CronFederatedHpas(),
      api::FederatedHpas(),
      api::Clusters(),
      api::InterpreterCustomizations(),
      api::InterpreterWebhookConfigurations(),
      api::ServiceExports(),
      api::ServiceImports(),
      api::MultiClusterServices(),
      api::ClusterOverridePolicies(),
      api::ClusterPropagationPolicies(),
      api::ClusterTaintPolicies(),
      api::FederatedResourceQuotas(),
      api::OverridePolicies(),
      api::PropagationPolicies(),
      api::Remedies(),
      api::ClusterResourceBindings(),
      api::ResourceBindings(),
      api::Works(),
  };
  std::set<std::string> known, here;
  for (const kube::Resource& resource : resources) {
    known.insert(
        absl::StrCat(resource.gvk.ApiVersion(), " ", resource.gvk.kind, " ", resource.plural));
  }
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.state != config::State::kHere) continue;
    here.insert(absl::StrCat(kind.group, "/", kind.version, " ", kind.kind, " ", kind.resource));
  }
  CHECK(known == here);
}

TEST_CASE("Kinds that the flag skips are not templates either") {
  const auto filter = detector::TemplateFilter::Create("a.io;c.io/v1/X", {}).value();
  CHECK_FALSE(filter.AllowsResource({"a.io", "v2", "Any"}));
  CHECK_FALSE(filter.AllowsResource({"c.io", "v1", "X"}));
  CHECK(filter.AllowsResource({"c.io", "v1", "Z"}));
  CHECK(filter.AllowsResource({"events.example.io", "v1", "Event"}));
  CHECK_FALSE(detector::TemplateFilter::Create("a/b/c/d", {}).ok());
}

TEST_CASE("Reserved and skipped namespaces hold no templates, default does") {
  const auto filter = detector::TemplateFilter::Create("", {"kube-.*"}).value();
  CHECK(filter.AllowsObject(InNamespace("default")));
  CHECK(filter.AllowsObject(InNamespace("")));
  CHECK_FALSE(filter.AllowsObject(InNamespace("kube-system")));
  CHECK_FALSE(filter.AllowsObject(InNamespace("karmada-es-member1")));
  CHECK_FALSE(filter.AllowsObject(InNamespace("karmada-system")));
  CHECK(filter.AllowsObject(InNamespace("my-kube-system")));
  CHECK_FALSE(detector::TemplateFilter::Create("", {"("}).ok());
}

TEST_CASE("Keys of Karmada's domain are changed by Karmada, those of others by users") {
  const kube::Object before =
      Parse(R"({"metadata":{"name":"a","resourceVersion":"1"},"status":{"x":1}})");
  CHECK(detector::ChangedByKarmada(
      before,
      Parse(R"({"metadata":{"name":"a","resourceVersion":"2","labels":{"k.karmada.io/x":"y"}}})")));
  CHECK_FALSE(detector::ChangedByKarmada(
      before, Parse(R"({"metadata":{"name":"a","labels":{"mine":"y"}}})")));
}

TEST_CASE("A ConfigMap that every API server writes for itself is not a template") {
  const auto filter = detector::TemplateFilter::Create("", {}).value();
  const auto config_map = [](const char* name) {
    return kube::Object::Make({"", "v1", "ConfigMap"}, {"kube-system", name});
  };
  CHECK_FALSE(filter.AllowsObject(config_map("extension-apiserver-authentication")));
  CHECK(filter.AllowsObject(config_map("coredns")));
}

TEST_CASE("Namespaces are judged like any cluster-scoped object, whatever their name") {
  const auto filter = detector::TemplateFilter::Create("", {"kube-.*"}).value();
  for (const char* name : {"karmada-es-member1", "kube-system", "shop"}) {
    CHECK(filter.AllowsObject(kube::Object::Make({"", "v1", "Namespace"}, {"", name})));
  }
}

TEST_CASE("Tokens that cannot be read are named") {
  for (const char* token : {"a/b/c/d", "x.io/v1/K/L"}) {
    const auto refused = detector::TemplateFilter::Create(token, {});
    REQUIRE(refused.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(refused.status().message().find(token) != absl::string_view::npos);
  }
  CHECK(detector::TemplateFilter::Create(";; ;a.io;", {}).ok());
}

TEST_CASE("Only keys of Karmada's domain and the generation count as Karmada's changes") {
  const kube::Object before = Parse(R"({"metadata":{"name":"a","generation":1},"spec":{}})");
  CHECK(detector::ChangedByKarmada(before, Parse(R"({"metadata":{"name":"a","generation":2,
          "labels":{"propagationpolicy.karmada.io/permanent-id":"x"},
          "annotations":{"propagationpolicy.karmada.io/name":"p"}},"spec":{}})")));
  CHECK_FALSE(detector::ChangedByKarmada(before, Parse(R"({"metadata":{"name":"a","generation":2,
          "labels":{"namespace.karmada.io/skip-auto-propagation":"true"}},"spec":{}})")));
  CHECK_FALSE(detector::ChangedByKarmada(
      before, Parse(R"({"metadata":{"name":"a","generation":2},"spec":{"replicas":1}})")));
}
