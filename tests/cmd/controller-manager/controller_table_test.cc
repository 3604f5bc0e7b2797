#include "cmd/controller-manager/controller_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "config/support.h"

namespace cmd {
namespace {

TEST_CASE("The controllers that can be switched are those that the support table calls here") {
  std::set<std::string> here, switched;
  for (const config::ControllerSupport& controller : config::Controllers()) {
    if (controller.state == config::State::kHere) here.emplace(controller.name);
  }
  for (const ControllerEntry& entry : ControllerTable()) {
    if (entry.switched == Switch::kByFlag) switched.insert(entry.name);
  }
  CHECK(switched == here);
}

TEST_CASE("The support table has every loop without a switch") {
  for (const ControllerEntry& entry : ControllerTable()) {
    if (entry.switched != Switch::kAlwaysOn) continue;
    CAPTURE(entry.name);
    const auto loops = config::LoopsWithoutSwitch();
    CHECK(std::any_of(loops.begin(), loops.end(),
                      [&entry](const config::Support& loop) { return loop.name == entry.name; }));
  }
}

TEST_CASE("A gate of a whole controller is in the support table alone") {
  const config::Options standard;
  for (const ControllerEntry& entry : ControllerTable()) {
    CAPTURE(entry.name);
    const config::ControllerSupport* const support = config::FindController(entry.name);
    CHECK((support != nullptr) == (entry.switched == Switch::kByFlag));
    if (support == nullptr || !support->gate.has_value()) continue;
    CHECK_FALSE(entry.gate.has_value());
    CHECK(IsWanted(entry, standard) == standard.gates.Enabled(*support->gate));
    CHECK(WhyOff(entry, standard) ==
          "it needs --feature-gates=" + std::string(config::FeatureGates::NameOf(*support->gate)) +
              "=true");
  }
}

TEST_CASE("The table has the number of workers of each controller") {
  config::Options options;
  options.concurrency.work = 7;
  std::map<std::string, int> workers;
  for (const ControllerEntry& entry : ControllerTable()) {
    workers[entry.name] = WorkersOf(entry, options);
  }
  CHECK(workers["execution"] == 7);
  CHECK(workers["workloadRebalancer"] == 1);
  CHECK(workers["federatedHorizontalPodAutoscaler"] == 5);
  CHECK(workers["cronFederatedHorizontalPodAutoscaler"] == 10);
  CHECK(workers["serviceExport"] == 3);
  CHECK(workers["endpointsliceCollect"] == 3);
  CHECK(workers["Cluster API detector"] == 3);
}

TEST_CASE("Controllers of one name are switched together") {
  std::map<std::string, Switch> switches;
  for (const ControllerEntry& entry : ControllerTable()) {
    CAPTURE(entry.name);
    CHECK(switches.try_emplace(entry.name, entry.switched).first->second == entry.switched);
  }
}

}  // namespace
}  // namespace cmd
