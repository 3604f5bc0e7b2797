// What Go's encoder writes: fields in the order of their declaration, without what `omitempty`
// drops.
#include "kube/schema/go_text.h"

#include <catch2/catch.hpp>

namespace kube::schema {
namespace {

std::string Text(const Struct& type, const char* value) {
  return GoText(type, json::Parse(value).value());
}

TEST_CASE("fields are written in the order in which the struct declares them") {
  CHECK(Text(DependentObjectReference(), R"({"apiVersion":"v1","kind":"Secret","labelSelector":{
    "matchExpressions":[{"key":"a","operator":"In","values":["<b>"]}],"matchLabels":{"z":"1","a":"2"}},
    "name":"n","namespace":"ns","own":1})") ==
        R"({"apiVersion":"v1","kind":"Secret","namespace":"ns","name":"n","labelSelector":)"
        R"({"matchLabels":{"a":"2","z":"1"},"matchExpressions":[{"key":"a","operator":"In",)"
        R"("values":["\u003cb\u003e"]}]}})");
}

TEST_CASE("what a struct lacks is left out with omitempty, and its zero value else") {
  CHECK(Text(DependentObjectReference(), "{}") == R"({"apiVersion":"","kind":""})");
  CHECK(Text(Component(), R"({"replicaRequirements":{}})") ==
        R"({"name":"","replicas":0,"replicaRequirements":{}})");
  CHECK(Text(Overriders(), R"({"plaintext":[{"path":"/a"}],"labelsOverrider":[{}]})") ==
        R"({"plaintext":[{"path":"/a","operator":"","value":null}],)"
        R"("labelsOverrider":[{"operator":"","value":null}]})");
}

}  // namespace
}  // namespace kube::schema
