// What the documents in OpenSearch are when the cache of members is given other things to hold.
#include "cmd/search/mirror_wiring.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/resource_registry.h"
#include "base/json.h"
#include "search/opensearch/document.h"
#include "search/opensearch/document_version.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/search/opensearch/fake_opensearch.h"
#include "tests/search/opensearch/mirror_fixture.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

const kube::Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};
const kube::Resource kNamespaces{{"", "v1", "Namespace"}, "namespaces", false};

class WiringPlane : public SearchPlane {
 public:
  void PutNamespace(const std::string& name) {
    Create(cluster("member1"), kNamespaces,
           absl::StrCat("{apiVersion: v1, kind: Namespace, metadata: {name: ", name, "}}"));
  }
  void PutConfigMap(const std::string& ns, const std::string& name) {
    Create(cluster("member1"), kConfigMaps,
           absl::StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ", ns,
                        ", name: ", name, "}}"));
  }
  // Makes a registry that mirrors the ConfigMaps of a namespace of member1.
  void Mirror(const std::string& ns) {
    Create(search(), api::ResourceRegistryResource(),
           absl::StrCat(R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: mirrored}
spec:
  targetCluster: {clusterNames: [member1]}
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, namespace: )",
                        ns, R"(}]
  backendStore: {openSearch: {addresses: [")",
                        open_search_.url(), R"("], secretRef: {namespace: "", name: ""}}}
)"));
  }
  void Change(const std::string& spec) {
    const json::Value patch = json::Parse(absl::StrCat("{\"spec\":", spec, "}")).value();
    REQUIRE(search()
                .Patch(api::ResourceRegistryResource(), {"", "mirrored"}, kube::PatchType::kMerge,
                       patch, {}, {})
                .ok());
  }
  bool HasMirrored() {
    return Eventually([&] {
      const auto registry = search().Get(api::ResourceRegistryResource(), {"", "mirrored"}, {});
      if (!registry.ok()) return false;
      const json::Value* found =
          kube::FindCondition(registry->status()["conditions"], api::kRegistryMirrored);
      return found != nullptr && (*found)["status"].AsString() == "True";
    });
  }
  // The guard of an object's document; that of no document decodes to a version of 0.
  search::DocumentVersion GuardOf(const kube::Object& object) {
    const json::Value document = open_search_.Document("karmada-search-core-v1-configmap",
                                                       search::DocumentId("member1", object.uid()));
    return search::DocumentVersion::Decode(document["_version"].AsInt(0));
  }
  kube::Object ConfigMap(const std::string& ns, const std::string& name) {
    return cluster("member1").Get(kConfigMaps, {ns, name}, {}).value();
  }
  TestOpenSearch& open_search() { return open_search_; }

 private:
  TestOpenSearch open_search_;
};

TEST_CASE("More namespaces and another mirror write nothing that is there, and begin no epoch") {
  if (TestOpenSearch::IsReal()) return;  // The names of its indices are not the test's.
  WiringPlane plane;
  plane.PutNamespace("first");
  plane.PutNamespace("second");
  plane.PutConfigMap("second", "old");
  plane.PutConfigMap("first", "new");
  plane.Mirror("first");
  const kube::Object there = plane.ConfigMap("first", "new");
  const kube::Object old = plane.ConfigMap("second", "old");
  const auto has_own_version = [&](const kube::Object& object) {
    const search::DocumentVersion guard = plane.GuardOf(object);
    return guard.epoch == 0 && absl::StrCat(guard.resource_version) == object.resource_version();
  };
  REQUIRE(Eventually([&] { return has_own_version(there); }));
  plane.Change(R"({"resourceSelectors": [
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "first"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "second"}]})");
  CHECK(Eventually([&] { return plane.GuardOf(old).resource_version > 0; }));
  CHECK(has_own_version(old));
  REQUIRE(plane.HasMirrored());

  // The same OpenSearch under another address gets another mirror, which compares everything.
  const int writes = plane.open_search().Requests("_bulk");
  const int searches = plane.open_search().Requests("_search");
  plane.Change(absl::StrCat(R"({"backendStore": {"openSearch": {"addresses": [")",
                            absl::StrReplaceAll(plane.open_search().url(), {{"://", "://u:p@"}}),
                            R"("]}}})"));
  CHECK(Eventually([&] { return plane.open_search().Requests("_search") > searches + 1; }));
  CHECK(plane.HasMirrored());
  CHECK(has_own_version(there));
  CHECK(has_own_version(old));
  CHECK(plane.open_search().Requests("_bulk") == writes);
}

// Documents of a Pod and a Deployment of member1 are there, from an earlier process.
struct DocumentsThere : MirrorFixture {
  const std::shared_ptr<FakeSlice> pods = std::make_shared<FakeSlice>();
  const std::shared_ptr<FakeSlice> deployments = std::make_shared<FakeSlice>();
  search::MirrorSet::Options set;

  DocumentsThere() {
    mirror_ = nullptr;
    set.mirror = options_;
    pods->Put("a", 5, Pod("a", 5));
    deployments->Put("d", 6, Pod("d", 6));
    search::MirrorSet before(set, base::RealClock(), &metrics_);
    before.Synced(pods1_, pods);
    before.Synced(deployments1_, deployments);
    before.SetTargets({{{{server_.url()}, {}}, {pods1_, deployments1_}}});
    REQUIRE(Eventually(
        [&] { return !Version(pods1_, "a").empty() && !Version(deployments1_, "d").empty(); }));
  }
  // A registry names Pods, which no server can be asked about, and no Deployments.
  search::Scope WithoutDiscovery() const {
    search::Scope scope;
    scope.open_search["r"] = {{server_.url()}, {}};
    scope.matches["r"] = {"member1"};
    scope.unresolved["r"][pods1_.kind] = "discovery is incomplete";
    scope.undetermined = {pods1_.kind};
    return scope;
  }
};

TEST_CASE_METHOD(DocumentsThere,
                 "Documents stay while it is not known whether their kind is served") {
  cmd::MirrorWiring wiring(set, base::RealClock(), &metrics_);
  const search::Scope first = WithoutDiscovery();
  wiring.OnScope({}, first);
  // What nobody asks for goes, so everything has been looked at.
  CHECK(Eventually([&] { return Version(deployments1_, "d").empty(); }));
  CHECK(Version(pods1_, "a") == "5");

  search::Scope then = first;
  SECTION("it is not served") {
    then.undetermined.clear();
    wiring.OnScope(first, then);
    CHECK(Eventually([&] { return Version(pods1_, "a").empty(); }));
  }
  SECTION("no registry names it any more") {
    then.unresolved.clear();
    wiring.OnScope(first, then);
    CHECK(Eventually([&] { return Version(pods1_, "a").empty(); }));
  }
}

}  // namespace
}  // namespace tests
