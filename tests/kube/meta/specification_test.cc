#include "kube/meta/specification.h"

#include <catch2/catch.hpp>

namespace {

kube::Object Parse(const char* text) { return kube::Object(json::Parse(text).value()); }

}  // namespace

TEST_CASE("Changes of status, version and managed fields are not changes of the specification") {
  const kube::Object before =
      Parse(R"({"metadata":{"name":"a","resourceVersion":"1"},"status":{"x":1}})");
  CHECK_FALSE(kube::SpecificationChanged(
      before, Parse(R"({"metadata":{"name":"a","resourceVersion":"2"},"status":{"x":2}})")));
  CHECK(kube::SpecificationChanged(
      before,
      Parse(R"({"metadata":{"name":"a","resourceVersion":"2","labels":{"k.karmada.io/x":"y"}}})")));
}

TEST_CASE("A status written without a subresource is not a change of the specification") {
  const kube::Object before =
      Parse(R"({"metadata":{"name":"a","generation":3},"spec":{"n":1},"status":{"x":1}})");
  const auto changed = [&](const char* after) {
    return kube::SpecificationChanged(before, Parse(after));
  };
  CHECK_FALSE(
      changed(R"({"metadata":{"name":"a","generation":4},"spec":{"n":1},"status":{"x":2}})"));
  CHECK_FALSE(changed(R"({"metadata":{"name":"a","generation":4},"spec":{"n":1}})"));
  // Edits of the specification, of a label together with the status, and one that was undone.
  CHECK(changed(R"({"metadata":{"name":"a","generation":4},"spec":{"n":2},"status":{"x":2}})"));
  CHECK(changed(R"({"metadata":{"name":"a","generation":4,"labels":{"l":"m"}},"spec":{"n":1},
                    "status":{"x":2}})"));
  CHECK(changed(R"({"metadata":{"name":"a","generation":5},"spec":{"n":1},"status":{"x":2}})"));
  CHECK(changed(R"({"metadata":{"name":"a","generation":4},"spec":{"n":1},"status":{"x":1}})"));
}

TEST_CASE("Labels, finalizers, generation and deletion are changes of the specification") {
  const kube::Object before = Parse(R"({"metadata":{"name":"a","generation":1},"spec":{}})");
  for (const char* after :
       {R"({"metadata":{"name":"a","generation":2},"spec":{}})",
        R"({"metadata":{"name":"a","generation":1,"labels":{"x":"y"}},"spec":{}})",
        R"({"metadata":{"name":"a","generation":1,"finalizers":["f"]},"spec":{}})",
        R"({"metadata":{"name":"a","generation":1,
                                "deletionTimestamp":"2024-01-01T00:00:00Z"},"spec":{}})",
        R"({"metadata":{"name":"a","generation":1},"spec":{"x":1}})"}) {
    CHECK(kube::SpecificationChanged(before, Parse(after)));
  }
  CHECK_FALSE(kube::SpecificationChanged(
      before,
      Parse(
          R"({"metadata":{"name":"a","generation":1,"managedFields":[{}]},"spec":{},"status":{}})")));
}
