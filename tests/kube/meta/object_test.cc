#include "kube/meta/object.h"

#include <catch2/catch.hpp>

#include "tests/kube/meta/truth_table.h"

namespace {

using kube::Object;
using kube_test::Json;

Object Deployment() {
  return Object(Json(R"({
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default", "uid": "u", "resourceVersion": "42",
      "generation": 3, "labels": {"a": "b"}, "annotations": {"c": "d", "e": "f"},
      "finalizers": ["one", "two"],
      "ownerReferences": [
        {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "ua"},
        {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "ub", "controller": true,
         "blockOwnerDeletion": true}]},
    "spec": {"replicas": 2}, "status": {"ready": 1}})"));
}

TEST_CASE("an object knows its type and metadata") {
  const Object o = Deployment();
  CHECK(o.gvk() == kube::Gvk{"apps", "v1", "Deployment"});
  CHECK(o.key() == kube::ObjectKey{"default", "web"});
  CHECK(o.uid() == "u");
  CHECK(o.resource_version() == "42");
  CHECK(o.generation() == 3);
  CHECK(o.Describe() == "Deployment default/web");
  CHECK(Object(Json(R"({"kind": "Widget"})")).Describe() == "Widget");
  CHECK_FALSE(o.IsDeleting());
  CHECK(o.Label("a") == "b");
  CHECK(o.Annotation("c") == "d");
  CHECK(o.spec()["replicas"].AsInt() == 2);
}

TEST_CASE("an empty object answers with empty values") {
  const Object o;
  CHECK(o.empty());
  CHECK(o.gvk() == kube::Gvk{});
  CHECK(o.name().empty());
  CHECK(o.generation() == 0);
  CHECK_FALSE(o.HasFinalizer("x"));
  CHECK(o.OwnerRefs().empty());
  CHECK(kube::ResourceVersionOf(o) == -1);
}

TEST_CASE("a malformed apiVersion gives an empty kind") {
  CHECK(Object(Json(R"({"apiVersion":"a/b/c","kind":"X"})")).gvk().empty());
}

TEST_CASE("a made object has type and name, and a namespace when it needs one") {
  CHECK(json::Write(Object::Make({"apps", "v1", "Deployment"}, {"ns", "n"}).root()) ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"n","namespace":"ns"}})");
  CHECK(json::Write(Object::Make({"", "v1", "Node"}, {"", "n"}).root()) ==
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})");
}

TEST_CASE("changing a copy never shows in the original") {
  const Object original = Deployment();
  Object copy = original;
  copy.SetLabel("a", "changed");
  copy.AddFinalizer("three");
  copy.Set({"spec", "replicas"}, 9);
  CHECK(original == Deployment());
  CHECK(copy.Label("a") == "changed");
}

TEST_CASE("erasing the last label or annotation removes the map") {
  Object o = Deployment();
  CHECK(o.EraseLabel("a"));
  CHECK_FALSE(o.metadata().Has("labels"));
  CHECK(o.EraseAnnotation("c"));
  CHECK(o.annotations().size() == 1);
  CHECK_FALSE(o.EraseAnnotation("c"));
  CHECK_FALSE(o.EraseLabel("a"));
}

TEST_CASE("labels and annotations can be set on an object without any") {
  Object o;
  o.SetLabel("l", "1");
  o.SetAnnotation("a", "2");
  CHECK(json::Write(o.root()) == R"({"metadata":{"annotations":{"a":"2"},"labels":{"l":"1"}}})");
}

TEST_CASE("finalizers are added once and removed with their list when it is empty") {
  Object o = Deployment();
  CHECK_FALSE(o.AddFinalizer("one"));
  CHECK(o.AddFinalizer("three"));
  CHECK(json::Write(o.metadata()["finalizers"]) == R"(["one","two","three"])");
  CHECK(o.RemoveFinalizer("two"));
  CHECK_FALSE(o.RemoveFinalizer("two"));
  CHECK(json::Write(o.metadata()["finalizers"]) == R"(["one","three"])");
  CHECK(o.RemoveFinalizer("one"));
  CHECK(o.RemoveFinalizer("three"));
  CHECK_FALSE(o.metadata().Has("finalizers"));
}

TEST_CASE("owner references are read and the controller found") {
  const Object o = Deployment();
  REQUIRE(o.OwnerRefs().size() == 2);
  CHECK(o.OwnerRefs()[0].uid == "ua");
  CHECK_FALSE(o.OwnerRefs()[0].controller);
  CHECK(o.ControllerOwner().uid == "ub");
  CHECK(o.ControllerOwner().ToJson() == o.metadata()["ownerReferences"].At(1));
  CHECK(Object().ControllerOwner().uid.empty());
}

TEST_CASE("resource versions are numbers or -1") {
  const struct {
    const char* version;
    int64_t number;
  } cases[] = {{"42", 42},
               {"0", 0},
               {"", -1},
               {"-1", -1},
               {"1x", -1},
               {" 1", -1},
               {"99999999999999999999", -1}};
  for (const auto& c : cases) {
    Object o;
    o.Set({"metadata", "resourceVersion"}, c.version);
    INFO(c.version);
    CHECK(kube::ResourceVersionOf(o) == c.number);
  }
}

TEST_CASE("an object with a deletion timestamp is being deleted") {
  Object o = Deployment();
  o.Set({"metadata", "deletionTimestamp"}, "2026-01-02T03:04:05Z");
  CHECK(o.IsDeleting());
}

}  // namespace
