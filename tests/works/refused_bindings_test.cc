#include "works/refused_bindings.h"

#include <catch2/catch.hpp>

#include "api/object_reference.h"
#include "api/resources.h"
#include "tests/support/members_fixture.h"

namespace {

kube::Object Binding(const kube::ObjectKey& key, const api::ObjectReference& resource) {
  const kube::Resource& kind =
      key.ns.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
  kube::Object binding = kube::Object::Make(kind.gvk, key);
  binding.Set({"spec", "resource"}, resource.ToJson());
  return binding;
}

TEST_CASE_METHOD(tests::MembersFixture, "a binding is refused for the namespace of its object") {
  const api::ObjectReference web = {
      .api_version = "apps/v1", .kind = "Deployment", .ns = "ns", .name = "web"};
  CHECK_FALSE(works::IsRefused(cluster, Binding({"ns", "b"}, web), {}));
  CHECK(works::IsRefused(cluster, Binding({"other", "b"}, web), {}));
  CHECK_FALSE(works::IsRefused(cluster, Binding({"", "b"}, web), {}));
}

TEST_CASE_METHOD(tests::MembersFixture, "a binding is refused for a kind without namespaces") {
  api::ObjectReference object = {
      .api_version = "v1", .kind = "Namespace", .ns = "ns", .name = "other"};
  CHECK(works::IsRefused(cluster, Binding({"ns", "b"}, object), {}));
  CHECK_FALSE(works::IsRefused(cluster, Binding({"", "b"}, object), {}));
  object.kind = "Unheard";
  CHECK_FALSE(works::IsRefused(cluster, Binding({"ns", "b"}, object), {}));
}

}  // namespace
