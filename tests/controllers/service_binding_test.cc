#include "controllers/multi_cluster_service/service_binding.h"

#include <catch2/catch.hpp>

namespace {

json::Value Json(const char* text) { return json::Parse(text).value(); }

}  // namespace

TEST_CASE("the binding of a Service across clusters keeps what it has besides") {
  const kube::Object service(Json(R"({"apiVersion": "networking.karmada.io/v1alpha1",
      "kind": "MultiClusterService", "metadata": {"namespace": "ns", "name": "web"}})"));
  const kube::Object target(Json(R"({"apiVersion": "v1", "kind": "Service",
      "metadata": {"namespace": "ns", "name": "web", "uid": "u", "resourceVersion": "1"}})"));
  kube::Object existing = controllers::ServiceBinding({service, target, {"m1", "m2"}}, nullptr);
  existing.Set({"spec", "placement", "later"}, 1);
  existing.Set({"spec", "placement", "clusterAffinity", "later"}, 2);
  existing.Set({"spec", "resource", "later"}, 3);
  existing.Set({"spec", "placement", "clusterAffinity", "clusterNames"}, Json(R"(["m2", "m1"])"));
  // The order in which upstream has written the names stays.
  CHECK(controllers::ServiceBinding({service, target, {"m1", "m2"}}, &existing) == existing);

  existing.Set({"spec", "placement", "spreadConstraints"}, Json(R"([{"spreadByField": "zone"}])"));
  const kube::Object after = controllers::ServiceBinding({service, target, {"m1"}}, &existing);
  CHECK(after.spec()["placement"] ==
        Json(R"({"later": 1, "clusterAffinity": {"clusterNames": ["m1"], "later": 2}})"));
  CHECK(after.spec()["resource"]["later"].AsInt() == 3);
}
