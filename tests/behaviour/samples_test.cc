// config/samples, applied all together as README.md invites to.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sandbox/manifests.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

std::string EndpointOf(ControlPlane& plane, const std::string& member) {
  return plane.Get("host", kCluster, {"", member})->spec()["apiEndpoint"].ToString();
}

}  // namespace

// On the sandbox only: the samples would stay behind on a real control plane.
TEST_CASE("All samples can be applied together and disturb no member", "[sandbox]") {
  ControlPlane plane;
  const std::string endpoint = EndpointOf(plane, "member1");
  auto samples = sandbox::ReadManifests(std::string(KM_SOURCE) + "/config/samples");
  REQUIRE(samples.ok());
  // Definitions first, as kubectl users learn to do.
  std::stable_partition(samples->begin(), samples->end(), [](const kube::Object& sample) {
    return sample.kind() == "CustomResourceDefinition";
  });
  for (const kube::Object& sample : *samples) plane.Apply("host", json::Write(sample.root()));
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kDeployment, {"default", "web"}) &&
           plane.Exists("member2", kDeployment, {"default", "web"}) &&
           plane.Exists("member1", kJob, {"default", "pi"});
  }));
  CHECK(EndpointOf(plane, "member1") == endpoint);
  const auto cluster = plane.Get("host", kCluster, {"", "member1"});
  CHECK(kube::IsConditionTrue(cluster->status()["conditions"], "Ready"));
  CHECK(plane.Eventually([&] {
    const auto frankfurt = plane.Get("host", kCluster, {"", "frankfurt"});
    const auto* ready = kube::FindCondition(frankfurt->status()["conditions"], "Ready");
    return ready != nullptr && (*ready)["status"].AsString() == "False";
  }));
}

}  // namespace tests
