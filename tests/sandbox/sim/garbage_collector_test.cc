#include "sandbox/sim/garbage_collector.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

struct Fixture : SimCluster {
  GarbageCollector collector{backend, loop};
  const kube::Resource maps = backend.Find({"", "v1", "ConfigMap"});

  static json::Value Ref(const kube::Object& owner, bool block = true) {
    return json::Value::Object({{"apiVersion", owner.api_version()},
                                {"kind", owner.kind()},
                                {"name", owner.name()},
                                {"uid", owner.uid()},
                                {"blockOwnerDeletion", block}});
  }
  kube::ObjectPtr Make(const std::string& name, std::initializer_list<json::Value> owners = {}) {
    kube::Object object = kube::Object::Make(maps.gvk, {"default", name});
    if (owners.size() > 0) {
      object.Set({"metadata", "ownerReferences"}, json::Value::Array(owners));
    }
    return Create(object.root());
  }
  bool Exists(const std::string& name) { return Get(maps, "default", name) != nullptr; }
  size_t OwnersOf(const std::string& name) {
    return Get(maps, "default", name)->OwnerRefs().size();
  }
};

TEST_CASE_METHOD(Fixture, "dependents go after their owner, down to the last generation") {
  const auto owner = Make("owner");
  const auto child = Make("child", {Ref(*owner)});
  Make("grandchild", {Ref(*child)});
  Settle();
  CHECK(Exists("grandchild"));
  Delete(maps, "default", "owner");
  Settle();
  CHECK_FALSE(Exists("child"));
  CHECK_FALSE(Exists("grandchild"));
}

TEST_CASE_METHOD(Fixture, "an object with another owner stays and loses the dead reference") {
  const auto a = Make("a");
  const auto b = Make("b");
  Make("child", {Ref(*a), Ref(*b)});
  Delete(maps, "default", "a");
  Settle();
  REQUIRE(Exists("child"));
  CHECK(OwnersOf("child") == 1);
  Delete(maps, "default", "b");
  Settle();
  CHECK_FALSE(Exists("child"));
}

TEST_CASE_METHOD(Fixture, "an owner of the same name but another uid does not count") {
  const auto owner = Make("owner");
  json::Value ref = Ref(*owner);
  ref.Set("uid", "11111111-1111-4111-8111-111111111111");
  Make("child", {ref});
  Settle();
  CHECK_FALSE(Exists("child"));
  CHECK(Exists("owner"));
}

TEST_CASE_METHOD(Fixture, "owners of other kinds and of no namespace count") {
  const auto ns = Get(kinds::Namespaces(), "", "default");
  Make("of-namespace", {Ref(*ns)});
  const auto secret = Create(R"({"apiVersion": "v1", "kind": "Secret",
      "metadata": {"name": "s", "namespace": "default"}})");
  Make("of-secret", {Ref(*secret)});
  Settle();
  CHECK(Exists("of-namespace"));
  CHECK(Exists("of-secret"));
  Delete(kinds::Secrets(), "default", "s");
  Settle();
  CHECK(Exists("of-namespace"));
  CHECK_FALSE(Exists("of-secret"));
}

TEST_CASE_METHOD(Fixture, "an owner of an unknown kind keeps its dependents") {
  Make("child",
       {Json(R"({"apiVersion": "example.io/v1", "kind": "Thing", "name": "x", "uid": "u"})")});
  Settle();
  CHECK(Exists("child"));
}

TEST_CASE_METHOD(Fixture, "orphaning leaves the dependents without the owner") {
  const auto owner = Make("owner");
  Make("child", {Ref(*owner)});
  Delete(maps, "default", "owner", "Orphan");
  Settle();
  CHECK_FALSE(Exists("owner"));
  REQUIRE(Exists("child"));
  CHECK(OwnersOf("child") == 0);
}

TEST_CASE_METHOD(Fixture,
                 "foreground deletion keeps the owner until blocking dependents are gone") {
  const auto owner = Make("owner");
  Make("child", {Ref(*owner)});
  Patch(maps, "default", "child", R"({"metadata": {"finalizers": ["example.io/hold"]}})");
  Delete(maps, "default", "owner", "Foreground");
  Settle();
  REQUIRE(Exists("owner"));
  REQUIRE(Exists("child"));
  CHECK(Get(maps, "default", "child")->IsDeleting());
  Patch(maps, "default", "child", R"({"metadata": {"finalizers": null}})");
  Settle();
  CHECK_FALSE(Exists("child"));
  CHECK_FALSE(Exists("owner"));
}

TEST_CASE_METHOD(Fixture, "foreground deletion does not wait for dependents that do not block") {
  const auto owner = Make("owner");
  Make("child", {Ref(*owner, /*block=*/false)});
  Patch(maps, "default", "child", R"({"metadata": {"finalizers": ["example.io/hold"]}})");
  Delete(maps, "default", "owner", "Foreground");
  Settle();
  CHECK_FALSE(Exists("owner"));
  CHECK(Get(maps, "default", "child")->IsDeleting());
}

TEST_CASE_METHOD(Fixture, "what was there before the collector started is collected too") {
  SimCluster old;
  const kube::Resource maps_of_old = old.backend.Find({"", "v1", "ConfigMap"});
  kube::Object child = kube::Object::Make(maps_of_old.gvk, {"default", "child"});
  child.Set({"metadata", "ownerReferences"},
            json::Value::Array({Json(
                R"({"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "u"})")}));
  old.Create(child.root());
  GarbageCollector late(old.backend, old.loop);
  old.Settle();
  CHECK(old.Get(maps_of_old, "default", "child") == nullptr);
}

}  // namespace
}  // namespace sandbox
