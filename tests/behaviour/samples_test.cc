// Applies all of config/samples together, as README.md suggests.
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

// Returns the samples with definitions first.
std::vector<kube::Object> Samples() {
  auto samples = sandbox::ReadManifests(std::string(KM_SOURCE) + "/config/samples");
  REQUIRE(samples.ok());
  std::stable_partition(samples->begin(), samples->end(), [](const kube::Object& sample) {
    return sample.kind() == "CustomResourceDefinition";
  });
  return *std::move(samples);
}

void ApplyAll(ControlPlane& plane) {
  for (const kube::Object& sample : Samples()) plane.Apply("host", json::Write(sample.root()));
}

void DeleteAll(ControlPlane& plane) {
  for (const kube::Object& sample : Samples()) plane.Delete("host", sample.gvk(), sample.key());
}

// Returns whether both members have all objects of the samples (`there`), or none of them.
bool MembersHaveThem(ControlPlane& plane, bool there) {
  for (const char* member : {"member1", "member2"}) {
    if (plane.Exists(member, kDeployment, {"default", "web"}) != there) return false;
    if (plane.Exists(member, kJob, {"default", "pi"}) != there) return false;
  }
  return true;
}

}  // namespace

// On the sandbox only: the samples would stay behind on a real control plane.
TEST_CASE("All samples can be applied together and disturb no member", "[sandbox]") {
  ControlPlane plane;
  const std::string endpoint = EndpointOf(plane, "member1");
  ApplyAll(plane);
  REQUIRE(plane.Eventually([&] { return MembersHaveThem(plane, true); }));
  CHECK(EndpointOf(plane, "member1") == endpoint);
  const auto cluster = plane.Get("host", kCluster, {"", "member1"});
  CHECK(kube::IsConditionTrue(cluster->status()["conditions"], "Ready"));
  CHECK(plane.Eventually([&] {
    const auto frankfurt = plane.Get("host", kCluster, {"", "frankfurt"});
    const auto* ready = kube::FindCondition(frankfurt->status()["conditions"], "Ready");
    return ready != nullptr && (*ready)["status"].AsString() == "False";
  }));
}

TEST_CASE("All samples can be deleted and applied again, and the members keep their credentials",
          "[sandbox]") {
  ControlPlane plane;
  ApplyAll(plane);
  ApplyAll(plane);
  REQUIRE(plane.Eventually([&] { return MembersHaveThem(plane, true); }));
  DeleteAll(plane);
  REQUIRE(plane.Eventually([&] { return MembersHaveThem(plane, false); }));
  for (const char* member : {"member1", "member2"}) {
    CHECK(plane.Exists("host", kSecret, {"karmada-cluster", member}));
  }
  REQUIRE(plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", "frankfurt"}); }));
  ApplyAll(plane);
  CHECK(plane.Eventually([&] { return MembersHaveThem(plane, true); }));
}

}  // namespace tests
