// Replays tests/data/overrides: what we make of an object must be what upstream makes of it.
#include "overrides/apply.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"
#include "overrides/internal/applied_record.h"

namespace {

using json::Value;

Value ReadYaml(const std::string& path) {
  absl::StatusOr<Value> value = yaml::Parse(base::ReadFile(path).value());
  INFO(value.status());
  REQUIRE(value.ok());
  return *std::move(value);
}

Value ParseJson(absl::string_view text) {
  absl::StatusOr<Value> value = json::Parse(text);
  INFO(text << value.status());
  REQUIRE(value.ok());
  return *std::move(value);
}

kube::Object PolicyObject(const Value& policy) {
  Value root = Value::Object({{"apiVersion", "policy.karmada.io/v1alpha1"},
                              {"kind", policy["kind"]},
                              {"spec", policy["spec"]}});
  root.Set({"metadata", "name"}, policy["name"]);
  if (policy.Has("namespace")) root.Set({"metadata", "namespace"}, policy["namespace"]);
  return kube::Object(std::move(root));
}

// Only what the cache would give: OverridePolicies of the object's namespace.
overrides::Policies PoliciesOf(const Value& list, absl::string_view ns) {
  overrides::Policies policies;
  for (const Value& item : list.items()) {
    const auto policy = std::make_shared<const overrides::Policy>(kube::Share(PolicyObject(item)));
    if (policy->ns().empty()) policies.cluster_wide.push_back(policy);
    if (!policy->ns().empty() && policy->ns() == ns) policies.of_namespace.push_back(policy);
  }
  return policies;
}

kube::Object ClusterOf(const Value& test) {
  return test.Has("cluster") ? kube::Object(test["cluster"])
                             : kube::Object(ParseJson(R"({"metadata": {"name": "member1"}})"));
}

overrides::Application Run(const Value& test) {
  const kube::Object object(test["object"]);
  const kube::Object cluster = ClusterOf(test);
  return overrides::Apply(PoliciesOf(test["policies"], object.ns()), object,
                          api::ClusterView(cluster));
}

TEST_CASE("overrides make of an object what upstream makes of it") {
  const Value cases = ReadYaml("tests/data/overrides/cases.yaml");
  const Value recorded = ReadYaml("tests/data/overrides/cases.upstream.json");
  CHECK(cases.size() == recorded.size());
  for (const Value& test : cases.items()) {
    const Value& upstream = recorded[test["name"].AsString()];
    REQUIRE(upstream.is_object());
    const overrides::Application ours = Run(test);
    INFO(test["name"].AsString() << "\nours: " << ours.status << " "
                                 << json::Write(ours.object.root())
                                 << "\nupstream: " << json::Write(upstream));
    const bool fails = upstream.Has("error") || test.Has("differs");
    CHECK(ours.status.ok() == !fails);
    CHECK((ours.failed != nullptr) == fails);
    if (fails || !ours.status.ok()) continue;
    CHECK(json::Write(ours.object.root()) == json::Write(upstream["object"]));
    CHECK(overrides::AppliedRecord(ours.of_cluster_policies) == upstream["cluster"].AsString());
    CHECK(overrides::AppliedRecord(ours.of_policies) == upstream["namespaced"].AsString());
  }
}

// Returns the error that a ClusterOverridePolicy with these overriders gives for a Pod.
std::string ErrorOf(absl::string_view overriders) {
  Value test = ParseJson(R"({"object": {"apiVersion": "v1", "kind": "Pod",
      "metadata": {"name": "x", "namespace": "shop"}, "data": {"f": "{}", "y": "a: ["},
      "spec": {"containers": [{"name": "c", "image": "Bad"}]}},
      "policies": [{"kind": "ClusterOverridePolicy", "name": "p"}]})");
  test.Mutable("policies")
      .MutableAt(0)
      .Set("spec", Value::Object(
                       {{"overrideRules",
                         Value::Array({Value::Object({{"overriders", Value::Object()}}),
                                       Value::Object({{"overriders", ParseJson(overriders)}})})}}));
  const overrides::Application application = Run(test);
  REQUIRE_FALSE(application.status.ok());
  CHECK(application.failed->name() == "p");
  return std::string(application.status.message());
}

TEST_CASE("an error names the overrider in the policy and the path in the object") {
  const std::string rule = "spec.overrideRules[1].overriders.";
  CHECK(
      ErrorOf(R"({"plaintext": [{"path": "/spec/a", "operator": "add", "value": 1},
                                  {"path": "/spec/b", "operator": "remove"}]})") ==
      rule +
          R"(plaintext[1]: remove operation does not apply to "/spec/b": the path does not exist)");
  CHECK(
      ErrorOf(R"({"imageOverrider": [{"component": "Tag", "operator": "remove"}]})") ==
      rule +
          R"(imageOverrider[0]: image "Bad" at /spec/containers/0/image: repository name must be lowercase)");
  CHECK(
      ErrorOf(R"({"imageOverrider": [{"component": "Tag", "operator": "remove",
                                        "predicate": {"path": "/spec/containers/4/image"}}]})") ==
      rule +
          R"(imageOverrider[0]: predicate path "/spec/containers/4/image" does not lead to an image: )"
          "4 is not an index of the list containers");
  CHECK(ErrorOf(R"({"fieldOverrider": [{"fieldPath": "/data/g", "json": [
                     {"subPath": "/a", "operator": "add", "value": 1}]}]})") ==
        rule + R"(fieldOverrider[0]: fieldPath "/data/g" does not exist: there is no g)");
  CHECK(
      ErrorOf(R"({"fieldOverrider": [{"fieldPath": "/data/f", "json": [
                     {"subPath": "/a", "operator": "remove"}]}]})") ==
      rule +
          R"(fieldOverrider[0]: JSON in /data/f: remove operation does not apply to "/a": the path does not exist)");
  CHECK(absl::StartsWith(ErrorOf(R"({"fieldOverrider": [{"fieldPath": "/data/y", "yaml": [
                                      {"subPath": "/a", "operator": "remove"}]}]})"),
                         rule + "fieldOverrider[0]: YAML in /data/y: "));
}

// Returns what a policy of the kind says to these plaintext overriders of a ConfigMap.
absl::Status StatusOf(absl::string_view kind, absl::string_view plaintext) {
  Value test = ParseJson(R"({"object": {"apiVersion": "v1", "kind": "ConfigMap",
      "metadata": {"name": "harmless", "namespace": "team"}, "data": {"a": "b"}},
      "policies": [{"name": "p", "spec": {"overriders": {}}}]})");
  Value& policy = test.Mutable("policies").MutableAt(0);
  policy.Set("kind", kind);
  if (kind == "OverridePolicy") policy.Set("namespace", "team");
  policy.Set({"spec", "overriders", "plaintext"}, ParseJson(plaintext));
  const overrides::Application application = Run(test);
  CHECK((application.failed != nullptr) == !application.status.ok());
  return application.status;
}

// What a policy may write must not depend on what Karmada's account may do in members.
TEST_CASE("no policy makes another object of a template") {
  const std::string stays = ": group, kind, namespace and name of a template must stay";
  for (const char* kind : {"OverridePolicy", "ClusterOverridePolicy"}) {
    const auto error = [&](absl::string_view plaintext) {
      return std::string(StatusOf(kind, plaintext).message());
    };
    CHECK(error(R"([
        {"path": "/apiVersion", "operator": "replace", "value": "rbac.authorization.k8s.io/v1"},
        {"path": "/kind", "operator": "replace", "value": "ClusterRoleBinding"},
        {"path": "/metadata/namespace", "operator": "remove"},
        {"path": "/data", "operator": "remove"}])") ==
          R"(spec.overriders: apiVersion is changed from "v1" to "rbac.authorization.k8s.io/v1")" +
              stays);
    CHECK(error(R"([{"path": "/kind", "operator": "replace", "value": "Secret"}])") ==
          R"(spec.overriders: kind is changed from "ConfigMap" to "Secret")" + stays);
    CHECK(
        error(
            R"([{"path": "/metadata/namespace", "operator": "replace", "value": "kube-system"}])") ==
        R"(spec.overriders: metadata.namespace is changed from "team" to "kube-system")" + stays);
    CHECK(error(R"([{"path": "/metadata/namespace", "operator": "remove"}])") ==
          R"(spec.overriders: metadata.namespace is changed from "team" to nothing)" + stays);
    CHECK(
        error(R"([{"path": "/metadata", "operator": "replace", "value": {"name": "harmless"}}])") ==
        R"(spec.overriders: metadata.namespace is changed from "team" to nothing)" + stays);
    CHECK(error(R"([{"path": "/metadata/name", "operator": "replace", "value": "other"}])") ==
          R"(spec.overriders: metadata.name is changed from "harmless" to "other")" + stays);
    CHECK(error(R"([{"path": "", "operator": "replace", "value": {"apiVersion": "v1",
                     "kind": "Namespace", "metadata": {"name": "harmless"}}}])") ==
          R"(spec.overriders: kind is changed from "ConfigMap" to "Namespace")" + stays);
    CHECK(error(R"([{"path": "/apiVersion", "operator": "replace", "value": "a/b/c"}])") ==
          R"(spec.overriders: apiVersion is changed from "v1" to "a/b/c")" + stays);
    CHECK(
        StatusOf(kind, R"([{"path": "/apiVersion", "operator": "replace", "value": "v2"}])").ok());
    CHECK(StatusOf(kind, R"([{"path": "/data/a", "operator": "replace", "value": "c"}])").ok());
  }
}

}  // namespace
