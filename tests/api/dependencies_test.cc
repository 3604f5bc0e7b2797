#include "api/dependencies.h"

#include <catch2/catch.hpp>

namespace {

json::Value Json(const std::string& text) { return json::Parse(text).value(); }

const char kConfigAndSecret[] = R"([
    {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"},
    {"apiVersion": "v1", "kind": "Secret", "namespace": "ns", "name": "secret"}])";

}  // namespace

TEST_CASE("references are written in the order of Go's fields") {
  // As recorded from upstream v1.18.2 (tests/data/scenarios/dependencies.upstream.json).
  CHECK(api::DependenciesText(Json(kConfigAndSecret)) ==
        R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"},)"
        R"({"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"secret"}])");
}

TEST_CASE("members that are empty are left out, apiVersion and kind are not") {
  CHECK(api::DependenciesText(Json(R"([{"kind": "", "namespace": "", "name": "n",
                                        "labelSelector": null}])")) ==
        R"([{"apiVersion":"","kind":"","name":"n"}])");
}

TEST_CASE("a selector is written with its labels first") {
  CHECK(api::DependenciesText(Json(R"([{"apiVersion": "v1", "kind": "Pod", "labelSelector": {
          "matchExpressions": [{"values": ["1"], "operator": "In", "key": "k"}],
          "matchLabels": {"b": "2", "a": "1"}}}])")) ==
        R"([{"apiVersion":"v1","kind":"Pod","labelSelector":{"matchLabels":{"a":"1","b":"2"},)"
        R"("matchExpressions":[{"key":"k","operator":"In","values":["1"]}]}}])");
  CHECK(api::DependenciesText(Json(R"([{"apiVersion": "v1", "kind": "Pod",
                                        "labelSelector": {"matchLabels": {}}}])")) ==
        R"([{"apiVersion":"v1","kind":"Pod","labelSelector":{}}])");
}

TEST_CASE("no list is null, an empty one is empty, and strings are escaped as Go does") {
  CHECK(api::DependenciesText({}) == "null");
  CHECK(api::DependenciesText(json::Value::Array()) == "[]");
  CHECK(api::DependenciesText(Json(R"([{"apiVersion": "v1", "kind": "A<B", "name": "\"n"}])")) ==
        R"([{"apiVersion":"v1","kind":"A\u003cB","name":"\"n"}])");
}

TEST_CASE("the same references in another order are the same") {
  const std::string turned =
      R"([{"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"secret"},)"
      R"({"name":"config","apiVersion":"v1","kind":"ConfigMap","namespace":"ns"}])";
  CHECK(api::NamesSameDependencies(turned, Json(kConfigAndSecret)));
  CHECK(api::NamesSameDependencies("null", json::Value::Array()));
  CHECK(api::NamesSameDependencies("[]", {}));
}

TEST_CASE("other references, or what is not a list, are not the same") {
  const json::Value list = Json(kConfigAndSecret);
  CHECK_FALSE(api::NamesSameDependencies("[]", list));
  CHECK_FALSE(api::NamesSameDependencies("null", list));
  CHECK_FALSE(api::NamesSameDependencies("", json::Value::Array()));
  CHECK_FALSE(api::NamesSameDependencies("{}", json::Value::Array()));
  CHECK_FALSE(api::NamesSameDependencies(
      R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"}])", list));
  CHECK_FALSE(api::NamesSameDependencies(
      R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"},)"
      R"({"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"}])",
      list));
}

TEST_CASE("a list is printed as Go's %+v prints it") {
  CHECK(api::PrintedDependencies({}) == "[]");
  CHECK(api::PrintedDependencies(Json(kConfigAndSecret)) ==
        "[{APIVersion:v1 Kind:ConfigMap Namespace:ns Name:config LabelSelector:nil} "
        "{APIVersion:v1 Kind:Secret Namespace:ns Name:secret LabelSelector:nil}]");
  CHECK(api::PrintedDependencies(Json(R"([{"apiVersion": "v1", "kind": "Pod", "labelSelector": {
          "matchLabels": {"a": "1"},
          "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}]}}])")) ==
        "[{APIVersion:v1 Kind:Pod Namespace: Name: LabelSelector:&LabelSelector{"
        "MatchLabels:map[string]string{a: 1,},MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}}]");
}
