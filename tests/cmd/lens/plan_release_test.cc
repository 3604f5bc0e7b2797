// karmada-lens plan is made as the release of Karmada that the live control plane has.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "config/release.h"
#include "sandbox/fleet.h"
#include "tests/cmd/lens/tool.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

using Catch::Contains;
using config::Release;

// v1.19 has dropped this word.
constexpr char kPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {}
  failover:
    application: {purgeMode: Graciously, decisionConditions: {tolerationSeconds: 1}}
)";

struct Plane {
  TempDirectory directory;
  std::unique_ptr<sandbox::Fleet> fleet;
  std::string kubeconfig = directory.path() + "/karmada.kubeconfig";
  std::string policy = directory.Write("policy.yaml", kPolicy);

  explicit Plane(Release release)
      : fleet(*sandbox::Fleet::Start({.members = 0, .release = release})) {
    REQUIRE(fleet->WriteKubeconfigs(directory.path()).ok());
  }
  Ran Run(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"plan", "-f", policy, "--kubeconfig", kubeconfig};
    words.insert(words.end(), more.begin(), more.end());
    return RunLens(words);
  }
};

}  // namespace

TEST_CASE("Lens plan: what the release of a live control plane refuses is refused") {
  Plane older(Release::kV1_18), newer(Release::kV1_19);
  const Ran admitted = older.Run();
  INFO(admitted.err);
  CHECK(admitted.code == 0);
  const Ran refused = newer.Run();
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("Unsupported value: \"Graciously\""));
  // A flag counts for more.
  CHECK(newer.Run({"--emulated-karmada-version", "v1.18"}).code == 0);
  CHECK(older.Run({"--emulated-karmada-version", "v1.19"}).code == 1);
}

TEST_CASE("Lens plan: a control plane that does not show its release is warned of") {
  Plane plane(Release::kV1_18);
  plane.fleet->control_plane().faults().FailNext(100, 403, "GET", "/openapi/v3", "Forbidden",
                                                 "you may not");
  const Ran ran = plane.Run();
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Contains("the release of Karmada is not known"));
}

}  // namespace tests
