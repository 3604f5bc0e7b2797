#include "controllers/dependencies/attached_bindings.h"

#include <catch2/catch.hpp>
#include <map>

#include "api/keys.h"
#include "api/resources.h"

namespace {

const kube::ObjectKey kWeb = {"ns", "web-deployment"};
const kube::ObjectKey kShop = {"ns", "shop-deployment"};

json::Value Json(const std::string& text) { return json::Parse(text).value(); }

// Returns the binding of a ConfigMap that web and shop need.
kube::Object Attached() {
  kube::Object binding =
      kube::Object::Make(api::ResourceBindings().gvk, {"ns", "config-configmap"});
  binding.SetLabel(controllers::DependedByLabel(kWeb), "web-id");
  binding.SetLabel(controllers::DependedByLabel(kShop), "shop-id");
  binding.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment",
                        "clusters": [{"name": "m1", "replicas": 2}]},
                       {"namespace": "ns", "name": "shop-deployment",
                        "clusters": [{"name": "m2"}]}])"));
  binding.Set({"spec", "conflictResolution"}, "Overwrite");
  binding.Set({"spec", "preserveResourcesOnDeletion"}, true);
  return binding;
}

// Finds no object.
kube::ObjectPtr None(const kube::ObjectKey&) { return nullptr; }

controllers::FindBinding Has(const kube::ObjectKey& key, const std::string& spec) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, key);
  binding.Set({"spec"}, Json(spec));
  return [shared = kube::Share(binding)](const kube::ObjectKey& wanted) {
    return shared->key() == wanted ? shared : nullptr;
  };
}

TEST_CASE("an attached binding follows the clusters of one that needs it") {
  kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
  web.Set({"spec", "clusters"}, Json(R"([{"name": "m3", "replicas": 1}])"));
  const kube::Object after = controllers::WithClustersOf(Attached(), web);
  CHECK(after.Get({"spec", "requiredBy"}) == Json(R"([{"namespace": "ns", "name": "web-deployment",
                  "clusters": [{"name": "m3", "replicas": 1}]},
                 {"namespace": "ns", "name": "shop-deployment", "clusters": [{"name": "m2"}]}])"));
  CHECK(controllers::WithClustersOf(after, web) == after);
}

TEST_CASE("a binding that is not needed by another stays as it is") {
  kube::Object other = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "other-deployment"});
  other.Set({"spec", "clusters"}, Json(R"([{"name": "m3"}])"));
  CHECK(controllers::WithClustersOf(Attached(), other) == Attached());
}

}  // namespace

TEST_CASE("a dependency that one binding lets go stays with the others") {
  const kube::Object after =
      controllers::WithoutReferrer(Attached(), kWeb, Has(kShop, R"({"propagateDeps": true})"));
  CHECK(after.labels() == json::Value::Object({{controllers::DependedByLabel(kShop), "shop-id"}}));
  CHECK(after.spec() == Json(R"({"requiredBy": [{"namespace": "ns", "name": "shop-deployment",
                                                  "clusters": [{"name": "m2"}]}],
                                  "conflictResolution": "Abort",
                                  "preserveResourcesOnDeletion": false})"));
}

TEST_CASE("one binding that overwrites or preserves is enough") {
  const kube::Object after = controllers::WithoutReferrer(
      Attached(), kWeb,
      Has(kShop, R"({"conflictResolution": "Overwrite", "preserveResourcesOnDeletion": true})"));
  CHECK(after.spec()["conflictResolution"].AsString() == "Overwrite");
  CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
}

TEST_CASE("a dependency that no binding needs any more keeps no trace of them") {
  kube::Object attached = Attached();
  attached.EraseLabel(controllers::DependedByLabel(kShop));
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment"}])"));
  const kube::Object after = controllers::WithoutReferrer(attached, kWeb, None);
  CHECK(after.labels().empty());
  CHECK(after.spec().empty());
}

TEST_CASE("a binding that a policy placed keeps how conflicts are handled") {
  kube::Object attached = Attached();
  attached.Set({"spec", "placement"}, json::Value::Object());
  const kube::Object after = controllers::WithoutReferrer(attached, kWeb, Has(kShop, "{}"));
  CHECK(after.spec()["conflictResolution"].AsString() == "Overwrite");
  CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
  CHECK(after.spec()["requiredBy"].size() == 1);
}

TEST_CASE("what a binding that does not exist any more has left goes with the next edit") {
  const kube::Object after = controllers::WithoutReferrer(Attached(), kWeb, None);
  CHECK(after.labels().empty());
  CHECK(after.spec().empty());
}
