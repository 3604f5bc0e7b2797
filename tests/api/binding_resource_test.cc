#include "api/binding_resource.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "api/object_reference.h"
#include "api/resources.h"

namespace {

kube::Object Binding(const std::string& ns, const std::string& of) {
  const kube::Resource& resource =
      ns.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
  kube::Object binding = kube::Object::Make(resource.gvk, {ns, "b"});
  binding.Set(
      {"spec", "resource"},
      api::ObjectReference{.api_version = "v1", .kind = "Secret", .ns = of, .name = "s"}.ToJson());
  return binding;
}

TEST_CASE("a ResourceBinding stands for an object of its own namespace") {
  CHECK(api::MayStandForResource(Binding("a", "a")));
  CHECK(api::MayStandForResource(Binding("", "")));
  CHECK(api::MayStandForResource(Binding("", "a")));
  CHECK_FALSE(api::MayStandForResource(Binding("a", "b")));
  CHECK_FALSE(api::MayStandForResource(Binding("a", "")));
  for (const std::string reserved : {"karmada-system", "karmada-cluster", "karmada-es-m1"}) {
    CHECK_FALSE(api::MayStandForResource(Binding(reserved, reserved)));
  }
}

TEST_CASE("a kind without namespaces is found out by its resource") {
  const kube::Object binding = Binding("a", "a");
  CHECK(api::CheckBindingResource(binding, &api::Secrets()).ok());
  const absl::Status refused = api::CheckBindingResource(binding, &api::Namespaces());
  CHECK(absl::IsPermissionDenied(refused));
  CHECK(absl::StrContains(refused.message(), "Secret a/s"));
  CHECK(api::CheckBindingResource(Binding("", ""), &api::Namespaces()).ok());
}

}  // namespace
