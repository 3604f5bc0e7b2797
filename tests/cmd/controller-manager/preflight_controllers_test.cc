// What karmada-lens preflight says of the controllers is what the daemon runs.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "cmd/controller-manager/controller_table.h"
#include "config/options.h"
#include "lens/preflight/arguments_check.h"

namespace tests {

TEST_CASE("Daemon: a preflight shows those controllers on that these flags run") {
  const std::vector<std::vector<const char*>> command_lines = {
      {},
      {"--controllers=*,hpaScaleTargetMarker,-remedy"},
      {"--controllers=binding,execution"},
      {"--feature-gates=AllAlpha=true,AllBeta=true"},
      {"--feature-gates=Failover=true", "--controllers=*,-clustertaintpolicy"},
      {"--feature-gates=MultiClusterService=true,FederatedQuotaEnforcement=true"},
  };
  std::set<std::string> names;
  for (const cmd::ControllerEntry& entry : cmd::ControllerTable()) {
    if (entry.switched == cmd::Switch::kByFlag) names.insert(entry.name);
  }
  for (std::vector<const char*> words : command_lines) {
    words.insert(words.begin(), "karmada-controller-manager");
    const config::Parsed parsed =
        config::ParseCommandLine(static_cast<int>(words.size()), words.data());
    REQUIRE(parsed.outcome == config::Parsed::Outcome::kRun);
    const cmd::RunningControllers running = cmd::ControllersThatRun(parsed.options);
    const auto rows = lens::preflight::ControllerRows(parsed.options);
    CHECK(rows.size() == names.size());
    for (const auto& row : rows) {
      INFO(words.back() << ": " << row.name);
      CHECK(names.contains(row.name));
      CHECK((row.use == "on") == running.on.contains(row.name));
      CHECK((row.use == "turned off") == running.off.contains(row.name));
    }
  }
}

}  // namespace tests
