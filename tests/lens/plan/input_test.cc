#include "lens/plan/input.h"

#include <catch2/catch.hpp>

namespace lens::plan {
namespace {

constexpr char kText[] = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata:
  name: small
  namespace: shop
spec:
  overrideRules:
  - targetCluster:
      clusterNames: [m1]
    overriders:
      plaintext:
      - path: /spec/replicas
        operator: replace
)";

absl::StatusOr<std::vector<InputObject>> Read(const std::string& text) {
  return ObjectsOf(*tool::ParseDocuments("p.yaml", text));
}

}  // namespace

TEST_CASE(
    "Plan: a field has the line where it is written, and one that is not written its parent's") {
  const auto objects = Read(kText);
  REQUIRE(objects.ok());
  const InputObject& policy = objects->at(1);
  CHECK(policy.place().ToString() == "p.yaml:5");
  CHECK(policy.PlaceOf("spec.overrideRules[0].targetCluster.clusterNames[0]").line == 13);
  CHECK(policy.PlaceOf("spec.overrideRules[0].overriders.plaintext[0]").line == 16);
  CHECK(policy.PlaceOf("spec.overrideRules[0].overriders.plaintext[0].value").line == 16);
  CHECK(policy.PlaceOf("spec.overrideRules[7].overriders").line == 11);
  CHECK(policy.PlaceOf("nothing").line == 5);
}

TEST_CASE("Plan: items of a list have places of their own") {
  const auto objects = Read(R"(apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: a}
  apiVersion: v1
  kind: ConfigMap
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
)");
  REQUIRE(objects.ok());
  CHECK(objects->at(0).place().line == 4);
  CHECK(objects->at(1).place().line == 7);
  CHECK(objects->at(1).PlaceOf("metadata.name").line == 9);
  // A list of hundreds of clusters has one text and is looked through once.
  CHECK(objects->at(0).document.text == objects->at(1).document.text);
  CHECK(objects->at(0).places == objects->at(1).places);
}

TEST_CASE("Plan: an object that is there twice, in whatever version, is refused with both places") {
  const auto objects = Read(R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
---
apiVersion: apps/v1beta1
kind: Deployment
metadata: {name: a}
)");
  CHECK(objects.status().message() == "p.yaml:5: Deployment a is also at p.yaml:1");
}

TEST_CASE("Plan: a name that YAML takes for a boolean or a number is refused as such") {
  const std::string object = "apiVersion: v1\nkind: ConfigMap\nmetadata: ";
  CHECK(Read(object + "{name: y}\n").status().message() ==
        "p.yaml:1: metadata.name of the ConfigMap is the boolean true, not a string: put it in "
        "quotes (YAML takes y, n, yes, no, on and off for booleans)");
  CHECK(Read(object + "{name: 7}\n").status().message() ==
        "p.yaml:1: metadata.name of the ConfigMap is the number 7, not a string: put it in quotes");
  CHECK(Read(object + "{}\n").status().message() == "p.yaml:1: the ConfigMap has no metadata.name");
}

TEST_CASE("Plan: a name that is there twice is refused, as when --- is missing between objects") {
  const auto objects = Read(R"(apiVersion: v1
kind: ConfigMap
metadata: {name: a}
apiVersion: v1
)");
  CHECK(objects.status().message() == "p.yaml:4: \"apiVersion\" is also at line 1");
}

}  // namespace lens::plan
