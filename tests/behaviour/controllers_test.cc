// When one controller is switched off, the others still do their part.
#include <string>

#include <catch2/catch.hpp>

#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// How far a template has come.
enum class Reach { kNowhere, kBinding, kWork, kMembers, kStatusOfWork, kStatusOfTemplate };

Reach ReachOf(ControlPlane& plane, const std::string& ns) {
  if (!plane.Exists("host", kBinding, {ns, "web-deployment"})) return Reach::kNowhere;
  const auto work = plane.Get(
      "host", kWork, {api::ExecutionNamespace("member1"), api::WorkName("Deployment", "web", ns)});
  if (!work) return Reach::kBinding;
  if (!plane.Exists("member1", kDeployment, {ns, "web"})) return Reach::kWork;
  if (work->Get({"status", "manifestStatuses"}).At(0)["health"].AsString() != "Healthy") {
    return Reach::kMembers;
  }
  const auto web = plane.Get("host", kDeployment, {ns, "web"});
  return web && web->Get({"status", "readyReplicas"}).AsInt() == 2 ? Reach::kStatusOfTemplate
                                                                   : Reach::kStatusOfWork;
}

struct Case {
  const char* off;
  Reach reach;
};

}  // namespace

// On the sandbox only: objects that wait for a controller which is off would stay on a real plane.
TEST_CASE("With one controller switched off, the others do their part", "[sandbox]") {
  const Case c = GENERATE(
      Case{"binding", Reach::kBinding}, Case{"execution", Reach::kWork},
      Case{"workStatus", Reach::kMembers}, Case{"bindingStatus", Reach::kStatusOfWork},
      Case{"namespace", Reach::kStatusOfTemplate}, Case{"cluster", Reach::kStatusOfTemplate},
      Case{"clusterStatus", Reach::kStatusOfTemplate},
      Case{"unifiedAuth", Reach::kStatusOfTemplate},
      Case{"workloadRebalancer", Reach::kStatusOfTemplate},
      Case{"cronFederatedHorizontalPodAutoscaler", Reach::kStatusOfTemplate},
      Case{"gracefulEviction", Reach::kStatusOfTemplate},
      Case{"applicationFailover", Reach::kStatusOfTemplate});
  CAPTURE(c.off);
  ControlPlane plane;
  const std::string before = plane.UniqueNamespace("before");
  plane.Apply("host", In(before, kNamespaceYaml));
  plane.Apply("host", In(before, WebDeployment()));
  plane.Apply("host", In(before, DividedPolicy(kWebSelector, 1, 1)));
  REQUIRE(plane.Eventually([&] { return ReachOf(plane, before) == Reach::kStatusOfTemplate; }));
  plane.StopDaemon();
  plane.StartDaemon({std::string("--controllers=*,-") + c.off});
  const std::string ns = plane.UniqueNamespace("without");
  for (const char* cluster : {"host", "member1", "member2"}) {
    if (cluster != std::string("host") && c.off != std::string("namespace")) continue;
    plane.Apply(cluster, In(ns, kNamespaceYaml));
  }
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  REQUIRE(plane.Eventually([&] { return ReachOf(plane, ns) == c.reach; }));
  CHECK(plane.Always([&] { return ReachOf(plane, ns) == c.reach; }));

  plane.Delete("host", kDeployment, {ns, "web"});
  if (c.reach >= Reach::kMembers) {
    CHECK(plane.Eventually([&] { return !plane.Exists("member1", kDeployment, {ns, "web"}); }));
  }
  CHECK(ReachOf(plane, before) == Reach::kStatusOfTemplate);
  // The destructor stops the daemon and checks that it ends without an error.
}

}  // namespace tests
