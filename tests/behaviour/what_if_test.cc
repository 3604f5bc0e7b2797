// What karmada-lens plan says of a change of the fleet, and what happens when it is made: random
// fleets, from seeds. WHAT_IF_FIRST_SEED and WHAT_IF_SEEDS choose others. With TEST_PLANE they are
// those of real servers, where cases/test_what_if.py runs them (tests/e2e/README.md).
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/options.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/random_fleet.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr uint64_t kSeeds = 2;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// A cluster that is not ready gets a taint that evicts.
constexpr char kLost[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: what-if-lost}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: example.io/lost, effect: NoExecute}]
)";
const kube::Gvk kTaintPolicy{"policy.karmada.io", "v1alpha1", "ClusterTaintPolicy"};

config::Options OptionsOf(const std::vector<std::string>& flags) {
  std::vector<const char*> words = {"karmada-controller-manager"};
  for (const std::string& flag : flags) words.push_back(flag.c_str());
  return config::ParseCommandLine(static_cast<int>(words.size()), words.data()).options;
}

std::vector<std::string> MembersOf(ControlPlane& plane) {
  std::vector<std::string> members;
  for (int i = 1; plane.Exists("host", kCluster, {"", absl::StrCat("member", i)}); ++i) {
    members.push_back(absl::StrCat("member", i));
  }
  return members;
}

const std::vector<std::string> kPlain = {"--feature-gates=FederatedQuotaEnforcement=true"};
const std::vector<std::string> kEvicting = {
    "--feature-gates=Failover=true,FederatedQuotaEnforcement=true",
    "--enable-no-execute-taint-eviction", "--resource-eviction-rate=100",
    "--graceful-eviction-timeout=3s"};

// Plans and makes the changes of the seeds on one plane with these flags of the daemon. Real
// servers are of their own release.
void CompareAll(const std::vector<std::string>& flags,
                std::optional<config::Release> release = std::nullopt) {
  ControlPlane plane(
      {.members = 3, .daemon_flags = flags, .enforce_quotas = true, .release = release});
  const uint64_t first = FromEnvironment("WHAT_IF_FIRST_SEED", 1);
  plane.Apply("host", kLost);
  const std::vector<std::string> members = MembersOf(plane);
  const uint64_t count = FromEnvironment("WHAT_IF_SEEDS", kSeeds);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomFleet fleet(seed, plane, members, OptionsOf(flags));
    fleet.Create();
    const Places planned = fleet.Planned();
    INFO("seed " << seed << ": " << fleet.Describe());
    fleet.Change();
    const std::string difference = DifferenceOf(planned, fleet.Actual(planned));
    CHECK(difference == "");
  }
  plane.Delete("host", kTaintPolicy, {"", "what-if-lost"});
}

}  // namespace

TEST_CASE("What a plan says of a change of the fleet is what happens when nothing evicts",
          "[sandbox]") {
  CompareAll(kPlain);
}

TEST_CASE("What a plan says of a change of the fleet is what happens with evictions", "[sandbox]") {
  CompareAll(kEvicting);
}

TEST_CASE("What a plan says as v1.19 is what happens when nothing evicts", "[sandbox]") {
  CompareAll(kPlain, config::Release::kV1_19);
}

TEST_CASE("What a plan says as v1.19 is what happens with evictions", "[sandbox]") {
  CompareAll(kEvicting, config::Release::kV1_19);
}

}  // namespace tests
