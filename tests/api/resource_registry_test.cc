// What a ResourceRegistry means.
#include "api/resource_registry.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace api {
namespace {

kube::Object Parsed(const std::string& text) { return kube::Object(*json::Parse(text)); }

kube::Object RegistryFor(const std::string& target) {
  return Parsed(R"({"metadata":{"name":"r"},"spec":{"targetCluster":)" + target + "}}");
}

bool Matches(const std::string& target, const std::string& cluster) {
  const kube::Object registry = RegistryFor(target);
  const kube::Object object = Parsed(cluster);
  return ResourceRegistryView(registry).TargetCluster().Matches(ClusterView(object));
}

constexpr char kM1[] =
    R"({"metadata":{"name":"m1","labels":{"a":"b"}},"spec":{"provider":"p","zones":["z1","z2"]}})";

TEST_CASE("all parts of a registry's target have to hold, and an empty one is every cluster") {
  CHECK(Matches("{}", kM1));
  CHECK(Matches(R"({"clusterNames":["m1"],"labelSelector":{"matchLabels":{"a":"b"}}})", kM1));
  CHECK_FALSE(Matches(R"({"clusterNames":["m1"],"exclude":["m1"]})", kM1));
  CHECK_FALSE(Matches(R"({"labelSelector":{"matchLabels":{"a":"c"}}})", kM1));
  CHECK_FALSE(
      Matches(R"({"labelSelector":{"matchExpressions":[{"key":"a","operator":"X"}]}})", kM1));
  const auto field = [](const char* key, const char* op, const char* value) {
    return absl::StrCat(R"({"fieldSelector":{"matchExpressions":[{"key":")", key,
                        R"(","operator":")", op, R"(","values":[")", value, "\"]}]}}");
  };
  CHECK(Matches(field("zone", "In", "z2"), kM1));
  CHECK_FALSE(Matches(field("zone", "NotIn", "z2"), kM1));
  CHECK(Matches(field("provider", "In", "p"), kM1));
  // What a cluster does not have is not in any list.
  CHECK(Matches(field("region", "NotIn", "r"), kM1));
  CHECK_FALSE(Matches(field("region", "In", "r"), kM1));
}

TEST_CASE("selectors and the mirror are read; what is malformed means no kind") {
  const kube::Object registry = Parsed(
      R"({"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment",)"
      R"("namespace":"n"},{"apiVersion":"a/b/c","kind":"X"},{"kind":"Pod"}],"backendStore":)"
      R"({"openSearch":{"addresses":["http://a"],"secretRef":{"name":"s","namespace":"n"}}}}})");
  const ResourceRegistryView view(registry);
  const auto selectors = view.Selectors();
  REQUIRE(selectors.size() == 3);
  CHECK(selectors[0] == RegistrySelector{"apps/v1", "Deployment", "n"});
  CHECK(selectors[0].gvk() == kube::Gvk{"apps", "v1", "Deployment"});
  CHECK(selectors[1].gvk().empty());
  CHECK(selectors[2].gvk().empty());
  REQUIRE(view.OpenSearch().has_value());
  CHECK(view.OpenSearch()->secret.ToString() == "n/s");
  const kube::Object plain = RegistryFor("{}");
  CHECK_FALSE(ResourceRegistryView(plain).OpenSearch().has_value());
  CHECK(ResourceRegistryView(plain).Selectors().empty());
}

}  // namespace
}  // namespace api
