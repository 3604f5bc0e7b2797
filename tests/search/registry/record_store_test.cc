// ResourceRegistries as records in the control plane.
#include "search/registry/record_store.h"

#include <catch2/catch.hpp>
#include <memory>

#include "absl/strings/match.h"
#include "base/files.h"
#include "base/yaml.h"
#include "tests/search/registry/etcd_fixture.h"
#include "tests/support/fake_transport.h"

namespace search {
namespace {

struct Plane {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  kube::Client client{server, {.name = "karmada"}, base::RealClock(), nullptr};
  std::unique_ptr<RegistryStore> store = NewRecordStore(client);
};

TEST_CASE("a record holds the registry whole, and its resourceVersion is that of the record") {
  Plane plane;
  kube::Object registry = Registry("r");
  registry.Set({"metadata", "finalizers"}, json::Value::Array({"a/b"}));
  const auto created = plane.store->Create(registry, {});
  REQUIRE(created.ok());
  const kube::Object record = plane.server->Find(RegistryRecordResource(), {"", "r"});
  CHECK(record.root()["registry"] == registry.root());
  CHECK(record.metadata()["finalizers"].empty());
  CHECK((*created)->resource_version() == record.resource_version());
  CHECK((*created)->uid() == "u-r");
  CHECK(absl::IsAlreadyExists(plane.store->Create(registry, {}).status()));
  CHECK(**plane.store->Get("r", {}) == **created);
  CHECK(absl::IsNotFound(plane.store->Get("x", {}).status()));
  CHECK(plane.store->Health({}).ok());
}

TEST_CASE("where the definition of records is missing, the error says where it is") {
  Plane plane;
  plane.server->FailNext("GET", 404, "", 2);
  const absl::Status errors[] = {plane.store->Health({}), plane.store->List({}, {}).status()};
  for (const absl::Status& error : errors) {
    CAPTURE(error.ToString());
    CHECK(absl::IsNotFound(error));
    CHECK(absl::StrContains(error.message(), "config/search"));
  }
}

TEST_CASE("writes of records are guarded by the version that was read") {
  Plane plane;
  const kube::ObjectPtr first = *plane.store->Create(Registry("r"), {});
  kube::Object next = Registry("r", "Node");
  next.Set({"metadata", "resourceVersion"}, first->resource_version());
  const auto second = plane.store->Update(next, {});
  REQUIRE(second.ok());
  CHECK(absl::IsAborted(plane.store->Update(*first, {}).status()));
  CHECK(plane.store->Delete(**second, {}).ok());
  CHECK(absl::IsNotFound(plane.store->Delete(**second, {}).status()));
}

TEST_CASE("lists of records are sorted and cut; what holds no registry is left out") {
  Plane plane;
  for (const char* name : {"c", "a", "b"}) REQUIRE(plane.store->Create(Registry(name), {}).ok());
  plane.server->Put(RegistryRecordResource(),
                    kube::Object::Make(RegistryRecordResource().gvk, {"", "bb"}));
  const auto listing = plane.store->List({.limit = 1, .after = "a"}, {});
  REQUIRE(listing.ok());
  REQUIRE(listing->objects.size() == 1);
  CHECK(listing->objects[0]->name() == "b");
  CHECK(listing->remaining == 2);
  CHECK(plane.store->List({}, {})->unreadable == std::vector<std::string>{"bb"});
}

TEST_CASE("the definition that is shipped is that of the records") {
  const auto definition = yaml::Parse(
      base::ReadFile("config/search/storage.search.karmada.io_resourceregistryrecords.yaml")
          .value());
  REQUIRE(definition.ok());
  const kube::Resource& records = RegistryRecordResource();
  const json::Value& spec = (*definition)["spec"];
  CHECK(spec["group"].AsString() == records.gvk.group);
  CHECK(spec["names"]["kind"].AsString() == records.gvk.kind);
  CHECK(spec["names"]["plural"].AsString() == records.plural);
  CHECK(spec["scope"].AsString() == "Cluster");
  CHECK(spec["versions"].At(0)["name"].AsString() == records.gvk.version);
  CHECK((*definition)["metadata"]["name"].AsString() ==
        absl::StrCat(records.plural, ".", records.gvk.group));
}

TEST_CASE("a watch of records brings registries") {
  Plane plane;
  const kube::ObjectPtr a = *plane.store->Create(Registry("a"), {});
  RecordedWatch seen;
  const auto watch = plane.store->Watch(kube::ResourceVersionOf(*a), seen);
  const kube::ObjectPtr b = *plane.store->Create(Registry("b"), {});
  REQUIRE(plane.store->Delete(*a, {}).ok());
  REQUIRE(seen.AwaitEvents(2));
  CHECK(seen.Events() == std::vector<std::string>{"+b", "-a"});
  CHECK(*seen.At(0).object == *b);
  CHECK(seen.At(1).revision > kube::ResourceVersionOf(*b));
}

}  // namespace
}  // namespace search
