#include "kube/meta/nearest_kind.h"

#include <catch2/catch.hpp>

namespace {

using kube::NearestKind;

TEST_CASE("the kind that was meant is found by its name, whatever group and version were given") {
  const kube::Gvk deployment{"apps", "v1", "Deployment"};
  const kube::Gvk pod{"", "v1", "Pod"}, role{"rbac.authorization.k8s.io", "v1", "Role"};
  const kube::Gvk scaler{"autoscaling", "v2", "HorizontalPodAutoscaler"};
  const std::set<kube::Gvk> served = {deployment, pod, role, scaler};
  CHECK(NearestKind({"apps", "v1", "Deploymnt"}, served) == deployment);
  CHECK(NearestKind({"", "v1", "deployments"}, served) == deployment);
  CHECK(NearestKind({"", "v1", "Deployment"}, served) == deployment);
  CHECK(NearestKind({"extensions", "v1beta1", "Deployment"}, served) == deployment);
  CHECK(NearestKind({"autoscaling", "v1", "HorizontalPodAutoscaler"}, served) == scaler);
  CHECK(NearestKind({"", "rbac/v1/x", "Role"}, served) == role);
  CHECK(NearestKind({"example.io", "v1", "SpaceShip"}, served) == std::nullopt);
}

}  // namespace
