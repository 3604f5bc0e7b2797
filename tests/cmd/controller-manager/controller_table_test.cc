#include "cmd/controller-manager/controller_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "config/support.h"

namespace cmd {
namespace {

TEST_CASE("The controllers that can be switched are those that the support table calls here") {
  std::vector<std::string> here;
  for (const config::ControllerSupport& controller : config::Controllers()) {
    if (controller.state == config::State::kHere || controller.state == config::State::kPartly)
      here.emplace_back(controller.name);
  }
  CHECK(ControllerNames() == here);
}

TEST_CASE("Controllers of one name have the same default") {
  std::map<std::string, Default> defaults;
  for (const ControllerEntry& entry : ControllerTable()) {
    CAPTURE(entry.name);
    CHECK(defaults.try_emplace(entry.name, entry.by_default).first->second == entry.by_default);
  }
}

}  // namespace
}  // namespace cmd
