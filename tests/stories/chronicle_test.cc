// The chronicle on servers without a controller manager: the test writes bindings itself.
#include "tests/stories/chronicle.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "base/yaml.h"

namespace tests {
namespace {

constexpr char kRobot[] = R"(
template: {apiVersion: stories.example.io/v1, kind: Robot, metadata: {name: one}}
phases: [{name: created}]
)";

struct Servers {
  std::vector<Story> stories = {*ParseStory("robot/One.yaml", kRobot)};
  std::unique_ptr<sandbox::Fleet> fleet = Start();
  std::shared_ptr<Chronicle> chronicle = Chronicle::Begin(*fleet, stories);

  static std::unique_ptr<sandbox::Fleet> Start() {
    auto fleet = sandbox::Fleet::Start({.members = 2, .with_scheduler = false});
    REQUIRE(fleet.ok());
    return *std::move(fleet);
  }
  sandbox::Backend& plane() { return fleet->control_plane().backend(); }

  void MakeBinding(const std::string& spec) {
    MakeNamespace();
    kube::Object binding = kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"},
                                              {stories[0].id, "one-robot"});
    binding.Set({"spec"}, *yaml::Parse(spec));
    const auto made = plane().Create(kBindings, binding);
    INFO(made.status().ToString());
    REQUIRE(made.ok());
  }
  void Aggregate(const std::string& status) {
    sandbox::PatchRequest request;
    request.patch = json::Value::Object({{"status", *yaml::Parse(status)}});
    request.subresource = "status";
    const auto patched = plane().Patch(kBindings, {stories[0].id, "one-robot"}, request);
    INFO(patched.status().ToString());
    REQUIRE(patched.ok());
  }
  std::vector<std::string> Reports() const { return chronicle->Reports(stories[0]); }

 private:
  inline static const kube::Gvr kBindings{"work.karmada.io", "v1alpha2", "resourcebindings"};
  void MakeNamespace() {
    REQUIRE(plane()
                .Create({"", "v1", "namespaces"},
                        kube::Object::Make({"", "v1", "Namespace"}, {"", stories[0].id}))
                .ok());
  }
};

constexpr char kSpec[] =
    "{resource: {apiVersion: stories.example.io/v1, kind: Robot, name: one, namespace: "
    "robot-one}}";

}  // namespace

TEST_CASE("A health that passes at once is reported, unless it is expected") {
  Servers servers;
  servers.MakeBinding(kSpec);
  servers.chronicle->Expect(servers.stories[0],
                            {"held", {}, {{"member1", {"Healthy"}}, {"member2", {"Unhealthy"}}}});
  servers.Aggregate(R"({aggregatedStatus: [{clusterName: member1, health: Unhealthy},
                                           {clusterName: member2, health: Unhealthy}]})");
  servers.Aggregate(R"({aggregatedStatus: [{clusterName: member1, health: Healthy},
                                           {clusterName: member2, health: Unhealthy}]})");
  const auto reports = servers.Reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0] ==
        "robot/One.yaml, phase held, member1: false health: Unhealthy with the status null");
}

TEST_CASE("An eviction is reported") {
  Servers servers;
  servers.MakeBinding(R"({resource: {apiVersion: stories.example.io/v1, kind: Robot, name: one,
                                     namespace: robot-one},
                          gracefulEvictionTasks: [{fromCluster: member1, producer: TaintManager,
                                                   reason: ApplicationFailure}]})");
  const auto reports = servers.Reports();
  REQUIRE(reports.size() == 1);
  CHECK(absl::StrContains(reports[0], "member1: false failover: ApplicationFailure"));
}

}  // namespace tests
