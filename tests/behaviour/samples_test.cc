// Applies all of config/samples together, as docs/samples.md suggests.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
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

// Returns the first sample that is still in the control plane: "Kind ns/name"; "" when all have
// gone.
std::string FirstLeft(ControlPlane& plane) {
  for (const kube::Object& sample : Samples()) {
    if (plane.Exists("host", sample.gvk(), sample.key())) return sample.Describe();
  }
  return "";
}

// Returns whether both members have all objects of the samples (`there`), or none of them.
bool MembersHaveThem(ControlPlane& plane, bool there) {
  for (const char* member : {"member1", "member2"}) {
    if (plane.Exists(member, kDeployment, {"default", "web"}) != there) return false;
    if (plane.Exists(member, kJob, {"default", "pi"}) != there) return false;
  }
  return true;
}

// Returns each object of the directory, and each kind that a configuration or customization in it
// speaks for, as one text.
std::vector<std::string> TakenIn(const std::string& directory) {
  const auto objects = sandbox::ReadManifests(std::string(KM_SOURCE) + directory);
  REQUIRE(objects.ok());
  std::vector<std::string> taken;
  for (const kube::Object& object : *objects) {
    taken.push_back(object.Describe());
    for (const json::Value& webhook : object.root()["webhooks"].items()) {
      for (const json::Value& rule : webhook["rules"].items()) {
        for (const json::Value& group : rule["apiGroups"].items()) {
          taken.push_back(absl::StrCat("rules of ", group.ToString()));
        }
      }
    }
    const json::Value& target = object.spec()["target"];
    if (!target.is_null())
      taken.push_back(absl::StrCat("rules of ", target["apiVersion"].ToString()));
  }
  std::sort(taken.begin(), taken.end());
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  return taken;
}

}  // namespace

TEST_CASE("The samples, the demo and the webhook example do not change one another") {
  std::vector<std::string> all;
  for (const char* directory :
       {"/config/samples", "/config/samples/demo", "/config/samples/dependencies",
        "/config/samples/failover", "/config/samples/flux", "/examples/webhook",
        "/examples/webhook/manifests"}) {
    const std::vector<std::string> taken = TakenIn(directory);
    REQUIRE_FALSE(taken.empty());
    all.insert(all.end(), taken.begin(), taken.end());
  }
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  CHECK((twice == all.end() ? "" : *twice) == "");
}

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

TEST_CASE("The samples of autoscalers work together: the one sets the bounds of the other",
          "[sandbox]") {
  ControlPlane plane;
  plane.StopDaemon();
  plane.StartDaemon({"--horizontal-pod-autoscaler-sync-period=1s"});
  ApplyAll(plane);
  const auto has = [&](const kube::Gvk& gvk, const char* field, int64_t number) {
    return plane.Eventually([&] {
      const auto object = plane.Get("host", gvk, {"default", "web"});
      return object && object->spec()[field].AsInt() == number;
    });
  };
  const kube::Gvk cron{"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA"};
  const kube::Gvk hpa{"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"};
  CHECK(has(kDeployment, "replicas", 4));
  const auto object = plane.Get("host", cron, {"default", "web"});
  const json::Value rules = object->spec()["rules"];
  REQUIRE(rules.size() == 2);
  // The times are changed, lest the test waits for a morning, and what is done at them is not.
  const auto execute = [&](const json::Value& rule) {
    plane.Patch("host", cron, {"default", "web"},
                absl::Substitute(R"({"spec": {"rules": [{"name": "$0", "schedule": "@every 2s",
                                                 "targetMinReplicas": $1}]}})",
                                 rule["name"].AsString(), rule["targetMinReplicas"].AsInt()));
  };
  execute(rules.At(0));
  CHECK(has(hpa, "minReplicas", 6));
  CHECK(has(kDeployment, "replicas", 6));
  execute(rules.At(1));
  CHECK(has(hpa, "minReplicas", 2));
  CHECK(plane.EventsOn(cron, "web").empty());
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
  // What is applied to an object that is being deleted is removed with it.
  plane.Eventually([&] { return FirstLeft(plane).empty(); });
  REQUIRE(FirstLeft(plane) == "");
  ApplyAll(plane);
  CHECK(plane.Eventually([&] { return MembersHaveThem(plane, true); }));
}

}  // namespace tests
