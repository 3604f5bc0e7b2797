// A member cluster with all its controllers: pods are ready after one second, job pods end five
// seconds later.
#ifndef TESTS_SANDBOX_SIM_MEMBER_FIXTURE_H_
#define TESTS_SANDBOX_SIM_MEMBER_FIXTURE_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sandbox/sim/cluster_controllers.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {

struct MemberFixture : SimCluster {
  static constexpr absl::Duration kReady = absl::Seconds(1);
  static constexpr absl::Duration kJob = absl::Seconds(5);

  MemberFixture() {
    REQUIRE(CreateNodes(backend, "m", 3, clock.Now()).ok());
    controllers.emplace(backend, loop, PodTimes{kReady, kJob});
    Settle();
  }

  // Advances the clock in steps of one second, for changes that follow one another.
  void AdvanceSeconds(int seconds) {
    for (int i = 0; i < seconds; ++i) Advance(absl::Seconds(1));
  }

  std::vector<kube::ObjectPtr> Pods() { return List(kinds::Pods(), "default"); }
  size_t CountPods(absl::string_view phase) {
    size_t count = 0;
    for (const auto& pod : Pods()) count += pod->status()["phase"].AsString() == phase ? 1 : 0;
    return count;
  }
  size_t CountImages(absl::string_view image) {
    size_t count = 0;
    for (const auto& pod : Pods()) {
      count += pod->spec()["containers"].At(0)["image"].AsString() == image ? 1 : 0;
    }
    return count;
  }

  // Returns a Deployment, StatefulSet or DaemonSet "web" with one container.
  static json::Value Workload(const std::string& kind, int replicas,
                              const std::string& extra = "{}") {
    json::Value object = Json(absl::StrCat(R"({"apiVersion": "apps/v1", "kind": ")", kind, R"(",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}},
                 "template": {"metadata": {"labels": {"app": "web"}},
                              "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}})"));
    if (kind != "DaemonSet") object.Set({"spec", "replicas"}, replicas);
    const json::Value members = Json(extra);
    for (const json::Member& member : members.members()) {
      object.Set({"spec", member.name()}, member.value);
    }
    return object;
  }
  static std::string ImagePatch(const std::string& image) {
    return absl::StrCat(
        R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": ")", image,
        R"("}]}}}})");
  }

  std::optional<MemberControllers> controllers;
};

}  // namespace sandbox

#endif  // TESTS_SANDBOX_SIM_MEMBER_FIXTURE_H_
